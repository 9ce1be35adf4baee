"""Two records side by side: which cells answer differently, and in what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from conformance.judging.answer import Answer, Observation
from conformance.judging.compare import compare, expectation_of
from conformance.judging.mismatch import Mismatch
from conformance.judging.tolerances import bounds_for
from conformance.judging.values import MalformedObservation
from conformance.runs.events import Answered, Cell
from conformance.runs.record import Record

MANY_OPERATIONS = 6
"""A record does not say how many operations a program has: the wider bound is taken."""


@dataclass(frozen=True)
class Change:
    """One cell that answers differently; `why` says so where no comparison can."""

    old: Answered
    new: Answered
    mismatches: tuple[Mismatch, ...] = ()
    why: str = ""

    @property
    def kind(self) -> str:
        """The class of the first mismatch, or why there is none."""
        return self.mismatches[0].kind if self.mismatches else self.why


@dataclass
class Difference:
    """What changed from one record to another; cells are paired by case, target's name and mode."""

    old: Record
    new: Record
    changes: list[Change] = field(default_factory=list)
    added: list[Cell] = field(default_factory=list)
    removed: list[Cell] = field(default_factory=list)
    compared: int = 0


def difference(old: Record, new: Record) -> Difference:
    """Every change from `old` to `new`."""
    before, after = _by_key(old), _by_key(new)
    found = Difference(old, new)
    for key, answered in before.items():
        if key not in after:
            found.removed.append(answered.cell)
            continue
        found.compared += 1
        change = _change(answered, after[key])
        if change:
            found.changes.append(change)
    found.added = [answered.cell for key, answered in after.items() if key not in before]
    return found


def _by_key(record: Record) -> dict[tuple[str, str, str], Answered]:
    def name(label: str) -> str:
        return label.split("==")[0]

    return {(a.cell.case, name(a.cell.target), a.cell.mode): a for a in record.answers}


def _change(old: Answered, new: Answered) -> Change | None:
    if old.program != new.program:
        return Change(old, new, why="program changed")
    if old.answer.outcome != new.answer.outcome:
        return Change(old, new, why=f"{old.answer.outcome} became {new.answer.outcome}")
    try:
        mismatches = tuple(_mismatches(old.answer, new.answer, new.cell.mode))
    except MalformedObservation as fault:
        return Change(old, new, why=f"malformed: {fault}")
    return Change(old, new, mismatches) if mismatches else None


def _mismatches(old: Answer, new: Answer, mode: str) -> list[Mismatch]:
    bounds = bounds_for(mode, MANY_OPERATIONS)
    found: list[Mismatch] = []
    for name, observation in _all_of(old).items():
        got = _all_of(new).get(name, {"kind": "not_observed"})
        found += compare(expectation_of(observation), got, bounds, name=name).mismatches
    return found


def _all_of(answer: Answer) -> Mapping[str, Observation]:
    """The observed names, and the error that ended the case under a name of its own."""
    ending = {"(the case's end)": answer.error or {"kind": "none"}}
    return {**answer.observations, **ending}
