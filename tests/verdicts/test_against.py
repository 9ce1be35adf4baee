"""A record as a gate: what is worse than it fails, what it has is known, nothing else counts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.answers.answer import Answer
from conformance.verdicts.against import Against
from conformance.verdicts.departures import Departures
from conformance.verdicts.findings import Finding, findings_of
from tests.report.making import CRASH, LACKS, LOST, RIGHT, WRONG, raised
from tests.report.test_of_releases import CASES, DEVIATION, ENTRY, record

LASTING = replace(DEVIATION, entries=(replace(ENTRY, until="2.9"),))


def held(
    old: Answer, new: Answer, *departures: Departures, again: tuple[Answer, ...] = ()
) -> tuple[str, Finding]:
    """The word of a run of 2.9.3 that is held against the record of 2.8.4, and its first cell."""
    before = record("2.8.4", (old, RIGHT), complete=True)
    first = next(one for one in before.answers if one.cell.target != "reference")
    repeats = {first.cell: [replace(first, answer=answer) for answer in again]}
    gate = Against.of(replace(before, repeats=repeats), "tensorflow")
    run = record("2.9.3", (new, RIGHT), complete=True)
    found = findings_of(run, CASES, departures, gate)
    return found.word, found.cells[0]


@pytest.mark.parametrize(
    ("old", "new", "standing"),
    [
        (RIGHT, RIGHT, None),
        (RIGHT, WRONG, "worse"),
        (RIGHT, CRASH, "worse"),
        (RIGHT, raised("no"), "worse"),
        (RIGHT, LACKS, "worse"),
        (LOST, LOST, "known"),
        (LOST, WRONG, "worse"),
        (CRASH, CRASH, "known"),
        (WRONG, RIGHT, None),
        (LACKS, LACKS, None),
    ],
)
def test_what_answers_otherwise_and_falls_short_is_worse(old, new, standing) -> None:
    word, found = held(old, new)
    assert found.standing == standing
    assert (word, found.falls_short) == (
        ("falls_short", True) if standing == "worse" else ("conforms", False)
    )


def test_what_conforms_against_a_departure_is_better() -> None:
    word, found = held(LOST, RIGHT, LASTING)
    assert (found.verdict, found.standing, word) == ("unexpected_pass", "better", "conforms")
    word, found = held(LOST, LOST, LASTING)
    assert (found.verdict, found.standing, word) == ("known_deviation", None, "conforms")
    word, found = held(LOST, WRONG, LASTING)
    assert (found.verdict, found.standing, word) == ("fail", "worse", "falls_short")


def test_any_answer_that_the_record_gave_is_known() -> None:
    assert held(RIGHT, WRONG, again=(WRONG,))[0] == "conforms"
    assert held(RIGHT, WRONG, again=(LOST,))[0] == "falls_short"
