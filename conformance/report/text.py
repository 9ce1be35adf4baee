"""A Report for a terminal or as plain text: eighty columns; the last line is the closing word."""

from __future__ import annotations

import io
import os
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TextIO

from rich.cells import cell_len, set_cell_size
from rich.color import ColorSystem
from rich.console import Console
from rich.style import Style
from rich.table import Table as Grid
from rich.text import Text

from conformance.report import model
from conformance.report.model import Block, Item, Report, Section, Table
from conformance.text import printable

WIDTH = 80
KEPT = "\N{NO-BREAK SPACE}"
"""A space where `wrap` breaks no line."""
BLOCKS = 20
"""How many blocks of one section a summary shows, and how many lines."""
MISMATCHES = 5
"""How many mismatches of one block a summary shows."""
SHORT: tuple[model.SectionKind, ...] = ("known", "better")
"""The sections whose blocks are told in few lines: nothing is to be done."""
COMMAND = re.compile(r"^(\s*):(?=:)")
TONES: Mapping[str, Sequence[str]] = {
    "green": ("pass", "added", "conforms"),
    "red": ("fail", "crash", "timeout", "unexpected_pass", "implementation changed"),
    "magenta": ("bad_case", "error", "environment changed", "oracle changed"),
    "yellow": (
        *("known_deviation", "unsupported", "not_run", "removed"),
        *("warning changed", "expectation changed", "program changed"),
    ),
    "dim": ("surveyed", "not_applicable", "unstable"),
}
COLOURS = {tone: colour for colour, tones in TONES.items() for tone in tones}


@dataclass(frozen=True)
class Look:
    """What a stream can show; the default is plain ASCII marks without colour."""

    colour: bool = False
    unicode: bool = False

    def paint(self, text: str, style: str) -> str:
        """The text in a colour, where there are colours."""
        if not (self.colour and text):
            return text
        return Style.parse(style).render(text, color_system=ColorSystem.STANDARD)


def console_on(stream: TextIO) -> tuple[Console, Look]:
    """A stream as rich sees it, and what it can show; NO_COLOR wins, then FORCE_COLOR."""
    forced = os.environ.get("FORCE_COLOR", "")
    plain = bool(os.environ.get("NO_COLOR")) or forced == "0"
    coloured = bool(forced) and not plain
    console = Console(
        file=stream,
        color_system="standard" if coloured else "auto",
        force_terminal=coloured or stream.isatty(),
        no_color=plain,
        highlight=False,
    )
    unicode = _encoding(stream).lower().replace("-", "").replace("_", "") in ("utf8", "utf8sig")
    return console, Look(console.color_system is not None and not plain, unicode)


def encodable(text: str, stream: TextIO) -> str:
    """The text with escapes for the characters that the stream cannot encode."""
    return text.encode(_encoding(stream), "backslashreplace").decode(_encoding(stream))


def _encoding(stream: TextIO) -> str:
    return getattr(stream, "encoding", None) or "utf-8"


def print_report(report: Report, stream: TextIO, limit: int | None = BLOCKS) -> None:
    """Print a summary; at most `limit` blocks of each section, None for all that there is."""
    _, look = console_on(stream)
    for line in report_lines(report, look, limit):
        stream.write(encodable(line, stream) + "\n")
    stream.flush()


def write(report: Report) -> str:
    """The whole report as plain text; it ends with a newline."""
    return "\n".join(report_lines(report, Look())) + "\n"


def report_lines(report: Report, look: Look, limit: int | None = None) -> Iterator[str]:
    """The lines of a report; the last one is the closing word alone, where there is one."""
    return map(no_command, _report(report, look, limit))


def no_command(line: str) -> str:
    """A line in which a CI service finds no command: `::error::`, `##[group]`."""
    if "::" not in line and "##[" not in line:
        return line
    return COMMAND.sub(r"\1: ", line).replace("##[", "## [")


def _report(report: Report, look: Look, limit: int | None) -> Iterator[str]:
    took = f", {report.seconds:.1f} s" if report.seconds else ""
    yield look.paint(f"gradconf {report.gradconf}, corpus {report.corpus}{took}", "bold")
    for subject in report.subjects:
        yield from _said(_subject(subject), "  ", "    ")
    for section in report.sections:
        if section.brief:
            yield from _section(section, report, look, limit)
    yield ""
    scored = {subject.name: subject.score for subject in report.subjects if subject.score}
    for name, score in scored.items():
        lead = f"{name}: " if len(scored) > 1 else ""
        yield from _said(f"conformance: {lead}{score.conformance}", "", "  ")
        yield from _kept(score.beside, "  ", "    ")
        yield from _said(score.evidence, "  ", "    ")
    gated = [f"gated: {', '.join(report.gated)}"] if report.gated else []
    record = [f"record: {report.record}"] if report.record else []
    for line in (*report.headline, *report.reservations, *gated, *record):
        yield from _said(line, "", "  ")
    if report.word:
        yield look.paint(report.word, f"bold {COLOURS.get(report.word, 'red')}")


def _subject(subject: model.Subject) -> str:
    """`tensorflow 2.21.0: eager, graph (Python 3.11.7)`."""
    role = "" if subject.role == "target" else f"{subject.role}: "
    modes = f": {', '.join(subject.modes)}" if subject.modes else ""
    told = f" ({subject.surroundings})" if subject.surroundings else ""
    return f"{role}{subject.name}{modes}{told}"


# ----- sections and blocks -----


def _section(section: Section, report: Report, look: Look, limit: int | None) -> Iterator[str]:
    yield ""
    mark = "─" if look.unicode else "-"
    lead = f"{mark * 2} {cut(printable(section.title), WIDTH - 6)} "
    tone = COLOURS.get(section.heading, "") if section.kind == "changes" else ""
    yield look.paint(lead + mark * (WIDTH - cell_len(lead)), f"bold {tone}")
    for line in section.lines[:limit]:
        yield from _said(line, "", "  ")
    if limit is not None and len(section.lines) > limit:
        yield f"... and {len(section.lines) - limit} more"
    if section.paste:
        yield "what is missing, to be declared as lacking:"
        yield from _said(section.paste, "  ", "    ")
    few, cause = section.kind in SHORT, ""
    for position, block in enumerate(section.blocks[:limit]):
        if block.cause != cause:
            yield from _said(block.cause, "", "  ")
        elif position and not few:
            yield ""
        cause = block.cause
        yield from _block(block, look, None if limit is None else MISMATCHES, few=few)
    left = 0 if limit is None else model.cells_in(section.blocks[limit:])
    if left:
        yield from ["", f"... and {left} more: {report.all_of_it} shows all"]
    for table in section.tables:
        yield from table_lines(table, look)


def block_text(block: Block) -> str:
    """A block as plain text, with all that there is."""
    return "\n".join(map(no_command, _block(block, Look(), None, few=False)))


def _block(block: Block, look: Look, limit: int | None, *, few: bool) -> Iterator[str]:
    """A block; in `few` lines its case and where it is, its first finding and what explains it."""
    label = look.paint(block.label, f"bold {COLOURS.get(block.kind, '')}")
    indent = " " * (len(block.label) + 2)
    first, *rest = [*_said(block.case, indent, indent)] or [""]  # a record may name no case
    yield f"{label}  {look.paint(first.strip(), 'bold')}"
    yield from rest
    yield from _said(block.where, "  ")
    if not few:
        yield from _said(block.title, "  ")
        yield from _said(f"({block.place})" if block.place else "", "  ", "   ")
    for finding in block.told(limit)[: 1 if few else None]:
        indent = "      " if finding.startswith(" ") else "    "
        yield from _said(finding, indent, indent + "  ")
    for fact in block.facts:
        yield from _fact(fact)
    yield from _said(block.explanation, "    ", "      ")
    for name, command in {"show:  ": block.show, "replay:": block.replay}.items():
        if command and not few:
            yield f"  {look.paint(name, 'dim')} {printable(command)}"


def _fact(fact: model.Fact) -> Iterator[str]:
    where, old, new = map(printable, (fact.where, fact.old, fact.new))
    line = f"    {where}: {old} -> {new}"
    if cell_len(line) <= WIDTH:
        yield line
    else:
        yield from wrap(where, "    ", "      ")
        yield from wrap(old, "      was ", "          ")
        yield from wrap(new, "      now ", "          ")
    yield from _said(fact.note, "      ")


# ----- tables -----


def table_lines(table: Table, look: Look) -> Iterator[str]:
    """A table, a column for each; each row as a sentence where that is too wide.

    What stands in the first column is said once for the rows below that have the same.
    """
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in table.columns:
        justify: Literal["right", "left"] = "right" if column.number else "left"
        grid.add_column(Text(printable(column.head)), justify=justify)
    before: model.TableCell = ""
    for row in table.rows:
        first = "" if row[0] == before else row[0]
        tones = [column.tone for column in table.columns]
        grid.add_row(*map(_item, (first, *row[1:]), tones))
        before = row[0]
    colours: Literal["standard"] | None = "standard" if look.colour else None
    stream = io.StringIO()
    console = Console(file=stream, width=WIDTH, color_system=colours, force_terminal=look.colour)
    wide = console.options.update(width=10_000, max_width=10_000)
    if console.measure(grid, options=wide).maximum > WIDTH + 2:
        yield from _sentences(table)
        return
    console.print(grid, crop=False)
    yield from (line.rstrip() for line in stream.getvalue().splitlines())


def _item(cell: model.TableCell, tone: str) -> Text:
    if isinstance(cell, int):
        return Text(str(cell), COLOURS.get(tone, "") if cell else "dim")
    if isinstance(cell, Item):
        return Text(printable(cell.text), COLOURS.get(cell.tone, ""))
    return Text(printable(cell))


def _sentences(table: Table) -> Iterator[str]:
    """`tensorflow eager: 760 cells, 745 pass`."""
    for row in table.rows:
        named = [(c.text if isinstance(c, Item) else c) for c in row if not isinstance(c, int)]
        heads = (column.head for column in table.columns)
        counts = [f"{n} {head}" for n, head in zip(row, heads, strict=True) if isinstance(n, int)]
        yield from _said(" ".join(map(str, named)) + ":", "", "    ")
        yield from _kept([count for count in counts if not count.startswith("0 ")], "    ")


# ----- lines -----


def _said(text: str, indent: str = "", hanging: str | None = None) -> Iterator[str]:
    """Any text as lines that a terminal can show; none where there is no text."""
    return wrap(printable(text), indent, hanging) if text else iter(())


def _kept(parts: Sequence[str], indent: str, hanging: str | None = None) -> Iterator[str]:
    """`3 fall short, 2 not run`: texts of ours, broken between them only."""
    return wrap(", ".join(parts).replace(" ", KEPT).replace(f",{KEPT}", ", "), indent, hanging)


def wrap(text: str, indent: str = "", hanging: str | None = None) -> Iterator[str]:
    """Lines of at most WIDTH columns; the later ones start with `hanging`."""
    hanging = indent if hanging is None else hanging
    for position, line in enumerate(_broken(text, WIDTH - max(len(indent), len(hanging)))):
        yield ((hanging if position else indent) + line).rstrip().replace(KEPT, " ")


def _broken(text: str, width: int) -> Sequence[str]:
    if cell_len(text) <= width:
        return [text]
    if text.replace(KEPT, "").isascii():
        return textwrap.wrap(text, width, break_on_hyphens=False)
    return [line.plain for line in Text(text).wrap(Console(), width)]


def cut(text: str, width: int) -> str:
    """The text in at most `width` columns, with `...` for what is left out at its end."""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, max(width - 3, 0)) + "..."[:width]
