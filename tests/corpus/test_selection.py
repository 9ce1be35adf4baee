"""Choosing cases by ids, files, areas, tags and keywords, and telling words apart."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.closing import UsageError
from conformance.corpus.selection import (
    MAX_NESTING,
    NothingSelected,
    Selection,
    matcher,
    select,
    words_by_kind,
)


@dataclass(frozen=True)
class Case:
    id: str
    title: str = "A fact"
    tags: tuple[str, ...] = ()
    formerly: str = ""

    @property
    def area(self) -> str:
        return self.id.split("/")[0]

    @property
    def file(self) -> str:
        return f"cases/{self.id.rsplit('/', 1)[0]}.yaml"


CASES = [
    Case("persistence/queries/once", "A tape answers once", ("scalar",)),
    Case("persistence/queries/twice", "A persistent tape answers twice"),
    Case("persistence/reset/once", "A reset tape", ("kink", "scalar")),
    Case("watching/default/variables", "Variables are watched", ("dtype", "strings")),
]
ONCE, TWICE, RESET, WATCHED = CASES


@pytest.mark.parametrize(
    ("selection", "chosen"),
    [
        (Selection(), CASES),
        (Selection(("persistence/queries/once",)), [ONCE]),
        (Selection(("persistence/queries",)), [ONCE, TWICE]),
        (Selection(("persistence/queries/",)), [ONCE, TWICE]),
        (Selection(("persistence",)), [ONCE, TWICE, RESET]),
        (Selection(("cases/persistence/reset.yaml",)), [RESET]),
        (Selection(("reset.yaml",)), [RESET]),
        (Selection(("cases/watching",)), [WATCHED]),
        (Selection(("*/once",)), [ONCE, RESET]),
        (Selection(("watching", "persistence/reset")), [RESET, WATCHED]),
        (Selection(areas=("watching", "persistence")), CASES),
        (Selection(tags=("kink", "dtype")), [RESET, WATCHED]),
        (Selection(tags=("kink", "dtype"), portable=True), [RESET]),
        (Selection(keyword="tape and not reset"), [ONCE, TWICE]),
        (Selection(("persistence",), "once", ("persistence",), ("scalar",)), [ONCE, RESET]),
    ],
)
def test_what_is_chosen(selection: Selection, chosen: list[Case]) -> None:
    assert select(CASES, selection) == chosen
    assert selection.everything == (selection == Selection())


@pytest.mark.parametrize(
    ("selection", "said"),
    [
        (Selection(("persistence/querys",)), "no case matches 'persistence/querys' (did you mean"),
        (Selection(("watching", "nowhere/at/all")), "no case matches 'nowhere/at/all'"),
        (Selection(areas=("watchin",)), "no area 'watchin' (did you mean watching?)"),
        (Selection(areas=("q",)), "no area 'q' (known: persistence, watching)"),
        (Selection(tags=("kinks",)), "no case has the tag 'kinks' (did you mean kink?)"),
        (Selection(keyword="moon"), "no case matches -k 'moon'"),
        (Selection(("watching",), areas=("persistence",)), "no case matches the selection"),
        (Selection(("\x1b[31m",)), "no case matches '\\x1b[31m'"),
    ],
)
def test_nothing_chosen_is_explained(selection: Selection, said: str) -> None:
    with pytest.raises(NothingSelected) as caught:
        select(CASES, selection)
    assert said in str(caught.value)


def test_tags_can_be_more_than_what_was_typed() -> None:
    chosen = select(CASES, Selection(tags=("short",)), lambda case: ["short"] * (case == TWICE))
    assert chosen == [TWICE]


def test_words_are_told_apart() -> None:
    words = ("persistence", "tensorflow", "persistance", "watching/defalt", "numpy", "reset.yaml")
    found = words_by_kind(words, CASES, lambda word: word == "tensorflow")
    assert found.cases == ("persistence", "reset.yaml")
    assert found.targets == ("tensorflow", "numpy")
    assert found.unknown["persistance"] == " (did you mean persistence?)"
    assert "watching/default" in found.unknown["watching/defalt"]
    assert len(found.unknown) == 2


@pytest.mark.parametrize(
    ("expression", "text", "meets"),
    [
        ("", "anything", True),
        ("TAPE", "a tape", True),
        ("second order", "of second order", True),
        ("second order", "order second", False),
        ("a or b and c", "a", True),
        ("(a or b) and c", "a", False),
        ("not a", "b", True),
        ("not not a", "b", False),
        ("not (a or b)", "c", True),
        ("a and not b or c", "bc", True),
        ("nota", "nota", True),
    ],
)
def test_a_keyword_expression(expression: str, text: str, meets: bool) -> None:
    assert matcher(expression)(text) is meets


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("(a", "expected ')', got the end"),
        ("a)", "expected the end, got ')'"),
        ("and", "expected a word, got 'and'"),
        ("a or", "expected a word, got the end"),
        ("()", "expected a word, got ')'"),
        ("(" * 3000 + "a" + ")" * 3000, "nested too deeply"),
        ("(" * (MAX_NESTING + 1), "nested too deeply"),
        ("not " * 5000 + "a", "longer than"),
    ],
)
def test_an_expression_that_cannot_be_read(expression: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        matcher(expression)
    assert said in str(caught.value)
    assert len(str(caught.value)) < 500


@given(st.lists(st.sampled_from(["a", "b", "and", "or", "not", "(", ")"]), max_size=12))
def test_it_means_what_python_means(words: list[str]) -> None:
    expression = " ".join(words)
    try:
        meets = matcher(expression)
    except UsageError:
        return
    phrases = expression.replace("a a", "a").replace("b b", "b")
    if "a b" in phrases or "b a" in phrases or phrases != expression or not words:
        return
    for text in ("", "a", "b", "a b"):
        assert meets(text) == eval(expression, {"a": "a" in text, "b": "b" in text})
