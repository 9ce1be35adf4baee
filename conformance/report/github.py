"""The Report of a run as GitHub workflow commands: an annotation at the file and line of a case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, TypeAlias

from conformance.report.model import Report, Section, SectionKind, cells_in
from conformance.text import plural, printable

Level: TypeAlias = "Literal['error', 'warning', 'notice']"
LEVELS: Mapping[SectionKind, Level] = {"short": "error", "new": "warning", "fault": "error"}
MOST = 50
"""Annotations of one kind; GitHub shows ten of a level for a step, the log shows them all."""
MISMATCHES = 3
IN_PROPERTIES = str.maketrans({"%": "%25", ":": "%3A", ",": "%2C"})


def write(report: Report) -> str:
    """The workflow commands, one on a line; the last one is the word and the standing."""
    return "".join(f"{line}\n" for line in _commands(report))


def _commands(report: Report) -> Iterator[str]:
    for section in report.sections:
        if section.kind in LEVELS:
            yield from _annotations(LEVELS[section.kind], section)
    for line in report.reservations:
        yield _command("warning", line, title="gradconf")
    scores = (f"{s.label}: {s.score.conformance}" for s in report.subjects if s.score)
    level: Level = "notice" if report.word == "conforms" else "error"
    yield _command(level, "; ".join(scores), title=f"gradconf: {report.verdict_text}")


def _annotations(level: Level, section: Section) -> Iterator[str]:
    """An annotation for each block, at its file where the repository that runs this has it."""
    for block in section.blocks[:MOST]:
        lines = [block.title, block.place, *block.told(MISMATCHES), block.explanation]
        text = "\n".join(filter(None, [*lines, block.show, block.replay]))
        here = Path(block.file).is_file()
        place = {"file": block.file, "line": str(block.line)} if here else {}
        title = f"{block.label}: {block.case} {block.where}"
        yield _command(level, text, **place, title=title)
    left = cells_in(section.blocks[MOST:])
    if left:
        yield _command(level, f"{plural(left, 'more cell')}: {section.heading}", title="gradconf")


def _command(level: Level, message: str, **properties: str) -> str:
    """`::error file=a.yaml,line=3::message`, in which nothing can begin another command."""
    values = {name: printable(value).translate(IN_PROPERTIES) for name, value in properties.items()}
    given = ",".join(f"{name}={value}" for name, value in values.items())
    lines = (printable(line).replace("%", "%25") for line in message.split("\n"))
    return f"::{level} {given}::{'%0A'.join(lines)}"
