"""Evidence and departures made by hand, for a program that is only counted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.answers.answer import Answer
from conformance.answers.wire import value_of
from conformance.corpus.language.case import Case, ExpectedTensor
from conformance.verdicts.departures import Departure
from conformance.verdicts.judge import Evidence
from tests.answers.strategies import OBSERVATIONS
from tests.answers.wire import PLACE, program

VALUES = OBSERVATIONS.map(value_of)
"""Every value that a target can give."""


def evidence(
    case: Case,
    answer: Answer,
    oracle: Answer | None,
    mode: str = "eager",
    operations: int = 1,
    dependencies: Mapping[str, frozenset[str]] | None = None,
) -> Evidence:
    return Evidence(case, mode, answer, oracle, program(case, operations, dependencies))


def departure(**changes: Any) -> Departure:
    """A documented bug, but for these changes."""
    given: dict[str, Any] = {
        "name": "doubled",
        "cases": ("area/topic/*",),
        "modes": ("eager", "graph"),
        "kind": "bug",
        "place": PLACE,
        "since": "2.8",
        "until": "2.15",
        "answer": {"g": ExpectedTensor(7.0)},
        "right": "the documentation",
        "reason": "it is doubled",
        "link": "https://example.org/1",
    }
    return Departure(**{**given, **changes})
