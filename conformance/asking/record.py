"""Run records: JSON Lines with every raw observation, written as a run goes, read back whole."""

from __future__ import annotations

import contextlib
import gzip
import json
import platform
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import IO, Any, cast

from conformance import __version__
from conformance.answers.wire import (
    answer_of_line,
    duration,
    line_of,
    mapping,
    parse_json,
    text,
    texts,
)
from conformance.asking.events import Answered, Cell, Event, TargetReady
from conformance.closing import UsageError
from conformance.corpus.cases import CORPUS_VERSION, corpus_hash
from conformance.corpus.language.case import Case
from conformance.targets.specification import Target
from conformance.text import clean

FORMAT = 1
MAX_LINE = 64 * 1024 * 1024
MAX_LENGTH = 1024 * 1024 * 1024
CUT_SHORT: dict[str, Any] = {}
"""Stands for the rest of a record that cannot be uncompressed."""


class RecordError(UsageError):
    """A file that is no run record, or cannot be written; the message says where and why."""


@dataclass(frozen=True)
class Record:
    """A run, read back: `complete` is False (and `reason` says why) for one that was cut short."""

    path: str
    header: Mapping[str, Any]
    targets: Mapping[str, Mapping[str, Any]]
    answers: Sequence[Answered]
    repeats: Mapping[Cell, Sequence[Answered]]
    complete: bool
    reason: str
    seconds: float = 0.0
    failed: Mapping[str, str] = field(default_factory=dict)


class RecordWriter:
    """Writes a record line by line; without a footer a reader knows that it was cut short.

    Once a line could not be written (RecordError), no other is: a reader finds no footer.
    """

    def __init__(
        self,
        path: Path,
        cases: Sequence[Case],
        targets: Sequence[Target],
        command: Sequence[str],
        *,
        shard: str = "",
        kept: Sequence[Event] = (),
    ) -> None:
        """Open the record of a run of `cases`, of which `shard` is this run's part.

        Where events are `kept` of the record that stands at `path`, it is replaced only once they
        are written again.
        """
        new = path.with_name(f".new-{path.name}") if kept else path
        self._path = path
        self._file: IO[str] = _open(new, "wt")
        self._cells = 0
        self._broken = False
        corpus = {"version": CORPUS_VERSION, "hash": corpus_hash(cases), "cases": len(cases)}
        self._line(
            {
                "record": FORMAT,
                "gradconf": __version__,
                "corpus": corpus,
                "started": datetime.now(timezone.utc).isoformat(timespec="seconds"),
                "command": list(command),
                **({"shard": shard} if shard else {}),
                "asked": [{"target": t.label, "modes": t.modes} for t in targets],
                "host": f"Python {platform.python_version()}, {platform.platform(terse=True)}",
            }
        )
        for event in kept:
            self.write(event)
        if kept:
            new.replace(path)

    def write(self, event: Event) -> None:
        """Add what an event says."""
        if isinstance(event, Answered):
            self._cells += not event.repeat
            self._line(_cell_line(event))
        elif isinstance(event, TargetReady):
            self._line({"target": event.target, "about": dict(event.about)})
        else:
            self._line({"target": event.target, "failed": event.reason})

    def finish(self, *, complete: bool, reason: str, seconds: float) -> None:
        """Write the footer, the run came to its end or why it did not, and close the file."""
        footer = {"complete": complete, "reason": reason, "seconds": round(seconds, 3)}
        try:
            if not self._broken:
                self._line({"footer": {**footer, "cells": self._cells}})
        finally:
            self.close()
        if not self._path.exists():
            raise RecordError(f"{self._path}: was removed before the run ended")

    def close(self) -> None:
        """Close the file; without `finish` it is a record that was cut short."""
        try:
            self._file.close()
        except OSError as error:
            raise self._cannot_be_written(error) from error

    def _line(self, content: Mapping[str, Any]) -> None:
        try:
            self._file.write(json.dumps(content, separators=(",", ":")) + "\n")
            self._file.flush()
        except OSError as error:
            raise self._cannot_be_written(error) from error

    def _cannot_be_written(self, error: OSError) -> RecordError:
        self._broken = True
        with contextlib.suppress(OSError):
            self._file.close()
        return RecordError(f"{self._path}: cannot be written: {error.strerror}")


def _open(path: Path, mode: str) -> IO[Any]:
    if path.suffix == ".gz":
        return cast("IO[Any]", gzip.open(path, mode, encoding="utf-8"))
    return path.open(mode, encoding="utf-8")


def _cell_line(event: Answered) -> dict[str, Any]:
    line: dict[str, Any] = {
        "case": event.cell.case,
        "target": event.cell.target,
        "mode": event.cell.mode,
        "program": event.program,
        "expectation": event.expectation,
    }
    return line | ({"repeat": event.repeat} if event.repeat else {}) | line_of(event.answer)


def read_record(path: Path) -> Record:
    """A record from its file; raises RecordError for what is none.

    A record that ends early is not an error: it is read, `complete` is False.
    """
    lines = _lines(path)
    header = next(lines, (1, {}))[1]
    if header.get("record") != FORMAT:
        raise RecordError(f"{path}:1: not a gradconf record of format {FORMAT}")
    known = _checked_header(header, path)
    targets: dict[str, Mapping[str, Any]] = {}
    failed: dict[str, str] = {}
    answers: dict[Cell, Answered] = {}
    repeats: dict[Cell, list[Answered]] = {}
    footer: Mapping[str, Any] | None = None
    for number, line in lines:
        try:
            if line is CUT_SHORT:
                footer = None
            elif "footer" in line:
                footer = mapping(line["footer"])
                duration(footer.get("seconds"))
            elif "failed" in line:
                failed[text(line["target"])] = text(line["failed"])
            elif "about" in line:
                targets[text(line["target"])] = mapping(line["about"])
            else:
                answered = _answered(line)
                if answered.cell.target not in known:
                    raise ValueError(f"an answer of {answered.cell.target}, which was not asked")
                if answered.repeat:
                    repeats.setdefault(answered.cell, []).append(answered)
                elif answered.cell in answers:
                    raise ValueError(f"a second answer of {answered.cell}")
                else:
                    answers[answered.cell] = answered
        except (KeyError, TypeError, ValueError) as error:
            raise RecordError(f"{path}:{number}: not a record's line: {_told(error)}") from error
    complete, reason, seconds = _ending(footer, len(answers))
    found = tuple(answers.values())
    return Record(str(path), header, targets, found, repeats, complete, reason, seconds, failed)


def _checked_header(header: Mapping[str, Any], path: Path) -> set[str]:
    """The targets that a record can have answers of."""
    try:
        texts(header.get("command", []))
        asked = {text(item["target"]): texts(item["modes"]) for item in header["asked"]}
    except (KeyError, TypeError) as error:
        raise RecordError(f"{path}:1: not a record's header: {_told(error)}") from error
    return {*asked, "reference"}


def _told(error: Exception) -> str:
    return clean(repr(error))


def _ending(footer: Mapping[str, Any] | None, cells: int) -> tuple[bool, str, float]:
    if footer is None:
        return False, "truncated: the record has no footer", 0.0
    if footer.get("cells") != cells:
        return False, f"damaged: {cells} cells of {footer.get('cells')}", 0.0
    reason = str(footer.get("reason", ""))
    return footer.get("complete") is True, reason, float(footer["seconds"])


def _lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        with _open(path, "rt") as file:
            number = length = 0
            while line := file.readline(MAX_LINE):
                number += 1
                length += len(line)
                if length > MAX_LENGTH:
                    raise RecordError(f"{path}:{number}: longer than {MAX_LENGTH:,} characters")
                if not line.endswith("\n"):
                    return  # the line that was being written when the run ended
                yield number, mapping(parse_json(line))
    except EOFError:  # a compressed record that was cut short, be it after its last line
        yield 0, CUT_SHORT
    except (OSError, zlib.error) as error:
        raise RecordError(f"{path}: cannot be read: {error}") from error
    except (ValueError, TypeError) as error:
        raise RecordError(f"{path}: not JSON Lines: {_told(error)}") from error


def _answered(line: Mapping[str, Any]) -> Answered:
    cell = Cell(text(line["case"]), text(line["target"]), text(line["mode"]))
    repeat = line.get("repeat", 0)
    if not isinstance(repeat, int) or repeat < 0:
        raise ValueError(f"{repeat!r} is no number of a repetition")
    return Answered(
        cell, text(line["program"]), answer_of_line(line), text(line["expectation"]), repeat
    )
