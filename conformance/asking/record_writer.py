"""Run records, written line by line as a run goes, by one run at a time."""

from __future__ import annotations

import contextlib
import fcntl
import gzip
import hashlib
import json
import os
import platform
import shutil
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import IO, Any, cast

from conformance import __version__
from conformance.answers.wire import line_of
from conformance.asking.events import Answered, Cell, Event, TargetReady
from conformance.asking.record import FORMAT, RecordError
from conformance.corpus.cases import CORPUS_VERSION, corpus_hash
from conformance.corpus.language.case import MODES, Case
from conformance.files import beside
from conformance.targets.specification import Target


class RecordLock:
    """The right to write one record: another run that wants it is refused meanwhile."""

    def __init__(self, path: Path) -> None:
        """Take the lock of the record at a path. Errors: RecordError."""
        self.path = Path(os.path.realpath(path))
        self._lock = self.path.with_name(f".{self.path.name}.lock")
        if self.path.exists() and not self.path.is_file():
            raise RecordError(f"{path}: not a regular file")
        try:
            while not self._taken():
                pass
        except OSError as error:
            raise RecordError(f"{path}: cannot be written: {error.strerror}") from error

    def _taken(self) -> bool:
        """Take the lock; False where its file was removed by the run that had it."""
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        self._descriptor = os.open(self._lock, flags, 0o644)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(self._descriptor, 20).decode("ascii", "replace")
            os.close(self._descriptor)
            raise RecordError(
                f"{self.path}: process {holder or 'unknown'} is writing it: name another --output"
            ) from None
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(self._descriptor), self._lock.stat()):
                os.ftruncate(self._descriptor, 0)
                os.write(self._descriptor, b"%d" % os.getpid())
                return True
        os.close(self._descriptor)
        return False

    def __enter__(self) -> RecordLock:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        """Release the lock where its record could not be opened."""
        if kind is not None:
            self.release()

    def release(self) -> None:
        """Let another run write the record."""
        if self._descriptor >= 0:
            with contextlib.suppress(OSError):
                self._lock.unlink()
            os.close(self._descriptor)
            self._descriptor = -1


@dataclass
class Kept:
    """What a run that resumes a record keeps of it.

    `events` are what the run would ask for, and need not; `beside` what it would not ask for;
    `replaced` what it asks for again, kept where it has no answer. `asked` are the record's
    targets, and their modes.
    """

    events: list[Event] = field(default_factory=list)
    beside: Sequence[Event] = ()
    replaced: dict[Cell, Answered] = field(default_factory=dict)
    asked: Mapping[str, Sequence[str]] = field(default_factory=dict)


class RecordWriter:
    """Writes a record line by line; without a footer a reader knows that it was cut short.

    What stands at its path is replaced at once when the header and what is kept are written. Once
    a line could not be written (RecordError), no other is: a reader finds no footer.
    """

    def __init__(
        self,
        lock: RecordLock | Path,
        cases: Sequence[Case],
        targets: Sequence[Target],
        command: Sequence[str],
        *,
        shard: str = "",
        kept: Kept | None = None,
        nodes: Sequence[str] = (),
    ) -> None:
        """Open the record of a run of `cases`, of which `shard` is this run's part, on `nodes`.

        Errors: RecordError.
        """
        self._lock = RecordLock(lock) if isinstance(lock, Path) else lock
        self._path = self._lock.path
        self._cells = 0
        self._broken = False
        self._hash = hashlib.sha256()
        kept = kept or Kept()
        self._replaced = dict(kept.replaced)
        new = beside(self._path)
        try:
            opened = gzip.open if self._path.suffix == ".gz" else open
            self._file = cast("IO[bytes]", opened(new, "wb"))
            if self._path.exists():
                shutil.copymode(self._path, new)
            self._line(_header(cases, targets, command, shard, kept, nodes))
            for event in (*kept.beside, *kept.events):
                self.write(event)
            new.replace(self._path)
        except BaseException as error:
            with contextlib.suppress(OSError):
                new.unlink()
            self._lock.release()
            if isinstance(error, OSError):
                raise self._cannot_be_written(error) from error
            raise

    def write(self, event: Event) -> None:
        """Add what an event says; no answer that is there is replaced by `not_run`."""
        if isinstance(event, Answered):
            earlier = None if event.repeat else self._replaced.pop(event.cell, None)
            if earlier and event.answer.outcome == "not_run":
                event = earlier
            self._cells += not event.repeat
            self._line(_cell_line(event))
        elif isinstance(event, TargetReady):
            self._line({"target": event.target, "about": dict(event.about)})
        else:
            self._line({"target": event.target, "failed": event.reason})

    def finish(
        self, *, complete: bool, reason: str, seconds: float, nodes: Sequence[str] = ()
    ) -> None:
        """Write the footer, the run came to its end or why it did not, and close the file.

        `nodes` are those of a cluster that answered.
        """
        footer = {"complete": complete, "reason": reason, "seconds": round(seconds, 3)}
        footer |= {"nodes": list(nodes)} if nodes else {}
        try:
            if not self._broken:
                for earlier in list(self._replaced.values()):
                    self.write(earlier)
                whole = self._hash.hexdigest()
                self._line({"footer": {**footer, "cells": self._cells, "all": whole}})
                self._file.close()
                self._pack()
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
        finally:
            self._lock.release()

    def _pack(self) -> None:
        """Compress a whole record as one: what is flushed line by line takes a quarter more."""
        if self._path.suffix != ".gz" or not self._path.exists():
            return
        new = beside(self._path)
        try:
            with gzip.open(self._path, "rb") as lines, gzip.open(new, "wb") as packed:
                shutil.copyfileobj(lines, packed)
            shutil.copymode(self._path, new)
            new.replace(self._path)
        except OSError as error:
            with contextlib.suppress(OSError):
                new.unlink()
            raise self._cannot_be_written(error) from error

    def _line(self, content: Mapping[str, Any]) -> None:
        line = json.dumps(content, separators=(",", ":")).encode()
        data = line[:-1] + b',"sum":"%08x"}\n' % zlib.crc32(line[:-1])
        try:
            self._file.write(data)
            self._file.flush()
        except OSError as error:
            raise self._cannot_be_written(error) from error
        self._hash.update(data)

    def _cannot_be_written(self, error: OSError) -> RecordError:
        self._broken = True
        return RecordError(f"{self._path}: cannot be written: {error.strerror}")


def _header(
    cases: Sequence[Case],
    targets: Sequence[Target],
    command: Sequence[str],
    shard: str,
    kept: Kept,
    nodes: Sequence[str],
) -> dict[str, Any]:
    asked = {target.label: set(target.modes) for target in targets}
    for label, modes in kept.asked.items():
        asked.setdefault(label, set()).update(modes)
    return {
        "record": FORMAT,
        "gradconf": __version__,
        "corpus": {"version": CORPUS_VERSION, "hash": corpus_hash(cases), "cases": len(cases)},
        "started": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "command": list(command),
        **({"shard": shard} if shard else {}),
        "asked": [
            {"target": label, "modes": [mode for mode in MODES if mode in modes]}
            for label, modes in asked.items()
        ],
        **({"nodes": list(nodes)} if nodes else {}),
        "host": f"Python {platform.python_version()}, {platform.platform(terse=True)}",
    }


def _cell_line(event: Answered) -> dict[str, Any]:
    line: dict[str, Any] = {
        "case": event.cell.case,
        "target": event.cell.target,
        "mode": event.cell.mode,
        "program": event.program,
        "expectation": event.expectation,
    }
    return line | ({"repeat": event.repeat} if event.repeat else {}) | line_of(event.answer)
