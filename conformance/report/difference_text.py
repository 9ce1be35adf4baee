"""A difference that a person reads from top to bottom, the most severe changes first."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import groupby

from conformance.report.difference_blocks import (
    Block,
    Fact,
    Known,
    about_side,
    absences,
    blocks_of,
    counted_changes,
    modes_of,
    reservations,
    rows_of,
)
from conformance.report.style import WIDTH, Style, columns, cut, padded, wrap
from conformance.text import plural, printable
from conformance.verdicts.changes import ChangeClass, Changes, Side, changes_between_versions
from conformance.verdicts.results import Results

COLOURS: Mapping[ChangeClass, str] = {
    "implementation changed": "red",
    "environment changed": "magenta",
    "oracle changed": "magenta",
    "warning changed": "yellow",
    "expectation changed": "yellow",
    "program changed": "yellow",
    "removed": "yellow",
    "added": "green",
    "unstable": "dim",
}


def difference_text(
    found: Changes, gated: Collection[ChangeClass], known: Known, style: Style
) -> Iterator[str]:
    """The lines of a whole report; the last one is the closing word, where there is one."""
    yield from _side("old", found.old)
    yield from _side("new", found.new)
    yield from change_lines(found, known, style)
    yield ""
    for line in (*reservations(found), counted_changes(found)):
        yield from wrap(line, "", "  ")
    if gated:
        yield from wrap(f"gated: {', '.join(gated)}", "", "  ")
    word = found.word(gated)
    if word:
        yield style.paint(word, "bold", "green" if word == "conforms" else "red")


def version_lines(results: Results, style: Style) -> Iterator[str]:
    """The changes from each version of a target to the next, of a run of several."""
    known = Known.of(results)
    for found in changes_between_versions(results):
        yield from _heading(
            f"from {printable(found.old.title)} to {printable(found.new.title)}", style
        )
        yield from wrap(counted_changes(found), "", "  ")
        yield from change_lines(found, known, style)


def change_lines(found: Changes, known: Known, style: Style) -> Iterator[str]:
    """Every change, class by class, and the table that counts them; nothing if there is none."""
    for kind, cells in found.counts.items():
        yield from _heading(f"{kind} ({plural(cells, 'cell')})", style, COLOURS[kind])
        if kind == "removed" or kind == "added":
            for absence in absences(found, kind):
                yield from wrap(str(absence), "", "  ")
        else:
            yield from _blocks(blocks_of(found, kind, known), style)
    if found.changes:
        yield from _heading("changes", style)
        yield from _table(found, style)
        yield ""
        yield f"to see one: {known.show(found.changes[0].cell)}"


def _side(name: str, side: Side) -> Iterator[str]:
    title, *targets = about_side(side)
    yield from wrap(title, f"{name}  ", "     ")
    for target in targets:
        yield from wrap(target, "     ", "       ")


def _heading(text: str, style: Style, colour: str = "") -> Iterator[str]:
    yield ""
    lead = f"{style.rule(2)} {text} "
    yield style.paint(lead + style.rule(WIDTH - columns(lead)), "bold", colour)


def _blocks(blocks: list[Block], style: Style) -> Iterator[str]:
    for cause, group in groupby(blocks, lambda block: block.cause):
        yield from wrap(cause, "", "  ")
        for mismatch, alike in groupby(group, lambda block: block.mismatch):
            inside = list(alike)
            cells = sum(len(block.changes) for block in inside)
            yield style.paint(f"{mismatch} ({plural(cells, 'cell')})", "bold")
            for block in inside:
                yield from _block(block, style)


def _block(block: Block, style: Style) -> Iterator[str]:
    yield from wrap(f"{block.case}  {block.modes}", "  ", "    ")
    if block.title:
        yield from (style.paint(line, "dim") for line in wrap(block.title, "    "))
    for fact in block.facts:
        yield from _fact(fact)


def _fact(fact: Fact) -> Iterator[str]:
    short = f"    {fact.where}: {fact.old} -> {fact.new}"
    if columns(short) <= WIDTH:
        yield short
    else:
        yield from wrap(fact.where, "    ", "      ")
        yield from wrap(fact.old, "      was ", "          ")
        yield from wrap(fact.new, "      now ", "          ")
    if fact.note:
        yield from wrap(fact.note, "      ")


def _table(found: Changes, style: Style) -> Iterator[str]:
    """Class and area down, modes across."""
    rows = rows_of(found)
    heads = [*modes_of(rows), "cells"]
    areas = WIDTH - 24 - sum(map(_column, heads))
    width = min(max(columns(row.area) for row in rows), areas)
    lead = f"{padded('class', 22)}  {padded('area', width)}"
    yield lead + "".join(padded(head, _column(head), right=True) for head in heads)
    before = ""
    for row in rows:
        name = row.kind if row.kind != before else ""
        numbers = [*(row.modes[mode] for mode in heads[:-1]), sum(row.modes.values())]
        cells = zip(heads, map(str, numbers), strict=True)
        yield (
            style.paint(padded(name, 22), COLOURS[row.kind])
            + f"  {padded(cut(row.area, width), width)}"
            + "".join(padded(number, _column(head), right=True) for head, number in cells)
        )
        before = row.kind


def _column(head: str) -> int:
    return max(len(head), 5) + 2
