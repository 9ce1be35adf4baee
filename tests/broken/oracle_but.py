"""What many broken targets share: the oracle, with another answer of its tape."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from typing import Any

import reference_impl


def tape(answer: Callable[[Any], Any]) -> type:
    """A GradientTape whose `gradient` is what `answer` makes of the right one."""

    class GradientTape(reference_impl.GradientTape):
        def gradient(self, *args: Any, **kwargs: Any) -> Any:
            return answer(super().gradient(*args, **kwargs))

    return GradientTape


def open_descriptors() -> list[int]:
    """The descriptors of this process, the one by which it replies among them."""
    return [int(name) for name in os.listdir("/proc/self/fd")]


def reply_descriptor() -> int:
    """The private descriptor by which this process replies: no later one is for writing."""
    return max(filter(_is_for_writing, open_descriptors()))


def _is_for_writing(descriptor: int) -> bool:
    try:
        return bool(fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_WRONLY)
    except OSError:  # the one by which they were listed
        return False


def __getattr__(name: str) -> Any:
    return getattr(reference_impl, name)
