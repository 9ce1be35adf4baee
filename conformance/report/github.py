"""The Report of a run as GitHub workflow commands: an annotation at the file and line of a case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, TypeAlias

from conformance.report.model import Report, Section, SectionKind
from conformance.text import plural, printable

Level: TypeAlias = "Literal['error', 'warning', 'notice']"
LEVELS: Mapping[SectionKind, Level] = {"short": "error", "new": "warning", "fault": "error"}
MOST = 50
"""Annotations of one kind; GitHub shows ten of a level for a step, the log shows them all."""
MISMATCHES = 3


def write(report: Report) -> str:
    """The workflow commands, one on a line; the last one is the word and the standing."""
    return "".join(f"{line}\n" for line in _commands(report))


def _commands(report: Report) -> Iterator[str]:
    for section in report.sections:
        if section.kind in LEVELS:
            yield from _annotations(LEVELS[section.kind], section)
    for line in report.reservations:
        yield _command("warning", line, title="gradconf")
    scores = (
        f"{subject.label}: {subject.score.conformance}"
        for subject in report.subjects
        if subject.score
    )
    level: Level = "notice" if report.word == "conforms" else "error"
    yield _command(level, "; ".join(scores), title=f"gradconf: {report.verdict_text}")


def _annotations(level: Level, section: Section) -> Iterator[str]:
    for block in section.blocks[:MOST]:
        label = f"{block.label}: {block.case} {block.where}"
        lines = [block.title, block.place, *block.shortened(MISMATCHES), block.explanation]
        text = "\n".join(filter(None, [*lines, block.show, block.replay]))
        place = {"file": block.file, "line": str(block.line)} if _is_here(block.file) else {}
        yield _command(level, text, **place, title=label)
    left = sum(block.cells for block in section.blocks[MOST:])
    if left:
        yield _command(level, f"{plural(left, 'more cell')}: {section.heading}", title="gradconf")


def _is_here(file: str) -> bool:
    """Whether a case stands in the repository that runs this: else nothing could be shown there."""
    return Path(file).is_file()


def _command(level: Level, message: str, **properties: str) -> str:
    """`::error file=a.yaml,line=3::message`, in which nothing can begin another command."""
    given = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    lines = (printable(line) for line in message.split("\n"))
    return f"::{level} {given}::{'%0A'.join(map(_escaped, lines))}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(printable(text)).replace(":", "%3A").replace(",", "%2C")
