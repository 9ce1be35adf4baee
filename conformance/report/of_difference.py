"""Makes the Report of a difference: what changed from one side to the other, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from conformance.answers.answer import ENDING, Answer
from conformance.answers.mismatch import Mismatch
from conformance.answers.text import describe, steady
from conformance.answers.values import Value
from conformance.asking.events import Answered, Cell
from conformance.closing import EXIT_CODES
from conformance.corpus.language.case import MODES
from conformance.report.model import (
    Block,
    CellSide,
    ChangedCell,
    Column,
    Fact,
    Item,
    Report,
    Role,
    Section,
    Subject,
    Table,
    TableCell,
    sections,
)
from conformance.report.wording import quoted, show_command, surroundings
from conformance.targets.specification import name_of
from conformance.text import plural
from conformance.verdicts.changes import CLASSES, Change, ChangeClass, Changes, Side
from conformance.verdicts.findings import ORACLE_LABEL

Whole: TypeAlias = tuple[Literal["target", "mode", "area", "case"], str, str]
ONE_SIDED: tuple[ChangeClass, ...] = ("removed", "added")
ELEMENTS = ("value", "zero", "non-finite", "dtype", "shape")
"""Mismatches of one tensor: where it is short, the whole of it says more than its worst element."""
OTHER = "other"
LONGEST = 60
"""How many characters a value may take to stand whole."""
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

    def show(self, cell: Cell) -> str:
        """The command that shows a cell's case."""
        return show_command(cell, self.command)


def report_of_difference(found: Changes, gated: Collection[ChangeClass], known: Known) -> Report:
    """The Report of two sides; the classes that are `gated` decide its word."""
    word = found.word(gated)
    return Report(
        "difference",
        "gradconf diff",
        word,
        EXIT_CODES[word] if word else 0,
        subjects=(*_side("old", found.old), *_side("new", found.new)),
        headline=(counted_changes(found),),
        reservations=tuple(_reservations(found)),
        sections=tuple(sections(_classes(found, known), _counts(found))),
        changes=changed_cells(found, known),
        command=quoted("gradconf", *known.command) if known.command else "",
        all_of_it=quoted("gradconf", "diff", found.old.title, found.new.title),
        counts={kind: count for kind, count in found.counts.items()},
        compared=found.compared,
        gated=tuple(gated),
    )


def _side(role: Role, side: Side) -> Iterator[Subject]:
    """What was run: the record, then its targets with their surroundings."""
    yield Subject(role, side.title, side.title, failed=side.reason)
    for label, about in side.targets.items():
        if label != ORACLE_LABEL or len(side.targets) == 1:
            name = f"{name_of(label)} {about.get('version') or 'of unknown version'}"
            yield Subject(role, label, name, surroundings(about), about=about)


def _reservations(found: Changes) -> Iterator[str]:
    """What a reader must know before the word."""
    for place, side in (("OLD", found.old), ("NEW", found.new)):
        if not side.complete:
            yield f"{place} is not complete: {side.reason or 'the run did not end'}"
    if not found.compared:
        yield "OLD and NEW have no cell of a target in common"


def counted_changes(found: Changes) -> str:
    """`779 cells compared: 3 implementation changed, 2 added; 1 unstable`."""
    counts = {kind: f"{count} {kind}" for kind, count in found.counts.items()}
    unstable = counts.pop("unstable", "")
    told = "; ".join(filter(None, (", ".join(counts.values()) or "no change", unstable)))
    return f"{plural(found.compared, 'cell')} compared: {told}"


def version_section(found: Changes, known: Known) -> Section:
    """What changed from one version to the next, of a run of several."""
    blocks = tuple(replace(b, cause=f"{b.tone}: {b.cause}") for b in change_blocks(found, known))
    heading = f"from {found.old.title} to {found.new.title}"
    return Section(heading, "changes", blocks, tuple(_tables(found)), (counted_changes(found),))


def changed_cells(found: Changes, known: Known) -> tuple[ChangedCell, ...]:
    """Every cell that changed, by itself."""
    return tuple(_changed(change, found, known) for change in found.changes)


def _changed(change: Change, found: Changes, known: Known) -> ChangedCell:
    cell, by = change.cell, change.explained_by
    return ChangedCell(
        kind=change.kind,
        case=cell.case,
        mode=cell.mode,
        title=known.titles.get(cell.case, ""),
        cause=change.cause,
        mismatch=change.mismatch,
        why=change.why,
        mismatches=change.mismatches,
        since=turn_of(change),
        reason=by.reason if by else "",
        link=by.link if by else "",
        old=_told(change.old, found.old),
        new=_told(change.new, found.new),
        show=known.show(cell),
    )


def _told(answered: Answered | None, side: Side) -> CellSide | None:
    if answered is None:
        return None
    answer, version = answered.answer, side.version(answered.cell)
    told = (answer.outcome, answer.detail, answered.program, answered.expectation)
    return CellSide(answered.cell.target, version, *told)


# ----- the changes, class by class -----


def _classes(found: Changes, known: Known) -> Iterator[Section]:
    for kind, cells in found.counts.items():
        if kind in ONE_SIDED:
            heading = f"{kind} ({plural(cells, 'cell')})"
            yield Section(heading, "changes", lines=tuple(map(str, _absences(found, kind))))
        else:
            yield Section(kind, "changes", tuple(change_blocks(found, known, kind)))


def change_blocks(found: Changes, known: Known, kind: ChangeClass | None = None) -> Iterator[Block]:
    """The changes of one class or of all, a case that changed alike in several modes as one block.

    They stand by class, cause, class of mismatch and case, as the changes do.
    """
    grouped: dict[tuple[object, ...], list[Change]] = {}
    for change in found.changes:
        if change.kind not in ONE_SIDED and kind in (None, change.kind):
            cell = change.cell
            told = (change.kind, change.cause, change.mismatch, change.turn, _facts(change))
            grouped.setdefault((*told, cell.case, cell.target), []).append(change)
    for changes in grouped.values():
        yield _block(changes, known)


def _block(changes: Sequence[Change], known: Known) -> Block:
    first, by = changes[0], changes[0].explained_by
    return Block(
        label=first.mismatch or first.kind,
        tone=first.kind,
        case=first.cell.case,
        where=", ".join(change.cell.mode for change in changes),
        cells=len(changes),
        title=known.titles.get(first.cell.case, ""),
        cause=first.cause,
        note=MEANING.get(first.kind, ""),
        facts=_facts(first),
        since=turn_of(first),
        reason=by.reason if by else "",
        link=by.link if by else "",
        show=known.show(first.cell),
    )


def _facts(change: Change) -> tuple[Fact, ...]:
    if change.old is None or change.new is None or change.kind in MEANING:
        return ()
    old, new = change.old.answer, change.new.answer
    if change.why:
        outcome = Fact("the outcome", _outcome(old), _outcome(new))
        return (outcome, *(Fact(m.where, m.expected, m.got) for m in change.mismatches))
    return tuple(
        _fact(mismatch, old, new)
        for mismatch in change.mismatches
        if mismatch.name != ENDING or not (_is_told(old) and _is_told(new))
    )


def turn_of(change: Change) -> str:
    """`until 2.21, a bug`: when the departure that explains a change began or ended."""
    if change.explained_by is None:
        return ""
    kind = change.explained_by.kind
    return f"{change.turn}, {kind if kind == 'unsupported' else f'a {kind}'}"


def _is_told(answer: Answer) -> bool:
    """Whether a name has the error that ended the case, if one did."""
    return answer.error is None or answer.error in answer.observations.values()


def _fact(mismatch: Mismatch, old: Answer, new: Answer) -> Fact:
    """Whole values where they tell more than the mismatch: short tensors, and errors."""
    if not mismatch.path and mismatch.kind in (*ELEMENTS, "error"):
        was, now = (_whole(answer.observed(mismatch.name)) for answer in (old, new))
        if mismatch.kind == "error" or all(map(_is_short, (was, now))):
            return Fact(mismatch.name, was, now)
    note = mismatch.note
    if mismatch.kind in ELEMENTS:
        note = ""
        if mismatch.difference is not None and mismatch.bound is not None:
            note = f"difference {mismatch.difference:.3g}, bound {mismatch.bound:.3g}"
    return Fact(mismatch.where, mismatch.expected, mismatch.got, note)


def _is_short(value: str) -> bool:
    """Whether a value may stand whole: one with elements left out may look like another."""
    return len(value) <= LONGEST and "..." not in value


def _whole(value: Value) -> str:
    """A value with what is in it."""
    text = describe(value, STRUCTURE_DEPTH)
    return text if len(text) <= LONGEST_STRUCTURE else f"{text[: LONGEST_STRUCTURE - 3]}..."


def _outcome(answer: Answer) -> str:
    return f"{answer.outcome}: {steady(answer.detail)}" if answer.detail else answer.outcome


# ----- what one side alone has -----


@dataclass(frozen=True)
class Absence:
    """Cells that one side alone has: a whole target, a mode or an area of it, or else a case."""

    part: Literal["target", "mode", "area", "case"]
    target: str
    name: str
    cells: tuple[Cell, ...]
    place: Literal["OLD", "NEW"]

    def __str__(self) -> str:
        if self.part == "case":
            modes = ",".join(cell.mode for cell in self.cells)
            return f"{self.name} [{name_of(self.target)}:{modes}]"
        what = f"{self.part} {self.name} of {self.target}" if self.name else f"target {self.target}"
        return f"{what}: {plural(len(self.cells), 'cell')} only in {self.place}"


def _absences(found: Changes, kind: ChangeClass) -> list[Absence]:
    """For each cell that one side lacks the widest group around it that this side lacks whole.

    The groups come first, then the cases.
    """
    removed = kind == "removed"
    lacking = found.new if removed else found.old
    partners = dict(found.pairs if removed else [pair[::-1] for pair in found.pairs])
    present = {whole for answered in lacking.cells for whole in _wholes(answered.cell)}
    grouped: dict[Whole, list[Cell]] = {}
    for cell in (change.cell for change in found.of(kind)):
        there = replace(cell, target=partners.get(cell.target, ""))
        wholes = zip(_wholes(there), _wholes(cell), strict=True)
        widest = next((own for theirs, own in wholes if theirs not in present), None)
        grouped.setdefault(widest or ("case", cell.target, cell.case), []).append(cell)
    groups = (Absence(*w, tuple(c), "OLD" if removed else "NEW") for w, c in grouped.items())
    return sorted(groups, key=lambda group: group.part == "case")


def _wholes(cell: Cell) -> list[Whole]:
    """What a cell is a part of, the widest first."""
    area = cell.case.partition("/")[0]
    return [
        ("target", cell.target, ""),
        ("mode", cell.target, cell.mode),
        ("area", cell.target, area),
    ]


# ----- counts -----


def _counts(found: Changes) -> Section:
    return Section("changes", "counts", tables=tuple(_tables(found)))


def _tables(found: Changes) -> Iterable[Table]:
    """How many cells of each class and area changed in each mode; none where nothing did.

    What one side alone has is not divided by area: it may be a whole mode. What is no mode of ours
    is counted as `other`.
    """
    counted: dict[tuple[int, str], Counter[str]] = {}
    for change in found.changes:
        area = change.cell.case.partition("/")[0] if change.old and change.new else ""
        mode = change.cell.mode if change.cell.mode in MODES else OTHER
        counted.setdefault((CLASSES.index(change.kind), area), Counter())[mode] += 1
    if not counted:
        return ()
    modes = [mode for mode in (*MODES, OTHER) if any(row[mode] for row in counted.values())]
    texts = (Column("class", number=False), Column("area", number=False))
    rows: list[tuple[TableCell, ...]] = []
    for (kind, area), row in sorted(counted.items()):
        named = Item(CLASSES[kind], CLASSES[kind]), area
        rows.append((*named, *(row[mode] for mode in modes), row.total()))
    return (Table((*texts, *map(Column, modes), Column("cells")), tuple(rows)),)
