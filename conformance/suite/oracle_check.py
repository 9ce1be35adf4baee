"""What running the oracle shows of cases: contradictions, unknown names, bounds that are coarse."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from conformance.answers.answer import Answer, Raised
from conformance.answers.tolerances import bounds_for, floors_of
from conformance.asking.ask import ORACLE, ask
from conformance.asking.events import Answered
from conformance.corpus.language.case import MODES, Case
from conformance.corpus.language.lowering import lower
from conformance.verdicts.findings import Finding, Findings, Reviewer

NO_ATTRIBUTE = re.compile(r"has no attribute '(\w+)'")


def faults_against_oracle(cases: Sequence[Case], answers: dict[str, Answer]) -> Iterator[str]:
    """Ask the oracle, and say where it contradicts a case and which bounds are too coarse.

    What the oracle declares to lack has the declaration as its only witness.
    The oracle's answers are put into `answers`, by case.
    """
    by_id = {case.id: case for case in cases}
    reviewer = Reviewer(Findings({"reference": ("eager",)}), cases, [])
    for event in ask(cases, [ORACLE]):
        if isinstance(event, Answered):
            answers[event.cell.case] = event.answer
            yield from _coarse(by_id[event.cell.case], event)
        for judged in reviewer.add(event):
            if judged.verdict not in ("pass", "not_applicable", "unsupported", "surveyed"):
                yield f"{judged.case.place}: {_unknown_name(judged) or _disagreement(judged)}"


def _disagreement(judged: Finding) -> str:
    found = [f"{m.where}: got {m.got}, expected {m.expected}" for m in judged.mismatches]
    why = judged.note or "; ".join(found)
    return f"the oracle does not agree: {judged.verdict}: {why}"


def _unknown_name(judged: Finding) -> str:
    """The framework's name that a program uses and the oracle lacks; else nothing."""
    for value in (judged.answer.error, *judged.answer.observations.values()):
        missing = NO_ATTRIBUTE.search(value.message) if isinstance(value, Raised) else None
        for name in sorted(judged.lowered.uses) if missing else ():
            if missing and missing[1] in name.split("."):
                return f"the oracle has no tf.{name}: no second witness can answer this case"
    return ""


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
