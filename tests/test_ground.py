"""The ground floor: text for people, and how a command ends."""

from __future__ import annotations

from typing import get_args

import pytest

from conformance.closing import EXIT_CODES, Word
from conformance.text import clean, did_you_mean, plural, printable, suggest


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\n\x1b[31mb\u202e", "a \\x1b[31mb\\u202e"),
        ("  two\t words ", "two words"),
        ("\ud800", "\\ud800"),
        ("x" * 1000, "x" * 197 + "..."),
        (12, "12"),
    ],
)
def test_text_is_one_printable_line(text: object, shown: str) -> None:
    assert clean(text) == shown


def test_a_whole_message_is_cut_later_than_a_fact() -> None:
    assert len(printable("x" * 1000)) == 1000
    assert len(printable("x" * 100_000)) == 2000


def test_the_nearest_names_are_suggested_else_the_known_ones() -> None:
    known = ["eager", "graph", "xla"]
    assert suggest("egaer", known) == " (did you mean eager?)"
    assert suggest("q", known) == " (known: eager, graph, xla)"
    assert suggest("q", []) == did_you_mean("q", known) == ""
    assert suggest("q", map(str, range(100))).count(",") == 20
    assert did_you_mean("ab", ["abc", "abd"]) == " (did you mean abd or abc?)"


def test_nouns_are_counted() -> None:
    assert [plural(count, "cell") for count in (0, 1, 2)] == ["0 cells", "1 cell", "2 cells"]


def test_each_closing_word_has_its_own_exit_code() -> None:
    assert set(EXIT_CODES) == set(get_args(Word))
    assert len(set(EXIT_CODES.values())) == len(EXIT_CODES)
