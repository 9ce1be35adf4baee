"""Resuming: what an earlier record has answered, and need not be asked again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from conformance.asking.ask import ORACLE
from conformance.asking.events import Answered, Cell, Event, TargetFailed, TargetReady
from conformance.asking.record import Record, RecordError
from conformance.asking.record_writer import Kept
from conformance.asking.session import Session, WorkerError
from conformance.asking.worker import change_of_identity, program_hash
from conformance.corpus.cases import expectation_hash
from conformance.corpus.language.case import DERIVATIVE, Case
from conformance.corpus.language.derivative import forwards_of
from conformance.drivers import LIMITS, Limits
from conformance.targets.specification import Target, asked_of
from conformance.text import plural

WORK = ("answered", "crash", "timeout")
"""The outcomes that stand for work; the others cost nothing to find again."""


def about_of(target: Target, limits: Limits = LIMITS) -> Mapping[str, Any]:
    """What a target's process says of itself. Errors: WorkerError where none can be started."""
    session = Session(target, limits)
    try:
        return session.start()
    finally:
        session.close()


def resumed(
    record: Record,
    cases: Sequence[Case],
    targets: Sequence[Target],
    say: Callable[[str], None],
    shard: str = "",
    start: Callable[[Target], Mapping[str, Any]] = about_of,
) -> Kept:
    """What a run of these cases and targets keeps of a record; `say` is told what, and why.

    Only what the run asks for again is not kept: cells with another program today, and those of
    a target that has changed, which `start` says. Errors: RecordError where that
    would lose answers that the run does not ask for.
    """
    if record.header.get("shard", "") != shard:
        raise RecordError(f"{record.path} is another part of a run: name another --output")
    if not record.complete:
        say(f"{record.path}: {record.reason}")
    cells = {
        Cell(case.id, target.label, mode): case
        for target in targets
        for case in cases
        for mode in (*target.modes, *([DERIVATIVE] if forwards_of(case) else []))
    }
    kept = Kept(beside=[*_beside(record, cells, targets)], asked=record.asked)
    for target in targets:
        own = [answered for answered in record.answers if answered.cell.target == target.label]
        again = [answered for answered in own if answered.cell in cells]
        if not own:
            continue
        others = len(own) - len(again)
        about, changed = _about(target, start, record.targets.get(target.label, {}))
        if changed and others:
            raise RecordError(
                f"{record.path}: {target.label} has changed ({changed}), and this run does not ask"
                f" for {plural(others, 'answer')} of it: name another --output"
            )
        same = [] if changed else [a for a in again if _is_of_today(a, cells[a.cell])]
        kept.events += [TargetReady(target.label, about), *_today(record, same, cells)]
        if not changed:
            kept.replaced.update({a.cell: a for a in again if a not in same})
        why = f"it has changed ({changed})" if changed else "other programs today, or no answer"
        told = {
            " kept": len(same),
            f" asked again: {why}": len(again) - len(same),
            " beside this run kept": others,
        }
        parts = [f"{plural(count, 'answer')}{what}" for what, count in told.items() if count]
        say(f"{target.label}: {'; '.join(parts)}")
    return kept


def _is_of_today(answered: Answered, case: Case) -> bool:
    """Whether the corpus of today would give an answer that stands for work."""
    is_oracle = answered.cell.target == ORACLE.label
    outcomes = ("answered",) if is_oracle else WORK  # a lost oracle makes no verdict
    return answered.answer.outcome in outcomes and answered.program == program_hash(
        case, answered.cell.mode
    )


def _today(
    record: Record, answers: Iterable[Answered], cases: Mapping[Cell, Case]
) -> Iterator[Answered]:
    """The answers, each with its repetitions, and with what is declared of it today."""
    for first in answers:
        declared = expectation_hash(asked_of(first.cell.target, cases[first.cell]), first.cell.mode)
        for answered in (first, *record.repeats.get(first.cell, ())):
            yield replace(answered, expectation=declared)


def _beside(
    record: Record, cells: Mapping[Cell, Case], targets: Sequence[Target]
) -> Iterator[Event]:
    """What the run would not ask for."""
    asked = {target.label for target in targets}
    yield from (TargetReady(label, about) for label, about in record.targets.items())
    yield from (TargetFailed(*failed) for failed in record.failed.items() if failed[0] not in asked)
    for first in record.answers:
        if first.cell not in cells:
            yield first
            yield from record.repeats.get(first.cell, ())


def _about(
    target: Target, start: Callable[[Target], Mapping[str, Any]], before: Mapping[str, Any]
) -> tuple[Mapping[str, Any], str]:
    """What a target's worker says of itself, and what has changed; as before if none starts."""
    try:
        now = start(target)
    except WorkerError:
        return before, ""
    return now, change_of_identity(before, now)
