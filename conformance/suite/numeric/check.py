"""What difference quotients say of every case: which were checked, which were not, and why."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from conformance.answers.answer import Answer, Raised, Slices, Structure, Tensor, Value
from conformance.answers.compare import NothingCompared, compare_value
from conformance.answers.tolerances import bounds_for
from conformance.asking.ask import ask
from conformance.asking.events import Answered, TargetFailed
from conformance.corpus.language.case import Case
from conformance.corpus.language.derivative import has_derivative
from conformance.corpus.language.literals import WIRE
from conformance.corpus.language.lowering import Lowered, lower
from conformance.corpus.language.vocabulary import CONVENTIONS
from conformance.targets.specification import Target

DOUBLE = Target("numeric", "conformance.suite.numeric.inside.target", ("eager",), attribute="tf")
"""The oracle in float64, whose tapes check their own answers."""
PREFIX = "numeric: "
"""What marks the warnings in which it says what it found."""
TIMEOUT = 60.0

LEAST_SHARE = 0.97
"""The share of the corpus's smooth cases that must be checked: it must not shrink in silence."""
FLOATS = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")


@dataclass(frozen=True)
class Checked:
    """What was found of one answer: elements compared, perhaps a fault, or why there are none."""

    line: int
    query: str
    source: int
    elements: int = 0
    nonzero: int = 0
    fault: str = ""
    reason: str = ""


@dataclass
class Numeric:
    """Everything that was found, case by case; `skipped` are the cases without a checked answer."""

    checked: dict[str, list[Checked]] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    partly: Counter[str] = field(default_factory=Counter)
    smooth: int = 0
    faults: list[str] = field(default_factory=list)

    @property
    def share(self) -> float:
        """The share of the smooth cases that ask for a gradient and had one checked."""
        return len(self.checked) / self.smooth if self.smooth else 0.0

    def lines(self, verbose: bool = False) -> Iterator[str]:
        """The counts, for a person; `verbose` names every case that was not checked."""
        answers = [finding for found in self.checked.values() for finding in found]
        yield (
            f"numeric: {len(self.checked)} cases checked"
            f" ({sum(finding.elements > 0 for finding in answers)} answers,"
            f" {sum(finding.elements for finding in answers)} elements,"
            f" {sum(finding.nonzero for finding in answers)} of them not zero),"
            f" {len(self.skipped)} not; {self.share:.1%} of those that are smooth"
        )
        for reason, count in Counter(self.skipped.values()).most_common():
            yield f"  {count:4} not checked: {reason}"
            named = (case for case, why in self.skipped.items() if verbose and why == reason)
            yield from (f"         {case}" for case in named)
        for reason, count in self.partly.most_common():
            yield f"  {count:4} answers of checked cases left out: {reason}"


NOT_APPLICABLE = "not applicable in eager mode"
ENDED = "the oracle ends in an error"
REFUSED = "an error is the answer"
NO_QUERY = "no gradient is asked for"
LACKING = "the oracle lacks the operation: each target is held against its own forward"
BY_WORKER = ("an integer or string source", "an answer without elements")
NOT_SMOOTH = {NOT_APPLICABLE, ENDED, REFUSED, NO_QUERY, LACKING, *BY_WORKER}
NOT_SMOOTH |= {f"tagged {tag}" for tag in CONVENTIONS}
"""Reasons that are the case's own; others are limits of this check, and the share shows them."""
BEYOND = "beyond the range of its dtype"
"""Why a declared value is not compared: it overflows, and a float64 does not."""


def check_numerically(
    cases: Sequence[Case], usual: Mapping[str, Answer], *, oracle: Sequence[str] = ()
) -> Numeric:
    """Hold every smooth case against difference quotients.

    usual: the oracle's answers in the dtypes that the cases declare, by case.
    oracle: where `reference_impl` is looked for first, for a copy of it.
    """
    numeric = Numeric()
    for case in cases:
        for tag in [tag for tag in case.tags if tag in CONVENTIONS][:1]:
            numeric.skipped[case.id] = f"tagged {tag}"
        if case.id in usual and usual[case.id].outcome == "unsupported":
            numeric.skipped[case.id] = LACKING
    by_id = {case.id: case for case in cases if case.id not in numeric.skipped}
    target = replace(DOUBLE, path=tuple(oracle))
    asked = ask(
        [*by_id.values()], [target], timeout=TIMEOUT, workers=2, wanted=lambda cell: cell.runs
    )
    for event in asked:
        if isinstance(event, TargetFailed):
            numeric.faults.append(f"the numeric check does not start: {event.reason}")
        elif isinstance(event, Answered):
            case = by_id[event.cell.case]
            _add(numeric, case, event.answer, usual.get(case.id))
    numeric.smooth = len(cases) - sum(why in NOT_SMOOTH for why in numeric.skipped.values())
    return numeric


def _add(numeric: Numeric, case: Case, answer: Answer, usual: Answer | None) -> None:
    """Sort one case's answer in."""
    if answer.outcome != "answered":
        applicable = answer.outcome != "not_applicable"
        numeric.skipped[case.id] = answer.outcome if applicable else NOT_APPLICABLE
        return
    lowered = lower(case)
    found = list(_findings(answer.warnings))
    for finding in found:
        if finding.fault:
            where = f"{case.file}:{line_of_file(case, lowered, finding.line)} {case.id}"
            asked = f"{finding.query} of source {finding.source}"
            numeric.faults.append(f"{where}: mathematics contradicts {asked}{finding.fault}")
    if any(finding.elements for finding in found):
        numeric.checked[case.id] = found
        numeric.partly.update(finding.reason for finding in found if finding.reason)
        if usual is not None:
            numeric.faults += _declared(numeric, case, lowered, answer, usual)
    else:
        reasons = [finding.reason for finding in found if finding.reason]
        numeric.skipped[case.id] = reasons[0] if reasons else _why_no_answer(answer, usual)


def _why_no_answer(answer: Answer, usual: Answer | None) -> str:
    if answer.error is not None:
        fails_anyway = usual is None or usual.error is not None
        return ENDED if fails_anyway else "the oracle in float64 ends in an error"
    refused = any(isinstance(value, Raised) for value in answer.observations.values())
    return REFUSED if refused else NO_QUERY


def _findings(warnings: Iterable[str]) -> Iterator[Checked]:
    """What a worker says, untrusted."""
    for warning in warnings:
        if warning.startswith(PREFIX):
            said = json.loads(warning[len(PREFIX) :])
            if said.pop("direct") or "fault" in said:
                yield Checked(**said)


def line_of_file(case: Case, lowered: Lowered, line: int) -> int:
    """The line of the case's file that became this line of its lowered text."""
    text = lowered.source.splitlines()
    if not 0 < line <= len(text):
        return case.place.line
    before = [part.strip() for part in text[: line - 1]]
    wanted = text[line - 1].strip()
    for program, first in ((case.setup, case.setup_line), (case.run, case.run_line)):
        written = [part.strip() for part in program.splitlines()]
        places = [number for number, part in enumerate(written) if part == wanted]
        if places and first:
            return first + places[min(before.count(wanted), len(places) - 1)]
    return case.place.line


# ----- declared values against the oracle in float64 -----


def _declared(
    numeric: Numeric, case: Case, lowered: Lowered, answer: Answer, usual: Answer
) -> Iterator[str]:
    """The declared values that the oracle in float64, itself checked, contradicts."""
    bounds = bounds_for("eager", lowered.operations)
    for name, expected in case.expectations_in("eager").items():
        told, double = usual.observations.get(name), answer.observations.get(name)
        if told is None or double is None or has_derivative(expected):
            continue  # a derivative declares no value
        narrowed = _like(double, told)
        if narrowed is None:
            numeric.partly[BEYOND] += 1
            continue
        with contextlib.suppress(NothingCompared):
            against = compare_value(expected, narrowed, bounds, name=name, oracle=told)
            for found in against.mismatches:
                yield (
                    f"{case.place}.expect.{name}: mathematics contradicts the declared value:"
                    f" {found.where}: got {found.got} in float64, declared {found.expected}"
                )


def _like(double: Value, told: Value) -> Value | None:
    """A value in float64 with the dtypes of the usual one; None where they cannot be alike.

    What is no float, or of another kind, is the usual one.
    """
    if isinstance(double, Tensor) and isinstance(told, Tensor):
        return _cast(double, told) if told.dtype in FLOATS else told
    if isinstance(double, Structure) and isinstance(told, Structure) and double.kind == told.kind:
        items = [_like(a, b) for a, b in zip(double.items, told.items, strict=True)]
        found = tuple(item for item in items if item is not None)
        return replace(double, items=found) if len(found) == len(items) else None
    if isinstance(double, Slices) and isinstance(told, Slices):
        values = _like(double.values, told.values)
        return replace(told, values=values) if isinstance(values, Tensor) else None
    return told


def _cast(double: Tensor, told: Tensor) -> Tensor | None:
    """A tensor rounded to the dtype of the usual one; None where that one is not finite."""
    if told.dtype == "bfloat16" or not np.isfinite(told.array).all():
        return None
    with np.errstate(all="ignore"):
        return Tensor(double.array.astype(WIRE[told.dtype]), told.dtype)
