"""What every report of a difference says, grouped once: blocks, absences, counts; no layout."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from conformance.answers.answer import ENDING, Answer
from conformance.answers.mismatch import Mismatch
from conformance.answers.text import describe, steady
from conformance.answers.values import Value
from conformance.asking.events import Cell
from conformance.corpus.language.case import MODES
from conformance.report.style import columns
from conformance.report.summary import show_command, surroundings
from conformance.targets.specification import name_of
from conformance.text import plural, printable
from conformance.verdicts.changes import CLASSES, Change, ChangeClass, Changes, Side
from conformance.verdicts.results import ORACLE_LABEL, Results

Place: TypeAlias = Literal["OLD", "NEW"]
Whole: TypeAlias = tuple[Literal["target", "mode", "area", "case"], str, str]
ELEMENTS = ("value", "zero", "non-finite", "dtype", "shape")
"""Mismatches of one tensor: where it is short, the whole of it says more than its worst element."""
OTHER = "other"
LONGEST = 60
"""How many columns a value may take to stand whole."""
LONGEST_STRUCTURE = 200
STRUCTURE_DEPTH = 3
MEANING: Mapping[ChangeClass, str] = {
    "program changed": "the answers are not compared",
    "expectation changed": "the answers are what they were",
}


@dataclass(frozen=True)
class Known:
    """What is known of the cases: their titles by id, and the command that names their corpus."""

    titles: Mapping[str, str]
    command: Sequence[str] = ()

    @classmethod
    def of(cls, results: Results) -> Known:
        """What a run knows of its cases."""
        titles = {judged.cell.case: judged.case.title for judged in results.everything}
        return cls(titles, results.command)

    def show(self, cell: Cell) -> str:
        """The command that shows a cell's case."""
        return show_command(cell, self.command)


@dataclass(frozen=True)
class Fact:
    """One thing that was another one: where, both values, and what else is to be known."""

    where: str
    old: str
    new: str
    note: str = ""


@dataclass(frozen=True)
class Block:
    """A case that changed alike in several modes."""

    changes: tuple[Change, ...]
    facts: tuple[Fact, ...]
    title: str
    show: str

    @property
    def first(self) -> Change:
        """The change that speaks for all of them."""
        return self.changes[0]

    @property
    def case(self) -> str:
        """The id of the case."""
        return printable(self.first.cell.case)

    @property
    def modes(self) -> str:
        """`eager, graph`."""
        return ", ".join(printable(change.cell.mode) for change in self.changes)

    @property
    def cause(self) -> str:
        """Between which versions, and what else differs."""
        return printable(self.first.cause)

    @property
    def mismatch(self) -> str:
        """The class of the mismatch, or what the class of the change means."""
        return self.first.mismatch or MEANING.get(self.first.kind, "")


def blocks_of(found: Changes, kind: ChangeClass, known: Known) -> list[Block]:
    """The blocks of one class: by cause, class of mismatch and case, as the changes are."""
    grouped: dict[tuple[object, ...], list[Change]] = {}
    for change in found.of(kind):
        cell = change.cell
        key = (change.cause, change.mismatch, cell.case, cell.target, _facts(change))
        grouped.setdefault(key, []).append(change)
    blocks = []
    for changes in grouped.values():
        first, title = changes[0], known.titles.get(changes[0].cell.case, "")
        blocks.append(
            Block(tuple(changes), _facts(first), printable(title), known.show(first.cell))
        )
    return blocks


def _facts(change: Change) -> tuple[Fact, ...]:
    if change.old is None or change.new is None:
        return ()
    old, new = change.old.answer, change.new.answer
    if change.why:
        outcome = Fact("the outcome", _outcome(old), _outcome(new), printable(change.why))
        return (outcome, *(Fact(m.where, m.expected, m.got) for m in change.mismatches))
    return tuple(
        _fact(mismatch, old, new)
        for mismatch in change.mismatches
        if mismatch.name != ENDING or not (_is_told(old) and _is_told(new))
    )


def _is_told(answer: Answer) -> bool:
    """Whether a name has the error that ended the case, if one did."""
    return answer.error is None or answer.error in answer.observations.values()


def _fact(mismatch: Mismatch, old: Answer, new: Answer) -> Fact:
    """Whole values where they tell more than the mismatch: short tensors, and errors."""
    if not mismatch.path and mismatch.kind in (*ELEMENTS, "error"):
        seen = (answer.observed(mismatch.name) for answer in (old, new))
        was, now = map(_whole, seen)
        if mismatch.kind == "error" or all(map(_is_short, (was, now))):
            return Fact(printable(mismatch.name), was, now)
    note = mismatch.note
    if mismatch.kind in ELEMENTS:
        note = ""
        if mismatch.difference is not None and mismatch.bound is not None:
            note = f"difference {mismatch.difference:.3g}, bound {mismatch.bound:.3g}"
    was, now = printable(mismatch.expected), printable(mismatch.got)
    return Fact(printable(mismatch.where), was, now, printable(note))


def _is_short(value: str) -> bool:
    """Whether a value may stand whole: one with elements left out may look like another."""
    return columns(value) <= LONGEST and "..." not in value


def _whole(value: Value) -> str:
    """A value with what is in it."""
    return printable(describe(value, STRUCTURE_DEPTH), LONGEST_STRUCTURE)


def _outcome(answer: Answer) -> str:
    said = steady(answer.detail)
    return printable(f"{answer.outcome}: {said}" if said else answer.outcome)


# ----- what one side alone has -----


@dataclass(frozen=True)
class Absence:
    """Cells that one side alone has: a whole target, a mode or an area of it, or else a case."""

    part: Literal["target", "mode", "area", "case"]
    target: str
    name: str
    cells: tuple[Cell, ...]
    place: Place

    def __str__(self) -> str:
        if self.part == "case":
            modes = ",".join(cell.mode for cell in self.cells)
            return printable(f"{self.name} [{name_of(self.target)}:{modes}]")
        what = f"{self.part} {self.name} of {self.target}" if self.name else f"target {self.target}"
        return printable(f"{what}: {plural(len(self.cells), 'cell')} only in {self.place}")


def absences(found: Changes, kind: Literal["removed", "added"]) -> list[Absence]:
    """For each cell that one side lacks the widest group around it that this side lacks whole.

    The groups come first, then the cases.
    """
    place: Place = "OLD" if kind == "removed" else "NEW"
    lacking = found.new if kind == "removed" else found.old
    partners = dict(found.pairs if kind == "removed" else [pair[::-1] for pair in found.pairs])
    present = {whole for answered in lacking.cells for whole in _wholes(answered.cell)}
    grouped: dict[Whole, list[Cell]] = {}
    for cell in (change.cell for change in found.of(kind)):
        there = replace(cell, target=partners.get(cell.target, ""))
        wholes = zip(_wholes(there), _wholes(cell), strict=True)
        widest = next((own for theirs, own in wholes if theirs not in present), None)
        grouped.setdefault(widest or ("case", cell.target, cell.case), []).append(cell)
    groups = [Absence(*whole, tuple(cells), place) for whole, cells in grouped.items()]
    return sorted(groups, key=lambda group: group.part == "case")


def _wholes(cell: Cell) -> list[Whole]:
    """What a cell is a part of, the widest first."""
    area = cell.case.partition("/")[0]
    return [
        ("target", cell.target, ""),
        ("mode", cell.target, cell.mode),
        ("area", cell.target, area),
    ]


# ----- counts, and what each side is -----


@dataclass(frozen=True)
class Row:
    """How many cells of one class and area changed in each mode.

    What one side alone has is not divided by area: it may be a whole mode.
    """

    kind: ChangeClass
    area: str
    modes: Mapping[str, int]


def rows_of(found: Changes) -> list[Row]:
    """The rows of the table, by class and area; what is no mode of ours is counted as `other`."""
    counted: dict[tuple[ChangeClass, str], Counter[str]] = {}
    for change in found.changes:
        both = change.old and change.new
        area = printable(change.cell.case.partition("/")[0]) if both else ""
        mode = change.cell.mode if change.cell.mode in MODES else OTHER
        counted.setdefault((change.kind, area), Counter())[mode] += 1
    return [Row(*key, modes) for key, modes in sorted(counted.items(), key=_row_order)]


def _row_order(item: tuple[tuple[ChangeClass, str], object]) -> tuple[int, str]:
    (kind, area), _ = item
    return CLASSES.index(kind), area


def modes_of(rows: Sequence[Row]) -> list[str]:
    """The columns of the table."""
    return [mode for mode in (*MODES, OTHER) if any(row.modes[mode] for row in rows)]


def counted_changes(found: Changes) -> str:
    """`779 cells compared: 3 implementation changed, 2 added; 1 unstable`."""
    counts = {kind: f"{count} {kind}" for kind, count in found.counts.items()}
    unstable = counts.pop("unstable", "")
    told = "; ".join(filter(None, (", ".join(counts.values()) or "no change", unstable)))
    return f"{plural(found.compared, 'cell')} compared: {told}"


def about_side(side: Side) -> Iterator[str]:
    """What was run: `runs/old.jsonl`, then its targets with their surroundings."""
    yield printable(side.title)
    for label, about in side.targets.items():
        if label != ORACLE_LABEL or len(side.targets) == 1:
            version = str(about.get("version") or "of unknown version")
            beside = f" ({surroundings(about)})" if surroundings(about) else ""
            yield printable(f"{name_of(label)} {version}") + beside


def reservations(found: Changes) -> list[str]:
    """What a reader must know before the word."""
    sides = {"OLD": found.old, "NEW": found.new}
    told = [
        f"{place} is not complete: {printable(side.reason) or 'the run did not end'}"
        for place, side in sides.items()
        if not side.complete
    ]
    if not found.compared:
        told.append("OLD and NEW have no cell of a target in common")
    return told
