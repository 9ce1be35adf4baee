"""Resuming: what an earlier record has answered, and need not be asked again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from conformance.asking.events import Answered, Event, TargetReady
from conformance.asking.record import Record
from conformance.asking.session import Session, WorkerError
from conformance.corpus.cases import expectation_hash
from conformance.corpus.language.case import Case
from conformance.corpus.language.lowering import lower
from conformance.targets.specification import Target

KEPT = ("answered", "crash", "timeout")
"""The outcomes that stand for work; the others cost nothing to find again."""
IDENTITY = ("version", "python", "numpy", "packages", "platform", "digest")
"""What a worker tells of itself that its answers depend on."""


def resumed(
    record: Record, cases: Sequence[Case], targets: Sequence[Target], say: Callable[[str], None]
) -> list[Event]:
    """The events of a record that still hold: the cells that are not stale, of targets unchanged.

    A cell is stale where the corpus has it no more or with another program. A target's worker is
    started to see that it is still what the record says; if not, which `say` is told, all its
    cells are stale.
    """
    events: list[Event] = []
    for target in targets:
        kept = _kept(record, cases, target)
        told = _about(target) if kept else None
        if told is None:
            continue
        changed = _changed(record.targets.get(target.label, {}), told)
        if changed:
            say(f"{target.label}: {changed}: every cell is asked again")
            continue
        events += [TargetReady(target.label, told), *kept]
    return events


def _kept(record: Record, cases: Sequence[Case], target: Target) -> list[Answered]:
    """The answers of a target, with their repetitions, that the corpus of today would give."""
    by_id = {case.id: case for case in cases}
    found: list[Answered] = []
    for answered in record.answers:
        cell, case = answered.cell, by_id.get(answered.cell.case)
        if case is None or cell.target != target.label or cell.mode not in target.modes:
            continue
        if answered.answer.outcome in KEPT and answered.program == lower(case, cell.mode).hash:
            found += [_declared_today(answered, case)]
            found += [_declared_today(again, case) for again in record.repeats.get(cell, ())]
    return found


def _declared_today(answered: Answered, case: Case) -> Answered:
    return replace(answered, expectation=expectation_hash(case, answered.cell.mode))


def _about(target: Target) -> Mapping[str, Any] | None:
    """What a target's worker says of itself; None where it does not start."""
    session = Session(target)
    try:
        return session.start()
    except WorkerError:
        return None
    finally:
        session.close()


def _changed(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """`numpy 1.26.4 became 2.1.0`, or nothing."""
    different = (key for key in IDENTITY if (before.get(key) or "") != (now.get(key) or ""))
    return ", ".join(f"{key} {before.get(key)} became {now.get(key)}" for key in different)
