"""Evidence made by hand: a case, an answer and the oracle's, for a program that is only counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance.answers.answer import Answer
from conformance.answers.wire import value_of
from conformance.corpus.language.case import Case
from conformance.corpus.language.lowering import Lowered
from conformance.verdicts.judge import Evidence


@dataclass(frozen=True)
class Counted(Lowered):
    """A program of which only the names, the size and the dependencies are known."""

    depends: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @property
    def dependencies(self) -> dict[str, frozenset[str]]:
        return dict(self.depends)


def evidence(
    case: Case,
    answer: Answer,
    oracle: Answer | None,
    mode: str = "eager",
    operations: int = 1,
    dependencies: Mapping[str, frozenset[str]] | None = None,
) -> Evidence:
    program = Counted("", "", (), case.observed, False, operations, depends=dependencies or {})
    return Evidence(case, mode, typed(answer), typed(oracle) if oracle else None, program)


def typed(answer: Answer) -> Answer:
    """An answer whose values may be written as they stand on the wire."""
    values = {name: _value(value) for name, value in answer.observations.items()}
    error = None if answer.error is None else _value(answer.error)
    warnings, detail = tuple(answer.warnings), answer.detail
    return Answer(answer.outcome, values, error, warnings, detail, answer.seconds)


def _value(written: Any) -> Any:
    return value_of(written) if isinstance(written, dict) else written
