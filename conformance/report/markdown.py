"""Results as GitHub-flavoured Markdown, ready for a job summary or an issue."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from conformance import __version__
from conformance.corpus.cases import CORPUS_VERSION
from conformance.report.baseline_text import baseline_lines
from conformance.report.difference_blocks import Known, counted_changes
from conformance.report.difference_markdown import change_markdown
from conformance.report.markup import MOST, code, escaped, fenced
from conformance.report.style import KEPT
from conformance.report.summary import (
    BESIDE,
    LABELS,
    Block,
    about_target,
    command_line,
    faults,
    names_of,
    new_cases,
    occurring,
    oracle_line,
    report_command,
    reservations,
    rows_of,
    shortfalls,
    standings,
)
from conformance.report.tables import counted
from conformance.verdicts.changes import changes_between_versions
from conformance.verdicts.results import Results

STALE = 20
BASELINE = 100


def write_markdown(results: Results) -> str:
    """The document as text. All text that is not ours is escaped, or stands in code."""
    return "\n".join(_document(results)) + "\n"


def _document(results: Results) -> Iterator[str]:
    mark = "✅" if results.word == "conforms" else "❌"
    yield f"## {mark} gradconf: {results.word}"
    yield from _standings(results)
    yield from _table(results)
    yield from _blocks("Falls short", shortfalls(results), results)
    yield from _blocks("Falls short in new cases", new_cases(results), results)
    yield from _blocks("At fault: the suite, the oracle or an adapter", faults(results), results)
    yield from _changes(results)
    yield from _stale(results)
    yield from _versions(results)
    yield f"\n**{results.word}**"


def _standings(results: Results) -> Iterator[str]:
    names = names_of(results)
    yield ""
    for standing in standings(results):
        short = f"{standing.short} fall short"
        beside = ", ".join(filter(None, (short, counted(standing.counts, BESIDE))))
        beside = beside.replace(KEPT, " ")
        yield f"- {code(names[standing.target])}: {standing.conformance}; {beside}"
        yield f"  <br>{standing.evidence}"
    yield from (f"- {code(line)}" for line in list(baseline_lines(results))[:BASELINE])
    for reservation in reservations(results):
        yield f"- ⚠️ {code(reservation)}"


def _table(results: Results) -> Iterator[str]:
    rows, names = rows_of(results), names_of(results)
    verdicts = occurring(rows)
    yield f"\n| target | mode | cells | {' | '.join(LABELS[verdict] for verdict in verdicts)} |"
    yield f"| :-- | :-- |{' --: |' * (len(verdicts) + 1)}"
    for row in rows:
        counts = [str(row.cells), *(str(row.counts.get(verdict, 0)) for verdict in verdicts)]
        head = f"{code(names[row.target])} | {escaped(row.mode)}"
        yield f"| {head} | {' | '.join(counts)} |"


def _versions(results: Results) -> Iterator[str]:
    names = names_of(results)
    yield f"\ngradconf {__version__}, corpus {CORPUS_VERSION}"
    yield ""
    for target in results.asked:
        yield f"- {code(names[target])}: {code(about_target(results, target))}"
    if oracle_line(results):
        yield f"- oracle: {code(oracle_line(results))}"
    if results.command:
        yield f"- command: {code(command_line(results))}"
    if results.record:
        yield f"- record: {code(results.record)}"


def _changes(results: Results) -> Iterator[str]:
    known = Known.of(results)
    for found in changes_between_versions(results):
        yield f"\n### From {code(found.old.title)} to {code(found.new.title)}"
        yield f"\n{counted_changes(found)}"
        yield from change_markdown(found, known)


def _stale(results: Results) -> Iterator[str]:
    if results.stale:
        yield f"\n### Stale ({len(results.stale)})\n"
        yield from (f"- {code(cell)}" for cell in results.stale[:STALE])


# ----- blocks -----


def _blocks(heading: str, blocks: Sequence[Block], results: Results) -> Iterator[str]:
    if not blocks:
        return
    yield f"\n### {heading} ({_cells(blocks)})"
    written = 0
    for position, block in enumerate(blocks):
        text = "\n".join(_block(block))
        written += len(text)
        if written > MOST:
            shows = code(f"{report_command(results)} --format text")
            yield f"\n... and {_cells(blocks[position:])} more: {shows} shows all"
            return
        yield text


def _cells(blocks: Sequence[Block]) -> int:
    return sum(len(block.cells) for block in blocks)


def _block(block: Block) -> Iterator[str]:
    verdict = LABELS[block.verdict]
    head = code(f"{block.case_id} {block.where}")
    yield f"\n<details><summary><b>{verdict}</b> {head}</summary>\n"
    yield f"{escaped(block.title)} ({code(block.place)}; {escaped(block.sources)})\n"
    yield fenced(block.findings(), "text")
    yield fenced(block.first.lowered.source.splitlines(), "python")
    yield fenced([block.show, block.replay], "sh")
    yield "\n</details>"
