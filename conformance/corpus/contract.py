"""The contract's lines, as docs/contract.md numbers them, and which cases state each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from conformance.corpus.language.case import Case
from conformance.corpus.language.document import read_document
from conformance.files import data_folder

PREFIX = "contract/"
CLAIM = re.compile(r"\bs(\d+) (?=\S)")
NUMBERED = re.compile(r"(\d+)\. ")
CELL = re.compile(r"\| (\d+)(?:[–-](\d+))? \|")  # noqa: RUF001  # the document's own dash
PARTS = {
    "# Part 0": "source documents",
    "## 0b": "contradicted claims",
    "# Part 1": "asserted behaviours",
    "# Part 3": "advanced guide",
}


@dataclass(frozen=True)
class Line:
    """One line of the contract: its id (`contract/84`), its part, and its text."""

    id: str
    part: str
    text: str


@dataclass(frozen=True)
class Coverage:
    """Which lines have cases, and which cases cite lines that do not exist."""

    lines: tuple[Line, ...]
    cited: dict[str, tuple[str, ...]]
    """The ids of the cases that cite each line."""
    unknown: tuple[tuple[Case, str], ...]
    excused: Mapping[str, str]
    """Why a line cannot be a case, by its id."""

    def of_part(self, part: str) -> tuple[list[Line], list[Line], list[Line]]:
        """The lines of a part that have a case, that cannot have one, and that have none yet."""
        lines = [line for line in self.lines if line.part == part]
        covered = [line for line in lines if line.id in self.cited]
        without = [line for line in lines if line.id not in self.cited]
        excused = [line for line in without if line.id in self.excused]
        return covered, excused, [line for line in without if line.id not in self.excused]


def contract_lines(text: str | None = None) -> tuple[Line, ...]:
    """Every numbered line of the contract's text, in order; each id stands once."""
    if text is None:
        text = (data_folder("docs") / "contract.md").read_text(encoding="utf-8")
    found: dict[str, Line] = {}
    part = ""
    for row in text.splitlines():
        if row.startswith("#"):
            part = next((name for mark, name in PARTS.items() if row.startswith(mark)), part)
            continue
        for number, words in _numbers(row, part):
            found.setdefault(number, Line(number, part, words))
    return tuple(found.values())


def _numbers(row: str, part: str) -> Iterator[tuple[str, str]]:
    if part == PARTS["# Part 0"]:
        claims = list(CLAIM.finditer(row))
        for match, following in zip_longest(claims, claims[1:]):
            end = following.start() if following else len(row)
            yield f"{PREFIX}s{match[1]}", row[match.end() : end].strip(" .")
    elif part == PARTS["# Part 3"]:
        if match := CELL.match(row):
            for cell in range(int(match[1]), int(match[2] or match[1]) + 1):
                yield f"{PREFIX}advanced/{cell}", row.split("|")[2].strip()
    elif match := NUMBERED.match(row):
        prefix = "0b." if part == PARTS["## 0b"] else ""
        yield f"{PREFIX}{prefix}{match[1]}", row[match.end() :].strip()


def excuses(path: Path | None = None) -> dict[str, str]:
    """Why lines cannot be cases, by id; raises CaseFileError for what cannot be read."""
    root = read_document(path or data_folder("docs") / "not_cases.yaml", "docs/not_cases.yaml")
    reasons = root.mapping()
    found = {id: reason.text() for id, reason in reasons.items()}
    known = {line.id for line in contract_lines()}
    for id in found.keys() - known:
        reasons[id].fault(f"the contract has no line '{id}'")
    root.finish()
    return found


def coverage(cases: Iterable[Case], lines: tuple[Line, ...] | None = None) -> Coverage:
    """What the sources that cases really cite cover of the contract."""
    lines = contract_lines() if lines is None else lines
    known = {line.id for line in lines}
    cited: dict[str, list[str]] = {}
    unknown: list[tuple[Case, str]] = []
    for case in cases:
        for source in case.sources:
            if not source.startswith(PREFIX):
                continue
            if source in known:
                cited.setdefault(source, []).append(case.id)
            else:
                unknown.append((case, source))
    return Coverage(lines, {id: tuple(ids) for id, ids in cited.items()}, tuple(unknown), excuses())
