"""Whether the derivatives that cases expect exist: no kink, tie, pole or bound is at the point."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from conformance.answers.tolerances import has_corner
from conformance.asking.ask import ask
from conformance.asking.events import Answered, TargetFailed
from conformance.corpus.language.case import Case
from conformance.corpus.language.derivative import forwards_of
from conformance.targets.specification import Target


@dataclass
class Derivatives:
    """What a target's forwards say of the cases that expect a derivative."""

    checked: int = 0
    lacking: int = 0
    faults: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        """The counts, for a person."""
        return f"derivative: {self.checked} checked, {self.lacking} that the target lacks"


def check_derivatives(cases: Sequence[Case], target: Target) -> Derivatives:
    """Ask a target for every derivative that a case expects, and refuse those that are none."""
    found, by_id = Derivatives(), {case.id: case for case in cases}
    for event in ask(cases, [target], wanted=lambda cell: not cell.runs):
        if isinstance(event, TargetFailed):
            found.faults.append(f"{event.target} did not start: {event.reason}")
        elif isinstance(event, Answered) and event.answer.outcome == "unsupported":
            found.lacking += 1
        elif isinstance(event, Answered):
            found.checked += 1
            found.faults += _faults(by_id[event.cell.case], event)
    return found


def _faults(case: Case, event: Answered) -> Iterator[str]:
    if event.answer.outcome != "answered":
        yield f"{case.place}: {event.answer.outcome}: {event.answer.detail}"
    for name, derivative in event.answer.derivatives.items():
        where = f"{case.place}.expect.{name}"
        if derivative.fault:
            yield f"{where}: there is no derivative: {derivative.fault}"
        elif has_corner(derivative, forwards_of(case)[name].order):
            yield (
                f"{where}: there is no derivative: two step sizes, or both sides, differ;"
                " move the point away from the kink, tie, pole or bound, or declare the value"
            )
