"""Two records side by side: which cells answer differently, and in what."""

from __future__ import annotations

from dataclasses import dataclass, field

from conformance.judging.mismatch import Mismatch
from conformance.runs.events import Answered, Cell
from conformance.runs.raw import differences
from conformance.runs.record import Record


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
    differing = differences(old.answer, new.answer, new.cell.mode)
    return Change(old, new, differing.mismatches, differing.why) if differing else None
