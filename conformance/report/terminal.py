"""The summary of a run that a person reads from top to bottom; the last line is the word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TextIO

from conformance import __version__
from conformance.corpus.cases import CORPUS_VERSION
from conformance.report.baseline_text import baseline_lines
from conformance.report.difference_text import version_lines
from conformance.report.progress import Progress
from conformance.report.style import (
    KEPT,
    OF_VERDICT,
    WIDTH,
    ColorChoice,
    Style,
    columns,
    style_of,
    wrap,
)
from conformance.report.summary import (
    BESIDE,
    LABELS,
    Block,
    about_target,
    faults,
    names_of,
    new_cases,
    oracle_line,
    report_command,
    reservations,
    rows_of,
    shortfalls,
    standings,
)
from conformance.report.tables import counted, table
from conformance.text import plural, printable
from conformance.verdicts.results import Results

__all__ = ["BLOCKS", "Progress", "print_results", "report_lines"]

BLOCKS = 20
"""How many blocks of one kind a summary shows."""
MISMATCHES = 5
"""How many mismatches of one block a summary shows."""
STALE = 5
NEW_CASES = "falls short in new cases, which the baseline does not know"


def print_results(
    results: Results,
    stream: TextIO,
    *,
    color: ColorChoice = "auto",
    limit: int | None = BLOCKS,
) -> None:
    """Print the summary; at most `limit` blocks of each kind, None for all that there is."""
    style = style_of(stream, color)
    for line in report_lines(results, style, limit):
        stream.write(style.encodable(line) + "\n")
    stream.flush()


def report_lines(results: Results, style: Style, limit: int | None = None) -> Iterator[str]:
    """The lines of the summary; the last one is the closing word alone."""
    yield from _targets(results, style)
    yield from _blocks("falls short", shortfalls(results), results, style, limit)
    yield from _blocks(NEW_CASES, new_cases(results), results, style, limit)
    at_fault = "at fault: the suite, the oracle or an adapter, not the target"
    yield from _blocks(at_fault, faults(results), results, style, limit)
    yield from version_lines(results, style)
    yield from _heading("cells", style)
    yield from table(rows_of(results), names_of(results), style)
    yield ""
    yield from _standings(results)
    yield from _baseline(results, limit)
    yield from _stale(results)
    for reservation in reservations(results):
        yield from wrap(reservation, hanging="  ")
    if results.record:
        yield f"record: {printable(results.record)}"
    yield style.paint(results.word, "bold", "green" if results.word == "conforms" else "red")


def _targets(results: Results, style: Style) -> Iterator[str]:
    took = f", {results.seconds:.1f} s" if results.seconds else ""
    yield style.paint(f"gradconf {__version__}, corpus {CORPUS_VERSION}{took}", "bold")
    names = names_of(results)
    for target, modes in results.asked.items():
        about = f"{', '.join(map(printable, modes))} ({about_target(results, target)})"
        yield from wrap(f"{names[target]}: {about}", "  ", "    ")
    oracle = oracle_line(results)
    if oracle:
        yield from wrap(f"oracle: {oracle}", "  ", "    ")


def _heading(text: str, style: Style) -> Iterator[str]:
    yield ""
    lead = f"{style.rule(2)} {text} "
    yield style.paint(lead + style.rule(WIDTH - columns(lead)), "bold")


# ----- blocks -----


def _blocks(
    heading: str, blocks: Sequence[Block], results: Results, style: Style, limit: int | None
) -> Iterator[str]:
    if not blocks:
        return
    total = sum(len(block.cells) for block in blocks)
    yield from _heading(f"{heading} ({plural(total, 'cell')})", style)
    for position, block in enumerate(blocks[:limit]):
        yield from [""] if position else []
        yield from _block(block, style, None if limit is None else MISMATCHES)
    left = 0 if limit is None else sum(len(block.cells) for block in blocks[limit:])
    if left:
        yield ""
        yield f"... and {left} more: {report_command(results)} --format text shows all"


def _block(block: Block, style: Style, limit: int | None) -> Iterator[str]:
    verdict = style.paint(LABELS[block.verdict], "bold", OF_VERDICT[block.verdict])
    yield f"{verdict}  {style.paint(block.case_id, 'bold')}"
    yield from wrap(block.where, "  ")
    yield from wrap(block.title, "  ")
    yield from wrap(f"({block.place}; {block.sources})", "  ", "   ")
    for finding in block.findings(limit):
        indent = "      " if finding.startswith("  ") else "    "
        yield from wrap(finding.strip(), indent, indent + "  ")
    yield f"  {style.paint('show:', 'dim')}   {block.show}"
    yield f"  {style.paint('replay:', 'dim')} {block.replay}"


# ----- counts -----


def _standings(results: Results) -> Iterator[str]:
    names = names_of(results)
    for standing in standings(results):
        name = f"{names[standing.target]}: " if len(names) > 1 else ""
        yield from wrap(f"conformance: {name}{standing.conformance}", "", "  ")
        beside = [f"{standing.short}{KEPT}fall{KEPT}short", counted(standing.counts, BESIDE)]
        yield from wrap(", ".join(filter(None, beside)), "  ", "    ")
        yield from wrap(standing.evidence, "  ", "    ")


def _baseline(results: Results, limit: int | None) -> Iterator[str]:
    told = list(baseline_lines(results, known=limit is None))
    shown = told if limit is None else told[: limit + 1]
    for line in shown:
        yield from wrap(line, "", "  ")
    if len(told) > len(shown):
        yield f"  ... and {len(told) - len(shown)} more cells"


def _stale(results: Results) -> Iterator[str]:
    for cell in results.stale[:STALE]:
        yield from wrap(f"stale: {printable(cell)}", "", "  ")
