"""Standard streams that may be closed, full, or read by nobody any more."""

from __future__ import annotations

import io
import os
import sys
from typing import Any, TextIO

ESCAPED = "backslashreplace"
"""How a character is written that the stream's encoding lacks: a report is no reason to stop."""


def make_lasting() -> None:
    """Let the program go on when nobody reads it, as in `gradconf run | head`.

    What cannot be written is dropped, so that the exit code and the record do not depend on the
    reader; only a full disk behind standard output stays an error.
    """
    while (spare := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass  # a closed descriptor would become that of the next file, or of a worker's pipe
    os.close(spare)
    sys.stdout = _lasting(sys.stdout, 1, BrokenPipeError)
    sys.stderr = _lasting(sys.stderr, 2, OSError)


def give_up_output() -> None:
    """Drop what standard output still holds: the interpreter's end would try it once more."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)


class _Lasting(io.FileIO):
    """A descriptor that takes everything: what it cannot write for a forgiven reason is gone."""

    def __init__(self, descriptor: int, forgiven: type[OSError]) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self._forgiven = forgiven

    def write(self, data: Any) -> Any:
        try:
            return super().write(data)
        except self._forgiven:
            return len(data)


def _lasting(stream: TextIO | None, descriptor: int, forgiven: type[OSError]) -> TextIO:
    """The stream over a lasting descriptor; a stream that was closed leads nowhere."""
    buffer = io.BufferedWriter(_Lasting(descriptor, forgiven))
    if stream is None:
        return io.TextIOWrapper(buffer, encoding="utf-8")
    line_buffering = descriptor == 2 or stream.isatty()
    return io.TextIOWrapper(
        buffer, encoding=stream.encoding, errors=ESCAPED, line_buffering=line_buffering
    )
