"""Evidence made by hand: a case, an answer and the oracle's, for a program that is only counted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.answers.answer import Answer
from conformance.answers.wire import value_of
from conformance.corpus.language.case import Case
from conformance.corpus.language.lowering import Lowered
from conformance.verdicts.judge import Evidence


def evidence(
    case: Case,
    answer: Answer,
    oracle: Answer | None,
    mode: str = "eager",
    operations: int = 1,
    dependencies: Mapping[str, frozenset[str]] | None = None,
) -> Evidence:
    program = Lowered("", "", (), case.observed)
    vars(program).update(operations=operations, dependencies=dependencies or {})
    return Evidence(case, mode, typed(answer), typed(oracle) if oracle else None, program)


def typed(answer: Answer) -> Answer:
    """An answer whose values may be written as they stand on the wire."""
    values = {name: _value(value) for name, value in answer.observations.items()}
    error = None if answer.error is None else _value(answer.error)
    warnings, detail = tuple(answer.warnings), answer.detail
    return Answer(answer.outcome, values, error, warnings, detail, answer.seconds)


def _value(written: Any) -> Any:
    return value_of(written) if isinstance(written, dict) else written
