"""What many broken targets share: the oracle, with another answer of its tape."""

from __future__ import annotations

import os
import stat
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
    """The private socket by which this process replies."""
    return next(filter(_is_socket, open_descriptors()))


def _is_socket(descriptor: int) -> bool:
    try:
        return stat.S_ISSOCK(os.fstat(descriptor).st_mode)
    except OSError:  # the one by which they were listed
        return False


def __getattr__(name: str) -> Any:
    return getattr(reference_impl, name)
