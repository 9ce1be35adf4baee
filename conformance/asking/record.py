"""Run records, read: JSON Lines with every raw observation, each line with its checksum."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, cast

from conformance.answers.wire import answer_of_line, duration, mapping, parse_json, text, texts
from conformance.asking.events import Answered, Cell
from conformance.closing import UsageError
from conformance.files import open_regular
from conformance.text import clean

FORMAT = 1
MAX_LINE = 16 * 1024 * 1024
MAX_LENGTH = 256 * 1024 * 1024
"""Bytes of a record, uncompressed: some 200,000 cells."""
CHECKSUM = re.compile(rb',"sum":"([0-9a-f]{8})"\}\n\Z')
CHECKSUM_LENGTH = 19
"""The checksum of a line, which is its last key: the CRC-32 of the line without it."""

DAMAGED_HEADER = "damaged: the header is not what was written"


class RecordError(UsageError):
    """A file that is no run record, or cannot be written; the message says where and why."""


@dataclass(frozen=True)
class Record:
    """A run, read back: `complete` is False (and `reason` says why) where something is missing."""

    path: str
    header: Mapping[str, Any]
    targets: Mapping[str, Mapping[str, Any]]
    answers: Sequence[Answered]
    repeats: Mapping[Cell, Sequence[Answered]]
    complete: bool
    reason: str
    seconds: float = 0.0
    failed: Mapping[str, str] = field(default_factory=dict)

    @property
    def asked(self) -> dict[str, tuple[str, ...]]:
        """The targets that were asked for, and their modes."""
        return {str(item["target"]): tuple(item["modes"]) for item in self.header["asked"]}

    @property
    def version(self) -> str:
        """The version that the worker of its first target told; empty where it is unknown."""
        return str(self.targets.get(next(iter(self.asked), ""), {}).get("version") or "")


def read_record(path: Path, moved: Mapping[str, str] | None = None) -> Record:
    """A record from its file; raises RecordError for what is none.

    A case that was `moved` since, by its former id, is read under its id of today.

    A record that ends early, or with lines that are not what was written, is read without them:
    `complete` is False. Records of before there were checksums are read without.
    """
    reading = _Reading(path, moved or {})
    try:
        with _open(path) as file:
            for line in _lines(file, path):
                reading.add(line)
    except EOFError:  # a compressed record that was cut short, be it after its last line
        reading.footer = None
    except (OSError, zlib.error) as error:
        raise RecordError(f"{path}: cannot be read: {clean(error)}") from error
    return reading.record()


def is_headless(path: Path) -> bool:
    """Whether a file is what a run leaves that ends before its header is written."""
    begin = b'{"record":'
    try:
        with _open(path) as file:
            start = file.readline(MAX_LINE)
    except EOFError:
        return True
    except (OSError, zlib.error):
        return False
    return not start.endswith(b"\n") and (start.startswith(begin) or begin.startswith(start))


@contextlib.contextmanager
def _open(path: Path) -> Iterator[BinaryIO]:
    with open_regular(path) as file:
        yield cast(BinaryIO, gzip.GzipFile(fileobj=file)) if path.suffix == ".gz" else file


def _lines(file: BinaryIO, path: Path) -> Iterator[bytes]:
    """The whole lines: the one that was being written when the run ended is left out."""
    number = length = 0
    while line := file.readline(MAX_LINE):
        number += 1
        length += len(line)
        if length > MAX_LENGTH:
            raise RecordError(f"{path}:{number}: longer than {MAX_LENGTH:,} bytes")
        if line.endswith(b"\n"):
            yield line
        elif len(line) == MAX_LINE:
            raise RecordError(f"{path}:{number}: a line of more than {MAX_LINE:,} bytes")


class _Reading:
    """What the lines of a record say, line by line."""

    def __init__(self, path: Path, moved: Mapping[str, str]) -> None:
        self.path = path
        self.moved = moved
        self.header: Mapping[str, Any] = {}
        self.footer: Mapping[str, Any] | None = None
        self._known: set[str] = set()
        self._targets: dict[str, Mapping[str, Any]] = {}
        self._failed: dict[str, str] = {}
        self._answers: dict[Cell, Answered] = {}
        self._repeats: dict[Cell, list[Answered]] = {}
        self._damaged: list[int] = []
        self._has_checksums = False
        self._number = 0
        self._hash = hashlib.sha256()
        self._is_whole = True

    def add(self, line: bytes) -> None:
        """Take a line in. Errors: RecordError for one that cannot stand there."""
        self._number += 1
        checksum = CHECKSUM.search(line, max(0, len(line) - CHECKSUM_LENGTH))
        if self._number == 1:
            self._has_checksums = checksum is not None
        elif checksum and not self._has_checksums:
            self._number = 1
            raise self._refused(DAMAGED_HEADER)
        sound = not self._has_checksums
        if checksum:
            sound = int(checksum[1], 16) == zlib.crc32(line[:-CHECKSUM_LENGTH])
        if sound or self._number == 1:
            try:
                self._take(mapping(parse_json(line)), sound)
            except (KeyError, TypeError, ValueError) as error:
                raise self._refused(f"not a record's line: {clean(repr(error))}") from error
        else:
            self._damaged.append(self._number)
        self._hash.update(line)

    def _take_header(self, header: Mapping[str, Any], sound: bool) -> None:
        if header.get("record") != FORMAT:
            raise self._refused(f"not a gradconf record of format {FORMAT}")
        if not sound:
            raise self._refused(DAMAGED_HEADER)
        try:
            texts(header.get("command", []))
            asked = {text(item["target"]): texts(item["modes"]) for item in header["asked"]}
        except (KeyError, TypeError) as error:
            raise self._refused(f"not a record's header: {clean(repr(error))}") from error
        self.header = header
        self._known = {*asked, "reference"}

    def _take(self, line: Mapping[str, Any], sound: bool) -> None:
        self._is_whole = False  # until the footer, which is the last line
        if self._number == 1:
            self._take_header(line, sound)
        elif "footer" in line:
            self.footer = mapping(line["footer"])
            duration(self.footer.get("seconds"))
            before = self._hash.hexdigest()
            self._is_whole = self.footer.get("all", before) == before
        elif "failed" in line:
            self._failed[text(line["target"])] = text(line["failed"])
        elif "about" in line:
            about = self._targets[text(line["target"])] = mapping(line["about"])
            for listed in ("lacks", "confined", "notes"):
                texts(about.get(listed, []))
        else:
            self._take_answer(_answered_of(line, self.moved))

    def _take_answer(self, answered: Answered) -> None:
        if answered.cell.target not in self._known:
            raise ValueError(f"an answer of {answered.cell.target}, which was not asked")
        if answered.repeat:
            self._repeats.setdefault(answered.cell, []).append(answered)
        elif answered.cell in self._answers:
            raise ValueError(f"a second answer of {answered.cell}")
        else:
            self._answers[answered.cell] = answered

    def _refused(self, why: str) -> RecordError:
        return RecordError(f"{self.path}:{self._number}: {why}")

    def record(self) -> Record:
        """The record that the lines make up."""
        if not self._number:
            raise RecordError(f"{self.path}:1: not a gradconf record of format {FORMAT}")
        complete, reason = self._ending()
        return Record(
            str(self.path),
            self.header,
            self._targets,
            tuple(self._answers.values()),
            self._repeats,
            complete,
            reason,
            float(self.footer["seconds"]) if self.footer else 0.0,
            self._failed,
        )

    def _ending(self) -> tuple[bool, str]:
        """Whether the record is complete, and why not."""
        if self._damaged:
            lines = ", ".join(map(str, self._damaged[:5])) + (", ..." if self._damaged[5:] else "")
            return False, f"damaged: not what was written in line {lines}"
        if self.footer is None:
            return False, "truncated: the record has no footer"
        if self.footer.get("cells") != len(self._answers):
            return False, f"damaged: {len(self._answers)} cells of {self.footer.get('cells')}"
        if not self._is_whole:
            return False, "damaged: lines are missing, added or in another order"
        return self.footer.get("complete") is True, str(self.footer.get("reason", ""))


def _answered_of(line: Mapping[str, Any], moved: Mapping[str, str]) -> Answered:
    """The answer of a line. Errors: KeyError, TypeError, ValueError."""
    case = text(line["case"])
    cell = Cell(moved.get(case, case), text(line["target"]), text(line["mode"]))
    repeat = line.get("repeat", 0)
    if not isinstance(repeat, int) or repeat < 0:
        raise ValueError(f"{repeat!r} is no number of a repetition")
    return Answered(
        cell, text(line["program"]), answer_of_line(line), text(line["expectation"]), repeat
    )
