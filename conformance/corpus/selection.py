"""Choosing cases: ids, files, areas, tags and words, with the nearest names where none match."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import takewhile
from pathlib import Path
from typing import Protocol, TypeAlias, TypeVar

from conformance.closing import UsageError
from conformance.text import did_you_mean

Matches: TypeAlias = Callable[[str], bool]
_OPERATORS = ("and", "or", "not", "(", ")")


class Selectable(Protocol):
    """What choosing needs of a case."""

    @property
    def id(self) -> str:
        """area/topic/name."""

    @property
    def title(self) -> str:
        """The fact, as a sentence."""

    @property
    def area(self) -> str:
        """The first part of the id."""

    @property
    def file(self) -> str:
        """The file that declares it."""

    @property
    def tags(self) -> tuple[str, ...]:
        """What it is tagged with."""


Chosen = TypeVar("Chosen", bound=Selectable)


class NothingSelected(Exception):
    """The selection matches no case; the message names the nearest ids."""


@dataclass(frozen=True)
class Selection:
    """Which cases to take: ids or paths, a substring expression, areas and tags."""

    words: tuple[str, ...] = ()
    keyword: str = ""
    areas: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()

    @property
    def everything(self) -> bool:
        """Whether nothing narrows the corpus."""
        return not (self.words or self.keyword or self.areas or self.tags)


def select(
    cases: Sequence[Chosen],
    selection: Selection,
    tags_of: Callable[[Chosen], Sequence[str]] = lambda case: case.tags,
) -> list[Chosen]:
    """The cases that the selection takes.

    `tags_of` gives what a case is selected by as a tag. Errors: NothingSelected for any part that
    takes none, UsageError for a keyword expression that cannot be read.
    """
    chosen = [case for case in cases if _named(case, selection.words)]
    for word in selection.words:
        if not any(_matches(case, word) for case in cases):
            raise NothingSelected(f"no case matches '{word}'{_nearest(word, cases)}")
    for area in selection.areas:
        if area not in {case.area for case in cases}:
            raise NothingSelected(f"no area '{area}'{_near(area, {case.area for case in cases})}")
    known = {word for case in cases for word in tags_of(case)} if selection.tags else set()
    for tag in selection.tags:
        if tag not in known:
            raise NothingSelected(f"no case has the tag '{tag}'{_near(tag, known)}")
    chosen = [case for case in chosen if not selection.areas or case.area in selection.areas]
    chosen = [
        case for case in chosen if not selection.tags or set(selection.tags) & {*tags_of(case)}
    ]
    meets = matcher(selection.keyword)
    chosen = [case for case in chosen if meets(f"{case.id} {case.title}")]
    if not chosen:
        named = f"-k '{selection.keyword}'" if selection.keyword else "the selection"
        raise NothingSelected(f"no case matches {named}{_nearest(selection.keyword, cases)}")
    return chosen


def _named(case: Selectable, words: tuple[str, ...]) -> bool:
    return not words or any(_matches(case, word) for word in words)


def _matches(case: Selectable, word: str) -> bool:
    word = word.removesuffix("/")
    if word.endswith(".yaml"):
        return Path(case.file) == Path(word) or case.file.endswith(f"/{word}")
    word = word.removeprefix("cases/")
    return case.id == word or case.id.startswith(f"{word}/") or fnmatchcase(case.id, word)


def _nearest(word: str, cases: Sequence[Selectable]) -> str:
    return _near(word, {case.id for case in cases} | {case.id.rsplit("/", 1)[0] for case in cases})


def _near(word: str, known: Iterable[str]) -> str:
    return did_you_mean(word, sorted(known), cutoff=0.4)


# ----- keyword expressions -----


def matcher(expression: str) -> Matches:
    """What tells whether a text meets an expression; each word is a substring, in any case.

    Words that stand side by side are one phrase. An empty expression is met by everything.
    Errors: UsageError for an expression that cannot be read.

    >>> matcher("persistent and not (nested or second order)")("A Persistent tape")
    True
    """
    return _Parser(expression).parsed() if expression.strip() else lambda text: True


class _Parser:
    """One way down, from the loosest operator to the words; `left` is what is still unread."""

    def __init__(self, expression: str) -> None:
        self.expression = expression
        self.left = re.findall(r"[()]|[^\s()]+", expression.lower())

    def parsed(self) -> Matches:
        meets = self.either()
        if self.left:
            raise self.fault("the end")
        return lambda text: meets(text.lower())

    def either(self) -> Matches:
        alternatives = [self.both()]
        while self.took("or"):
            alternatives.append(self.both())
        return lambda text: any(meets(text) for meets in alternatives)

    def both(self) -> Matches:
        conditions = [self.one()]
        while self.took("and"):
            conditions.append(self.one())
        return lambda text: all(meets(text) for meets in conditions)

    def one(self) -> Matches:
        if self.took("not"):
            refused = self.one()
            return lambda text: not refused(text)
        if self.took("("):
            inner = self.either()
            if not self.took(")"):
                raise self.fault("')'")
            return inner
        words = list(takewhile(lambda word: word not in _OPERATORS, self.left))
        if not words:
            raise self.fault("a word")
        del self.left[: len(words)]
        phrase = " ".join(words)
        return lambda text: phrase in text

    def took(self, operator: str) -> bool:
        if self.left[:1] != [operator]:
            return False
        del self.left[0]
        return True

    def fault(self, expected: str) -> UsageError:
        got = f"'{self.left[0]}'" if self.left else "the end"
        rule = "words with and, or, not and parentheses"
        return UsageError(f"-k '{self.expression}': expected {expected}, got {got}: write {rule}")
