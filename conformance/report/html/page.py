"""Results as one HTML page: to be looked at, with nothing to fetch and no script that it needs."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance import __version__
from conformance.corpus.cases import CORPUS_VERSION
from conformance.report.baseline_text import baseline_lines
from conformance.report.difference_blocks import Block as ChangeBlock
from conformance.report.difference_blocks import Known, counted_changes
from conformance.report.difference_blocks import blocks_of as change_blocks_of
from conformance.report.summary import (
    BESIDE,
    LABELS,
    Block,
    Counted,
    Row,
    about_target,
    blocks_of,
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
from conformance.text import printable
from conformance.verdicts.changes import changes_between_versions
from conformance.verdicts.judge import Verdict
from conformance.verdicts.results import Judged, Results

FOLDER = Path(__file__).parent
MOST_BLOCKS = 1_000
"""Blocks of one section that are written out; the others are counted."""
MARKS: Mapping[Verdict, str] = {
    "pass": "✓",
    "fail": "✗",
    "crash": "✗",
    "timeout": "✗",
    "unexpected_pass": "✗",
    "bad_case": "!",
    "error": "!",
    "known_deviation": "≠",
    "unsupported": "○",
    "not_applicable": "·",
    "not_run": "?",
}
"""What stands for a verdict where there is room for one character; the colour says no more."""


@dataclass(frozen=True)
class Section:
    """Blocks under a heading."""

    heading: str
    blocks: Sequence[Block]

    @property
    def cells(self) -> int:
        """How many cells its blocks speak of."""
        return sum(len(block.cells) for block in self.blocks)

    @property
    def shown(self) -> Sequence[Block]:
        """The blocks that are written out."""
        return self.blocks[:MOST_BLOCKS]


@dataclass(frozen=True)
class Share(Counted):
    """How many of some cells passed, of those to which their case applies."""

    counts: Mapping[Verdict, int]

    @property
    def level(self) -> str:
        """The name of its colour: in steps, and `all` for nothing less than every cell."""
        if not self.applicable:
            return "nothing"
        if self.passed == self.applicable:
            return "all"
        share = self.passed / self.applicable
        return "most" if share >= 0.9 else "half" if share >= 0.5 else "few"

    @property
    def spoken(self) -> str:
        """`31 pass, 2 deviation`."""
        return ", ".join(f"{self.counts[v]} {LABELS[v]}" for v in LABELS if self.counts.get(v))


@dataclass(frozen=True)
class CaseRow:
    """One case, with the verdict of each column that has it."""

    case_id: str
    title: str
    place: str
    verdicts: Sequence[Verdict | None]

    @property
    def text(self) -> str:
        """What the filter looks through."""
        words = [LABELS[verdict] for verdict in self.verdicts if verdict]
        return " ".join([self.case_id, self.title, *dict.fromkeys(words)])


def write_html(results: Results) -> str:
    """The page as text. All text that is not ours is escaped, and no script of others can run."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # only where it is asked for

    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["printable"] = printable
    script = (FOLDER / "page.js").read_text(encoding="utf-8")
    page = environment.get_template("page.html")
    return page.render(**_content(results), script=script, script_hash=_hash(script)) + "\n"


def _hash(script: str) -> str:
    """What a browser's content security policy knows the page's own script by."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _content(results: Results) -> dict[str, object]:
    """Everything that the template names."""
    rows = rows_of(results)
    columns = [(row.target, row.mode) for row in rows]
    by_case = _by_case(results)
    return {
        "word": results.word,
        "gradconf": __version__,
        "corpus": CORPUS_VERSION,
        "seconds": f"{results.seconds:.1f}",
        "command": command_line(results),
        "record": printable(results.record),
        "report_command": report_command(results),
        "oracle": oracle_line(results),
        "names": names_of(results),
        "about": {target: about_target(results, target) for target in results.asked},
        "standings": standings(results),
        "beside": BESIDE,
        "counted": counted,
        "reservations": reservations(results),
        "baseline": list(baseline_lines(results)),
        "rows": rows,
        "verdicts": occurring(rows),
        "labels": LABELS,
        "marks": MARKS,
        "areas": _areas(results, columns),
        "columns": columns,
        "sections": [section for section in _sections(results) if section.blocks],
        "changes": list(_changes(results)),
        "stale": [printable(cell) for cell in results.stale],
        "cases": [_case_row(cells, columns) for cells in by_case.values()],
        "bar": _bar,
    }


def _bar(row: Row) -> list[tuple[Verdict, float]]:
    """The verdicts of a row with their share of it in per cent."""
    return [(v, 100 * row.counts[v] / row.cells) for v in LABELS if row.counts.get(v)]


def _areas(
    results: Results, columns: Sequence[tuple[str, str]]
) -> list[tuple[str, list[Share | None]]]:
    """Each area with its share in each column; None where the column has no cell of it."""
    found: dict[str, dict[tuple[str, str], Counter[Verdict]]] = {}
    for judged in results.cells:
        column = judged.cell.target, judged.cell.mode
        counts = found.setdefault(judged.case.area, {}).setdefault(column, Counter())
        counts[judged.verdict] += 1
    return [
        (area, [Share(counts[column]) if column in counts else None for column in columns])
        for area, counts in sorted(found.items())
    ]


def _sections(results: Results) -> Iterator[Section]:
    yield Section("Falls short", shortfalls(results))
    yield Section("Falls short in new cases", new_cases(results))
    yield Section("At fault: the suite, the oracle or an adapter", faults(results))
    departing = (judged for judged in results.cells if judged.verdict == "known_deviation")
    yield Section("Departs as documented", blocks_of(results, departing))


def _changes(results: Results) -> Iterator[tuple[str, str, str, Sequence[ChangeBlock]]]:
    """From which version to which, how many changes of what class, and each of them."""
    known = Known.of(results)
    for found in changes_between_versions(results):
        classes = [kind for kind in found.counts if kind not in ("removed", "added")]
        blocks = [block for kind in classes for block in change_blocks_of(found, kind, known)]
        yield found.old.title, found.new.title, counted_changes(found), blocks[:MOST_BLOCKS]


def _by_case(results: Results) -> dict[str, list[Judged]]:
    found: dict[str, list[Judged]] = {}
    for judged in results.cells:
        found.setdefault(judged.cell.case, []).append(judged)
    return found


def _case_row(cells: Sequence[Judged], columns: Sequence[tuple[str, str]]) -> CaseRow:
    verdicts = {(judged.cell.target, judged.cell.mode): judged.verdict for judged in cells}
    block = Block(tuple(cells[:1]))
    found = [verdicts.get(column) for column in columns]
    return CaseRow(block.case_id, block.title, block.place, found)
