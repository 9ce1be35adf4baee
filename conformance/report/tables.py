"""The table of counts, target x mode x verdict, in the widest layout that fits the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from conformance.report.style import (
    KEPT,
    OF_VERDICT,
    WIDTH,
    Style,
    columns,
    cut_start,
    padded,
    wrap,
)
from conformance.report.summary import LABELS, Row, occurring
from conformance.text import printable
from conformance.verdicts.judge import Verdict

GAP = "  "
NARROWEST_NAME = 12


def table(rows: Sequence[Row], names: Mapping[str, str], style: Style) -> list[str]:
    """The rows as a table; a table for each target, or sentences, where that is too wide."""
    return _across(rows, names, style) or _down(rows, names, style) or list(_told(rows, names))


def counted(counts: Mapping[Verdict, int], verdicts: Sequence[Verdict]) -> str:
    """`3 fail, 1 not run`: the counts that are not zero; for `wrap`, which keeps them whole."""
    found = [(counts.get(verdict, 0), LABELS[verdict]) for verdict in verdicts]
    return ", ".join(f"{count} {label}".replace(" ", KEPT) for count, label in found if count)


def _across(rows: Sequence[Row], names: Mapping[str, str], style: Style) -> list[str]:
    """One line for each target and mode, one column for each verdict; nothing if too wide."""
    verdicts = occurring(rows)
    heads = ["cells", *(LABELS[verdict] for verdict in verdicts)]
    numbers = [[row.cells, *(row.counts.get(verdict, 0) for verdict in verdicts)] for row in rows]
    lines: list[Sequence[str | int]] = [heads, *numbers]
    widths = _widths(heads, numbers)
    modes = ["mode", *(printable(row.mode, WIDTH) for row in rows)]
    mode_width = max(map(columns, modes))
    wanted = max(map(columns, ["target", *names.values()]))
    name_width = min(wanted, WIDTH - len(GAP) - mode_width - _taken(widths))
    if name_width < min(wanted, NARROWEST_NAME):
        return []
    shown = ["target", *_once([names[row.target] for row in rows])]
    colours = ["", *(OF_VERDICT[verdict] for verdict in verdicts)]
    return [
        padded(cut_start(name, name_width), name_width)
        + GAP
        + padded(mode, mode_width)
        + _line(cells, widths, colours, style)
        for name, mode, cells in zip(shown, modes, lines, strict=True)
    ]


def _down(rows: Sequence[Row], names: Mapping[str, str], style: Style) -> list[str]:
    """A table for each target: one line for each verdict, one column for each mode."""
    verdicts = occurring(rows)
    labels = ["cells", *(LABELS[verdict] for verdict in verdicts)]
    colours = ["", *(OF_VERDICT[verdict] for verdict in verdicts)]
    lines: list[str] = []
    for target in dict.fromkeys(row.target for row in rows):
        own = [row for row in rows if row.target == target]
        heads = [printable(row.mode, WIDTH) for row in own]
        numbers = [[row.cells for row in own]]
        numbers += [[row.counts.get(verdict, 0) for row in own] for verdict in verdicts]
        widths = _widths(heads, numbers)
        label_width = WIDTH - _taken(widths)
        if label_width < max(map(len, labels)):
            return []
        label_width = min(label_width, max(columns(names[target]), *map(len, labels)))
        name = padded(cut_start(names[target], label_width), label_width)
        lines += ["", style.paint(name, "bold") + _line(heads, widths, [""] * len(own), style)]
        for label, cells, colour in zip(labels, numbers, colours, strict=True):
            painted = _line(cells, widths, [colour] * len(own), style)
            lines.append(padded(label, label_width) + painted)
    return lines[1:]


def _told(rows: Sequence[Row], names: Mapping[str, str]) -> Iterator[str]:
    for row in rows:
        counts = counted(row.counts, list(LABELS)) or "none"
        lead = f"{names[row.target]} {printable(row.mode)}: {row.cells} cells"
        yield from wrap(f"{lead}: {counts}", "", "    ")


def _widths(heads: Sequence[str], numbers: Sequence[Sequence[int]]) -> list[int]:
    texts = [[str(number) for number in line] for line in numbers]
    return [max(map(columns, column)) for column in zip(heads, *texts, strict=True)]


def _taken(widths: Sequence[int]) -> int:
    return sum(width + len(GAP) for width in widths)


def _once(names: Sequence[str]) -> list[str]:
    """A name stands on the first of its lines only."""
    before = ["", *names]
    return ["" if name == last else name for last, name in zip(before, names, strict=False)]


def _line(
    cells: Sequence[str | int], widths: Sequence[int], colours: Sequence[str], style: Style
) -> str:
    return "".join(
        GAP + style.paint(padded(str(cell), width, right=True), _colour(cell, colour))
        for cell, width, colour in zip(cells, widths, colours, strict=True)
    )


def _colour(cell: str | int, colour: str) -> str:
    if isinstance(cell, str):
        return ""
    return colour if cell else "dim"
