"""Bisection: the first version of a target that gives a new answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Turn:
    """Where an answer turned: `since` is the first version with the new one.

    `before` is the last version without it that could be asked; `unknown` are those between.
    """

    before: str
    since: str
    unknown: tuple[str, ...] = ()


def bisect(versions: Sequence[str], is_new: Callable[[str], bool | None]) -> Turn:
    """Find where the answer turns, in at most log2 of the versions' number of questions.

    The first of `versions` has the old answer and the last the new one. `is_new` says which one a
    version has, None where it cannot be asked. Where the answer turns more than once, one of the
    turns is found.
    """
    low, high = 0, len(versions) - 1
    unknown: set[int] = set()
    while True:
        left = [index for index in range(low + 1, high) if index not in unknown]
        if not left:
            between = tuple(versions[index] for index in range(low + 1, high))
            return Turn(versions[low], versions[high], between)
        middle = left[len(left) // 2]
        new = is_new(versions[middle])
        if new is None:
            unknown.add(middle)
        elif new:
            high = middle
        else:
            low = middle
