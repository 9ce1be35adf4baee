"""Moved cases: the one place that leads from the id that a case had before to its id of today."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from typing import Protocol, TypeVar


class Movable(Protocol):
    """A case, or its summary: it has an id, and may have had another one before."""

    @property
    def id(self) -> str:
        """The id of today."""

    @property
    def formerly(self) -> str:
        """The id that it had before it was moved; empty where it was not."""


Moved = TypeVar("Moved", bound=Movable)


def found(cases: Iterable[Moved], matches: Callable[[str], bool]) -> list[Moved]:
    """The cases whose id matches; where none does, those whose former id did."""
    cases = list(cases)
    today = [case for case in cases if matches(case.id)]
    return today or [case for case in cases if case.formerly and matches(case.formerly)]


def ids_of_today(cases: Iterable[Movable]) -> dict[str, str]:
    """The id that each moved case has today, by the id that it had."""
    return {case.formerly: case.id for case in cases if case.formerly}


def names_of_today(names: Iterable[str], cases: Mapping[str, Movable]) -> Iterator[str]:
    """The ids and patterns of today for ids and patterns of any time, of these cases by id.

    A name that matches no case, then or now, stays.
    """
    for name in names:
        named = [] if name in cases else found(cases.values(), partial(fnmatchcase, pat=name))
        moved = [case.id for case in named if not fnmatchcase(case.id, name)]
        yield from moved or [name]


def contradictions(cases: Sequence[Moved]) -> Iterator[tuple[Moved, str]]:
    """The cases whose id, or former id, leads to another case too, and what is wrong with it."""
    taken: dict[str, Moved] = {}
    for case in cases:
        if taken.setdefault(case.id, case) is not case:
            yield case, f"a second case of the id {case.id}: an id names one case"
    for case in cases:
        other = taken.setdefault(case.formerly, case) if case.formerly else case
        if other is not case or case.formerly == case.id:
            claim = "is the id" if other.id == case.formerly else "is formerly that"
            yield case, f"formerly: {case.formerly} {claim} of {other.id}: an id names one case"
