"""Judging as answers arrive: no verdict by one witness alone, and no more kept than is needed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.answers.answer import Answer
from conformance.asking.ask import ORACLE, ask
from conformance.asking.events import Answered, TargetReady
from conformance.corpus.language.loader import load_text
from conformance.verdicts.findings import ORACLE_LABEL, Findings, Reviewer
from tests.asking.making import TEXT

CASES = load_text(TEXT)
TAPE = "./tape.py"


@pytest.fixture(scope="module")
def oracle() -> list[Answered]:
    """The oracle's answers."""
    return [event for event in ask(CASES, [ORACLE]) if isinstance(event, Answered)]


def of_tape(answers: list[Answered]) -> list[Answered]:
    """The same answers, of a target."""
    return [replace(event, cell=replace(event.cell, target=TAPE)) for event in answers]


@pytest.mark.parametrize("oracle_first", [True, False])
def test_a_cell_is_judged_when_both_witnesses_are_heard(
    oracle: list[Answered], oracle_first: bool
) -> None:
    reviewer = Reviewer(Findings({TAPE: ("eager",)}), CASES, [])
    events = [*oracle, *of_tape(oracle)] if oracle_first else [*of_tape(oracle), *oracle]
    judged = [found for event in events for found in reviewer.add(event)]
    assert {(found.cell.target, found.verdict) for found in judged} == {
        (TAPE, "pass"),
        (ORACLE_LABEL, "pass"),
    }
    assert reviewer.finish() == []


def test_a_cell_that_the_oracle_never_answered_has_no_verdict(oracle: list[Answered]) -> None:
    results = Findings({TAPE: ("eager",)}, complete=True)
    reviewer = Reviewer(results, CASES, [])
    reviewer.add(TargetReady(TAPE, {"version": "1"}))
    assert [found for event in of_tape(oracle) for found in reviewer.add(event)] == []
    assert {found.verdict for found in reviewer.finish()} == {"not_run"}
    assert results.word == "nothing_ran"


def test_cells_stand_by_target_case_and_mode(oracle: list[Answered]) -> None:
    results = Findings({TAPE: ("graph", "eager"), "other": ("eager",)})
    reviewer = Reviewer(results, CASES, [])
    asked = [(TAPE, "graph"), ("other", "eager"), (TAPE, "eager")]
    for event in [*oracle[::-1]]:
        for target, mode in asked:
            cell = replace(event.cell, target=target, mode=mode)
            reviewer.add(replace(event, cell=cell))
        reviewer.add(event)
    reviewer.finish()
    found = [(judged.cell.target, judged.cell.case, judged.cell.mode) for judged in results.cells]
    due = [(TAPE, case.id, mode) for case in CASES for mode in ("eager", "graph")]
    assert found == [*due, *(("other", case.id, "eager") for case in CASES)]


@pytest.mark.parametrize("compared", [True, False])
def test_observations_are_kept_where_they_are_compared_later(
    oracle: list[Answered], compared: bool
) -> None:
    results = Findings({ORACLE_LABEL: ("eager",)})
    reviewer = Reviewer(results, CASES, [], compared=compared)
    for event in oracle:
        reviewer.add(event)
    assert {found.verdict for found in results.everything} == {"pass"}
    assert {bool(found.answer.observations) for found in results.everything} == {compared}


def test_a_cell_that_answered_otherwise_when_asked_again_is_unstable(
    oracle: list[Answered],
) -> None:
    findings = Findings({TAPE: ("eager",)})
    reviewer = Reviewer(findings, CASES, [])
    first, *others = of_tape(oracle)
    again = replace(first, answer=Answer("crash", detail="ended by signal SIGSEGV"), repeat=1)
    steady = [replace(event, repeat=1) for event in others]
    for event in [*oracle, first, *others, again, *steady]:
        reviewer.add(event)
    reviewer.finish()
    assert [finding.unstable for finding in findings.cells] == [True, *[False] * len(others)]


def test_an_oracle_that_its_cases_contradict_makes_a_run_untrustworthy(
    oracle: list[Answered],
) -> None:
    findings = Findings({TAPE: ("eager",)}, complete=True)
    reviewer = Reviewer(findings, CASES, [])
    wrong = replace(oracle[0], answer=Answer("timeout"))
    for event in [wrong, *oracle[1:], *of_tape(oracle)]:
        reviewer.add(event)
    assert [finding.cell for finding in findings.oracle_faults] == [wrong.cell]
    assert findings.word == "untrustworthy"
