"""What running the oracle shows of cases: contradictions, unknown names, bounds that are coarse."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from conformance.answers.answer import Answer
from conformance.answers.tolerances import bounds_for, floors_of
from conformance.asking.ask import ORACLE, ask
from conformance.asking.events import Answered
from conformance.corpus.language.case import MODES, Case, ExpectedOracle
from conformance.corpus.language.lowering import lower
from conformance.verdicts.findings import Finding, Findings, Reviewer


def faults_against_oracle(cases: Sequence[Case], answers: dict[str, Answer]) -> Iterator[str]:
    """Ask the oracle, and say where it contradicts a case and which bounds are too coarse.

    What the oracle declares to lack has the declaration as its only witness.
    The oracle's answers are put into `answers`, by case.
    """
    by_id = {case.id: case for case in cases}
    reviewer = Reviewer(Findings({"reference": ("eager",)}), cases, [])
    for event in ask(cases, [ORACLE]):
        if isinstance(event, Answered) and event.cell.runs:
            answers[event.cell.case] = event.answer
            yield from _coarse(by_id[event.cell.case], event)
        for judged in reviewer.add(event):
            if judged.verdict not in ("pass", "not_applicable", "unsupported", "surveyed"):
                yield f"{judged.case.place}: {_disagreement(judged)}"
            elif judged.verdict == "unsupported":
                yield from _unheard(judged)


def _unheard(judged: Finding) -> Iterator[str]:
    """What a case leaves to the oracle, which lacks what the program uses."""
    for name, expected in judged.case.expect.items():
        if isinstance(expected, ExpectedOracle):
            yield f"{judged.case.place}.expect.{name}: {judged.note}: declare the value"


def _disagreement(judged: Finding) -> str:
    found = [f"{m.where}: got {m.got}, expected {m.expected}" for m in judged.mismatches]
    why = judged.note or "; ".join(found)
    return f"the oracle does not agree: {judged.verdict}: {why}"


def _coarse(case: Case, event: Answered) -> Iterator[str]:
    """Expectations of any mode that would let a large error pass, by that mode's bound."""
    operations = lower(case).operations
    for mode in MODES:
        own = case.overrides_in(mode) if mode != "eager" else {}
        for name, expected in (own or case.expect).items():
            word = None if own else event.answer.observations.get(name)
            for found in floors_of(expected, bounds_for(mode, operations), oracle=word):
                if found.is_coarse:
                    yield f"{case.place}.expect.{name} in {mode}: {found}"
