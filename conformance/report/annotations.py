"""Results as GitHub workflow commands: an annotation at the file and line of each case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

from conformance.report.summary import (
    LABELS,
    Block,
    faults,
    new_cases,
    reservations,
    shortfalls,
    standings,
)
from conformance.text import plural, printable
from conformance.verdicts.results import Results

Level: TypeAlias = "Literal['error', 'warning', 'notice']"
MOST = 50
"""Annotations of one kind; GitHub shows ten of a level for a step, the log shows them all."""
MISMATCHES = 3


def write_github(results: Results) -> str:
    """The workflow commands, one on a line; the last one is the word and the standing."""
    return "".join(f"{line}\n" for line in _commands(results))


def _commands(results: Results) -> Iterator[str]:
    yield from _annotations("error", "falls short", shortfalls(results))
    yield from _annotations("warning", "falls short in a new case", new_cases(results))
    yield from _annotations("error", "at fault: the suite, not the target", faults(results))
    for reservation in reservations(results):
        yield _command("warning", reservation, title="gradconf")
    told = "; ".join(
        f"{standing.target}: {standing.conformance}" for standing in standings(results)
    )
    level: Level = "notice" if results.word == "conforms" else "error"
    yield _command(level, told, title=f"gradconf: {results.word}")


def _annotations(level: Level, heading: str, blocks: Sequence[Block]) -> Iterator[str]:
    for block in blocks[:MOST]:
        place = block.first.case.place
        label = f"{LABELS[block.verdict]}: {block.case_id} {block.where}"
        text = "\n".join([block.title, *block.findings(MISMATCHES), block.show, block.replay])
        yield _command(level, text, file=place.file, line=str(place.line), title=label)
    left = sum(len(block.cells) for block in blocks[MOST:])
    if left:
        yield _command(level, f"{plural(left, 'more cell')}: {heading}", title="gradconf")


def _command(level: Level, message: str, **properties: str) -> str:
    """`::error file=a.yaml,line=3::message`, in which nothing can begin another command."""
    given = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    lines = (printable(line) for line in message.split("\n"))
    return f"::{level} {given}::{'%0A'.join(map(_escaped, lines))}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(printable(text)).replace(":", "%3A").replace(",", "%2C")
