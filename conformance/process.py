"""What the program owes its process: streams that may be closed, and signals that end a command."""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TextIO, TypeVar

T = TypeVar("T")
ESCAPED = "backslashreplace"
"""How a character is written that the stream's encoding lacks: a report is no reason to stop."""
SIGNALS = (signal.SIGINT, signal.SIGTERM)
BURST = 2.0
"""Seconds in which further signals count as the one that ended the command."""


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

    forgiven: type[OSError] = OSError

    def write(self, data: Any) -> Any:
        try:
            return super().write(data)
        except self.forgiven:
            return len(data)


def _lasting(stream: TextIO | None, descriptor: int, forgiven: type[OSError]) -> TextIO:
    """The stream over a lasting descriptor; a stream that was closed leads nowhere."""
    raw = _Lasting(descriptor, "w", closefd=False)
    raw.forgiven = forgiven
    by_line = descriptor == 2 or (stream is not None and stream.isatty())
    encoding = stream.encoding if stream else "utf-8"
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding, ESCAPED, line_buffering=by_line)


class Interruption:
    """Ctrl-C and SIGTERM: each ends the command with one KeyboardInterrupt, never within a step.

    A second signal ends a step at once. After the interrupt, further signals of the same burst are
    ignored, so that what must be tidied up is.
    """

    _busy = _asked = False
    _raised = -BURST

    @contextmanager
    def heard(self, *, to_the_end: bool) -> Iterator[None]:
        """Take the signals for the time of a command, or `to_the_end` of the process."""
        self._busy = self._asked = False
        self._raised = -BURST
        before: dict[int, Any] = {}
        if threading.current_thread() is threading.main_thread():
            heard = [one for one in SIGNALS if signal.getsignal(one) is not signal.SIG_IGN]
            before = {number: signal.signal(number, self._arrived) for number in heard}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, signal.SIG_IGN if to_the_end else handler)

    def between(self, events: Iterable[T]) -> Iterator[T]:
        """The events; what is done with one is not interrupted before the next is asked for."""
        for event in events:
            self._busy = True
            yield event
            self._busy = False
            if self._asked:
                self._raise()

    def _arrived(self, number: int, frame: FrameType | None) -> None:
        if time.monotonic() - self._raised < BURST:
            return
        if self._asked or not self._busy:
            self._raise()
        self._asked = True

    def _raise(self) -> None:
        self._raised = time.monotonic()
        self._busy = self._asked = False
        raise KeyboardInterrupt


INTERRUPTION = Interruption()
"""The process's own: signals are the whole process's."""
