"""Turns: what a user notices of a change, and which cause began or ended."""

from __future__ import annotations

import pytest

from conformance.answers.answer import Answer, NoneValue, Raised
from conformance.corpus.language.case import ExpectedNone, Place
from conformance.verdicts.causes import Cause, Causes
from conformance.verdicts.changes import changes_between
from conformance.verdicts.departures import Departure, Departures
from conformance.verdicts.turns import effect_of, turns_of
from tests.verdicts.making_sides import ABOUT, CASE, cell, side

PLACE = Place("deviations/causes.yaml", 1, 1, "$")
NONE, CRASH = Answer("answered", {"g": NoneValue()}), Answer("crash", detail="SIGSEGV")


def raised(message: str, kind: str = "ValueError") -> Answer:
    error = Raised(kind, (kind, "Exception"), message)
    return Answer("answered", {"g": error}, error)


@pytest.mark.parametrize(
    ("old", "new", "mode", "effect"),
    [
        (1.0, 2.0, "eager", "silent value"),
        (NONE, 2.0, "eager", "silent value"),
        (1.0, NONE, "eager", "None for a value"),
        (1.0, CRASH, "eager", "crash"),
        (CRASH, 1.0, "xla", "crash"),
        (1.0, raised("no"), "eager", "raises"),
        (raised("no"), raised("no", "TypeError"), "eager", "raises"),
        (raised("no"), 1.0, "graph", "no longer raises"),
        (raised("no"), 1.0, "xla", "compiles"),
        (raised("no"), raised("never"), "xla", "message"),
    ],
)
def test_the_effect_is_what_a_user_notices(old, new, mode, effect) -> None:
    sides = (
        side(cell(old, mode=mode), about={**ABOUT, "version": "2.8.4"}),
        side(cell(new, mode=mode)),
    )
    (change,) = changes_between(*sides).changes
    assert effect_of(change) == effect


def entry(name: str, since: str, until: str, case: str = CASE) -> Departure:
    none = {"g": ExpectedNone()}
    return Departure(name, (case,), ("eager",), "bug", PLACE, none, since=since, until=until)


def turned(*entries: Departure) -> list[tuple[str, str, int]]:
    """What turned from 2.8.4 to 2.21.0, where two cells and the words of a third changed."""
    cases = CASE, "area/topic/other"
    words = [cell(raised(text), "area/topic/words") for text in ("no", "never")]
    old = side(*(cell(1.0, case) for case in cases), words[0], about={**ABOUT, "version": "2.8.4"})
    new = side(cell(raised("no"), cases[0]), cell(2.0, cases[1]), words[1])
    cause = Cause("one", "One.", entries, PLACE, "raises", "")
    found = changes_between(old, new, [Departures("tensorflow", entries)])
    return [
        (turn.word, turn.effect, len(turn.changes)) for turn in turns_of(found, Causes((cause,)))
    ]


def test_a_cause_begins_ends_or_changes_by_what_its_departures_say_of_both_versions() -> None:
    rest = [("", "silent value", 1), ("", "message", 1)]
    assert turned(entry("a", "2.9", "2.21")) == [("begins", "raises", 1), *rest]
    assert turned(entry("a", "2.5", "2.8")) == [("ends", "raises", 1), *rest]
    both = entry("a", "2.5", "2.8"), entry("b", "2.9", "2.21")
    assert turned(*both) == [("changes", "raises", 1), *rest]


def test_the_changes_of_a_cause_are_one_turn_of_the_gravest_effect() -> None:
    both = entry("a", "2.9", "2.21"), entry("b", "2.9", "2.21", "area/topic/*")
    assert turned(*both) == [("begins", "silent value", 2), ("", "message", 1)]
