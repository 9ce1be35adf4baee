"""Keyword expressions, as pytest's -k has them: words with and, or, not and parentheses."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import takewhile
from typing import TypeAlias

from conformance.closing import UsageError

Matches: TypeAlias = Callable[[str], bool]
_OPERATORS = ("and", "or", "not", "(", ")")


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
