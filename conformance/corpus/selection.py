"""Choosing cases: ids, files, areas, tags and words, with the nearest names where none match."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import takewhile
from operator import attrgetter
from pathlib import Path
from typing import TypeAlias, TypeVar

from conformance.closing import UsageError
from conformance.corpus.index import Summary
from conformance.corpus.language.case import Case
from conformance.corpus.language.vocabulary import NOT_PORTABLE
from conformance.corpus.moves import found
from conformance.text import clean, did_you_mean, suggest

Selectable: TypeAlias = "Case | Summary"
Chosen = TypeVar("Chosen", bound="Case | Summary")
Matches: TypeAlias = Callable[[str], bool]
MAX_EXPRESSION = 1_000
MAX_NESTING = 50
_OPERATORS = ("and", "or", "not", "(", ")")


class NothingSelected(UsageError):
    """The selection matches no case; the message names the nearest ids."""

    word = "nothing_ran"


@dataclass(frozen=True)
class Selection:
    """Which cases to take: ids or paths, a substring expression, areas and tags."""

    words: tuple[str, ...] = ()
    keyword: str = ""
    areas: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    portable: bool = False
    """Whether cases about TensorFlow's own ways are left out."""

    @property
    def everything(self) -> bool:
        """Whether nothing narrows the corpus, or what of it is portable."""
        return not (self.words or self.keyword or self.areas or self.tags)


def select(
    cases: Sequence[Chosen],
    selection: Selection,
    tags_of: Callable[[Chosen], Sequence[str]] = attrgetter("tags"),
) -> list[Chosen]:
    """The cases that the selection takes.

    `tags_of` gives what `--tag` selects a case by. Errors: NothingSelected for any part that
    takes none, UsageError for a keyword expression that cannot be read.
    """
    named, of_areas = set[str](), set[str]()
    for word in selection.words:
        of_word = {case.id for case in _named(word, cases)}
        if not of_word:
            raise NothingSelected(f"no case matches '{clean(word)}'{_nearest(word, cases)}")
        named |= of_word
    for area in selection.areas:
        of_area = {case.id for case in _of_area(area, cases)}
        if not of_area:
            _refuse_unknown("no area", [area], {case.area for case in cases})
        of_areas |= of_area
    if selection.tags:
        known = {tag for case in cases for tag in tags_of(case)}
        _refuse_unknown("no case has the tag", selection.tags, known)
    meets = matcher(selection.keyword)
    chosen = [
        case
        for case in cases
        if (not selection.words or case.id in named)
        and (not selection.areas or case.id in of_areas)
        and (not selection.tags or {*selection.tags} & {*tags_of(case)})
        and (not selection.portable or not NOT_PORTABLE.keys() & {*tags_of(case)})
        and meets(f"{case.id} {case.title}")
    ]
    if not chosen:
        told = f"-k '{clean(selection.keyword)}'" if selection.keyword else "the selection"
        raise NothingSelected(f"no case matches {told}{_nearest(selection.keyword, cases)}")
    return chosen


def _of_area(area: str, cases: Sequence[Chosen]) -> list[Chosen]:
    return found(cases, lambda id: id.partition("/")[0] == area)


def _refuse_unknown(why: str, asked: Iterable[str], known: set[str]) -> None:
    for name in asked:
        if name not in known:
            raise NothingSelected(f"{why} '{clean(name)}'{suggest(name, known)}")


@dataclass(frozen=True)
class Words:
    """The words of a command, by what they name; `unknown` has the end of a message for each."""

    cases: tuple[str, ...]
    targets: tuple[str, ...]
    unknown: Mapping[str, str]


def words_by_kind(
    words: Iterable[str], cases: Sequence[Selectable], is_target: Callable[[str], bool]
) -> Words:
    """Which words choose cases (an id, a topic, an area, a file), and which name targets.

    `is_target` says that a word names a target for certain. Any other word that chooses no case
    is unknown where it is written as cases are, or nearly as one of their areas; else it is taken
    for the name of a module.
    """
    areas = {case.area for case in cases}
    chosen, targets, unknown = [], [], {}
    for word in words:
        if is_target(word):
            targets.append(word)
        elif _named(word, cases):
            chosen.append(word)
        elif "/" in word or "*" in word or word.endswith(".yaml"):
            unknown[word] = _nearest(word, cases)
        elif meant := did_you_mean(word, areas, cutoff=0.75):
            unknown[word] = meant
        else:
            targets.append(word)
    return Words(tuple(chosen), tuple(targets), unknown)


def _named(word: str, cases: Sequence[Chosen]) -> list[Chosen]:
    """The cases that a word names by a file, or by an id, a topic, an area or a pattern."""
    word = word.removesuffix("/")
    if word.endswith(".yaml"):
        ends = f"/{word}"
        return [one for one in cases if Path(one.file) == Path(word) or one.file.endswith(ends)]
    word = word.removeprefix("cases/")

    def matches(id: str) -> bool:
        return id == word or id.startswith(f"{word}/") or fnmatchcase(id, word)

    return found(cases, matches)


def _nearest(word: str, cases: Sequence[Selectable]) -> str:
    """The nearest ids and topics, by spelling or else by how their last part begins."""
    names = sorted({case.id for case in cases} | {case.id.rsplit("/", 1)[0] for case in cases})
    begins = [name for name in names if name.rsplit("/", 1)[-1].startswith(word[:4])][:3]
    alike = did_you_mean(word, names, cutoff=0.4)
    return alike or (f" (did you mean {' or '.join(begins)}?)" if word and begins else "")


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
        if len(self.expression) > MAX_EXPRESSION or self.left.count("(") > MAX_NESTING:
            raise UsageError(f"-k: longer than {MAX_EXPRESSION} characters, or nested too deeply")
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
        negations = 0
        while self.took("not"):
            negations += 1
        if negations:
            inner = self.one()
            return lambda text: inner(text) != bool(negations % 2)
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
        got = f"'{clean(self.left[0])}'" if self.left else "the end"
        rule = "words with and, or, not and parentheses"
        return UsageError(
            f"-k '{clean(self.expression)}': expected {expected}, got {got}: write {rule}"
        )
