"""Ctrl-C and SIGTERM: they end a run between two of its events, never within one."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Iterator
from types import FrameType
from typing import Any, TypeVar

T = TypeVar("T")
SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interruption:
    """From now until `over`, a signal raises KeyboardInterrupt out of `between`.

    A second one raises it at once.
    """

    def __init__(self) -> None:
        self._busy = False
        self._asked = False
        self._before: dict[int, Any] = {
            number: signal.signal(number, self._arrived)
            for number in SIGNALS
            if signal.getsignal(number) is not signal.SIG_IGN  # as nohup wants it
        }

    def over(self) -> None:
        """Give the signals back to whom they were."""
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def between(self, events: Iterable[T]) -> Iterator[T]:
        """The events; what is done with one is not interrupted before the next is asked for."""
        for event in events:
            self._busy = True
            yield event
            self._busy = False
            if self._asked:
                raise KeyboardInterrupt

    def _arrived(self, number: int, frame: FrameType | None) -> None:
        if self._asked or not self._busy:
            raise KeyboardInterrupt
        self._asked = True
