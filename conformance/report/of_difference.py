"""Makes the Report of a difference: what changed from one side to the other, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from conformance.answers.answer import ENDING, Answer
from conformance.answers.mismatch import Mismatch
from conformance.answers.text import describe, steady
from conformance.asking.events import Cell
from conformance.corpus.language.case import MODES
from conformance.report import building
from conformance.report.building import grouped, table_of
from conformance.report.model import Block, Fact, Item, Report, Role, Rows, Section, Subject, Table
from conformance.targets.specification import name_of
from conformance.text import clean, plural
from conformance.verdicts.changes import CLASSES, Change, ChangeClass, Changes, Side
from conformance.verdicts.findings import ORACLE_LABEL

Part: TypeAlias = Literal["target", "mode", "area", "case"]
ONE_SIDED: tuple[ChangeClass, ...] = ("removed", "added")
ELEMENTS = ("value", "zero", "non-finite", "dtype", "shape")
"""Mismatches of one tensor: where it is short, the whole of it says more than its worst element."""
OTHER = "other"
LONGEST = 60
"""How many characters a value may take to stand whole."""
LONGEST_STRUCTURE = 200
STRUCTURE_DEPTH = 3
HASH = 12
"""How many characters of a hash are shown."""
MEANING: Mapping[ChangeClass, str] = {
    "program changed": "the answers are not compared",
    "expectation changed": "the answers are what they were",
}


@dataclass(frozen=True)
class Known:
    """What is known of the cases: their titles by id, and the command that names their corpus."""

    titles: Mapping[str, str]
    command: Sequence[str] = ()


def report_of_difference(found: Changes, gated: Collection[ChangeClass], known: Known) -> Report:
    """The Report of two sides; the classes that are `gated` decide its word."""
    counts = Section("changes", "counts", tables=tuple(_tables(found)))
    sections = [*_classes(found, known), counts]
    return Report(
        "difference",
        "gradconf diff",
        found.word(gated),
        subjects=(*_side("old", found.old), *_side("new", found.new)),
        headline=(_counted(found),),
        reservations=tuple(_reservations(found)),
        sections=tuple(filter(Section.says_something, sections)),
        changes=tuple(changed_cells(found, known)),
        command=building.command_line(known.command),
        all_of_it=building.quoted("gradconf", "diff", found.old.title, found.new.title),
        counts={kind: count for kind, count in found.counts.items()},
        compared=found.compared,
        gated=tuple(gated),
    )


def version_section(found: Changes, known: Known) -> Section:
    """What changed from one version to the next, of a run of several."""
    blocks = tuple(replace(b, cause=f"{b.kind}: {b.cause}") for b in change_blocks(found, known))
    heading = f"from {found.old.title} to {found.new.title}"
    return Section(heading, "changes", blocks, tuple(_tables(found)), (_counted(found),))


def changed_cells(found: Changes, known: Known) -> Iterator[Block]:
    """Every cell that changed, by itself."""
    return (_block([change], known) for change in found.changes)


def _side(role: Role, side: Side) -> Iterator[Subject]:
    """What was run: the record, then its targets with their surroundings."""
    yield Subject(role, side.title, side.title, failed=side.reason)
    for label, about in side.targets.items():
        if label != ORACLE_LABEL or len(side.targets) == 1:
            name = f"{name_of(label)} {about.get('version') or 'of unknown version'}"
            yield Subject(role, label, name, building.surroundings(about), about=about)


def _reservations(found: Changes) -> Iterator[str]:
    """What a reader must know before the word."""
    for place, side in (("OLD", found.old), ("NEW", found.new)):
        if not side.complete:
            yield f"{place} is not complete: {side.reason or 'the run did not end'}"
    if not found.compared:
        yield "OLD and NEW have no cell of a target in common"


def _counted(found: Changes) -> str:
    """`779 cells compared: 3 implementation changed, 2 added; 1 unstable`."""
    counts = {kind: f"{count} {kind}" for kind, count in found.counts.items()}
    unstable = counts.pop("unstable", "")
    told = "; ".join(filter(None, (", ".join(counts.values()) or "no change", unstable)))
    return f"{plural(found.compared, 'cell')} compared: {told}"


# ----- the changes, class by class -----


def _classes(found: Changes, known: Known) -> Iterator[Section]:
    for kind, cells in found.counts.items():
        if kind in ONE_SIDED:
            heading = f"{kind} ({plural(cells, 'cell')})"
            yield Section(heading, "changes", lines=tuple(_absences(found, kind)))
        else:
            of_kind = replace(found, changes=tuple(found.of(kind)))
            yield Section(kind, "changes", tuple(change_blocks(of_kind, known)))


def change_blocks(found: Changes, known: Known) -> Iterator[Block]:
    """The changes in order, a case that changed alike in several modes as one block."""

    def alike(change: Change) -> object:
        told = change.kind, change.cause, change.mismatch, change.turn
        return facts_of(change), told, change.cell.case, change.cell.target

    changes = (change for change in found.changes if change.kind not in ONE_SIDED)
    return (_block(group, known) for group in grouped(changes, alike).values())


def _block(changes: Sequence[Change], known: Known) -> Block:
    first, cell, by = changes[0], changes[0].cell, changes[0].explained_by
    return Block(
        first.mismatch or first.kind,
        first.kind,
        cell.case,
        name_of(cell.target),
        tuple(change.cell.mode for change in changes),
        title=known.titles.get(cell.case, ""),
        cause=first.cause,
        mismatches=first.mismatches,
        note=MEANING.get(first.kind, ""),
        facts=facts_of(first),
        since=f"{first.turn}, {_a(by.kind)}" if by else "",
        reason=by.reason if by else "",
        link=by.link if by else "",
        show=building.show_command(cell, known.command),
    )


def _a(kind: str) -> str:
    """`a bug`, `unsupported`."""
    return kind if kind == "unsupported" else f"a {kind}"


def facts_of(change: Change) -> tuple[Fact, ...]:
    """What differs of a cell, with both values."""
    if change.old is None or change.new is None:
        return ()
    if change.kind in MEANING:
        part = change.kind.partition(" ")[0]
        return (Fact(f"the {part}", *(getattr(s, part)[:HASH] for s in (change.old, change.new))),)
    old, new = change.old.answer, change.new.answer
    if change.why:
        outcome = Fact("the outcome", _outcome(old), _outcome(new))
        return (outcome, *(Fact(m.where, m.expected, m.got) for m in change.mismatches))
    told_twice = all(a.error is None or a.error in a.observations.values() for a in (old, new))
    mismatches = (m for m in change.mismatches if m.name != ENDING or not told_twice)
    return tuple(_fact(mismatch, old, new) for mismatch in mismatches)


def _fact(mismatch: Mismatch, old: Answer, new: Answer) -> Fact:
    """Whole values where they tell more than the mismatch: short tensors, and errors."""
    if not mismatch.path and mismatch.kind in (*ELEMENTS, "error"):
        values = (answer.observed(mismatch.name) for answer in (old, new))
        was, now = (clean(describe(value, STRUCTURE_DEPTH), LONGEST_STRUCTURE) for value in values)
        short = all(len(text) <= LONGEST and "..." not in text for text in (was, now))
        if mismatch.kind == "error" or short:
            return Fact(mismatch.name, was, now)
    note = mismatch.note
    if mismatch.kind in ELEMENTS:
        note = ""
        if mismatch.difference is not None and mismatch.bound is not None:
            note = f"difference {mismatch.difference:.3g}, bound {mismatch.bound:.3g}"
    return Fact(mismatch.where, mismatch.expected, mismatch.got, note)


def _outcome(answer: Answer) -> str:
    return f"{answer.outcome}: {steady(answer.detail)}" if answer.detail else answer.outcome


# ----- what one side alone has -----


def _absences(found: Changes, kind: ChangeClass) -> Iterator[str]:
    """For each cell that one side lacks the widest group around it that this side lacks whole.

    The groups come first, then the cases.
    """
    removed = kind == "removed"
    lacking = found.new if removed else found.old
    partners = dict(found.pairs if removed else [pair[::-1] for pair in found.pairs])
    present = {whole for answered in lacking.cells for whole in _wholes(answered.cell)}
    grouped: dict[tuple[Part, str, str], list[Cell]] = {}
    for cell in (change.cell for change in found.of(kind)):
        there = replace(cell, target=partners.get(cell.target, ""))
        wholes = zip(_wholes(there), _wholes(cell), strict=True)
        widest = next((own for theirs, own in wholes if theirs not in present), None)
        grouped.setdefault(widest or ("case", cell.target, cell.case), []).append(cell)
    for (part, target, name), cells in sorted(grouped.items(), key=lambda g: g[0][0] == "case"):
        if part == "case":
            yield f"{name} [{name_of(target)}:{','.join(cell.mode for cell in cells)}]"
        else:
            what = f"{part} {name} of {target}" if name else f"target {target}"
            yield f"{what}: {plural(len(cells), 'cell')} only in {'OLD' if removed else 'NEW'}"


def _wholes(cell: Cell) -> list[tuple[Part, str, str]]:
    """What a cell is a part of, the widest first."""
    parts: dict[Part, str] = {"target": "", "mode": cell.mode, "area": cell.case.partition("/")[0]}
    return [(part, cell.target, name) for part, name in parts.items()]


# ----- counts -----


def _tables(found: Changes) -> Iterator[Table]:
    """How many cells of each class and area changed in each mode; none where nothing did.

    What one side alone has is not divided by area: it may be a whole mode. What is no mode of ours
    is counted as `other`.
    """
    counted: dict[tuple[int, str], Counter[str]] = {}
    for change in found.changes:
        area = change.cell.case.partition("/")[0] if change.old and change.new else ""
        mode = change.cell.mode if change.cell.mode in MODES else OTHER
        counted.setdefault((CLASSES.index(change.kind), area), Counter())[mode] += 1
    modes = [mode for mode in (*MODES, OTHER) if any(row[mode] for row in counted.values())]
    rows: Rows = [
        (Item(CLASSES[kind], CLASSES[kind]), area, *(row[mode] for mode in modes), row.total())
        for (kind, area), row in sorted(counted.items())
    ]
    if rows:
        yield table_of(("class", "area"), [*modes, "cells"], rows)
