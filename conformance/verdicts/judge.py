"""Verdicts: a cell's answer against its two witnesses, the declared expectation and the oracle.

The witnesses must agree with each other first, or the case is at fault (`bad_case`). A name that
`expect_in` overrides in the cell's mode has one witness, the declaration: the oracle has one mode.
The oracle gives a literal its dtype, and is compared with the target itself wherever it answers a
value; a documented choice (`any_of`), an error and a warning bind by their declaration only.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, TypeAlias

from conformance.answers.answer import Answer, Derivative
from conformance.answers.compare import Declared, Facts, compare, told_by
from conformance.answers.literals import LiteralError
from conformance.answers.mismatch import Mismatch
from conformance.answers.tolerances import Bounds, bounds_for
from conformance.corpus.language.case import (
    MODES,
    Case,
    Expectation,
    ExpectedDerivative,
    ExpectedOracle,
    ExpectedStructure,
    ExpectedSurvey,
)
from conformance.corpus.language.derivative import forwards_of, resolved
from conformance.corpus.language.literals import COMPLEXES, FLOATS, INTEGERS
from conformance.corpus.language.lowering import Lowered
from conformance.text import clean

Verdict: TypeAlias = Literal[
    "pass", "fail", "error", "unsupported", "not_applicable", "crash", "timeout", "bad_case",
    "known_deviation", "unexpected_pass", "not_run", "surveyed",
]  # fmt: skip
Standing: TypeAlias = Literal["known", "worse", "better", "new case"]
"""What a cell is beside a baseline; a cell of which nothing is to be said has no standing."""

SHORTFALLS: tuple[Verdict, ...] = ("fail", "crash", "timeout", "unexpected_pass")
"""The verdicts by which a target falls short."""
FAULTS: tuple[Verdict, ...] = ("bad_case", "error")
"""The verdicts that say that the suite, the oracle or an adapter is at fault."""
RAN: tuple[Verdict, ...] = ("pass", "known_deviation", *SHORTFALLS, *FAULTS)

NUMERIC = {*FLOATS, *COMPLEXES, *INTEGERS}
ALIASES = {"double": "float64", "half": "float16", "np": "float64"}
PARTS = (("float32", "complex64"), ("float64", "complex128"))


WITNESSES: Mapping[str, Collection[str]] = {
    "derivative and oracle": ("derivative", "oracle"),
    "declared and oracle": ("declared", "oracle"),
    "derivative and value": ("derivative", "declared"),
    "one only": (),
}
"""What an answer can be held against, and the witnesses that it takes; the first that holds."""


def witnessed(judgement: Judgement) -> str:
    """What an answer was held against; nothing where nothing was compared."""
    by = {*judgement.witnesses}
    return next((kind for kind, those in WITNESSES.items() if by and by.issuperset(those)), "")


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict of a cell, what differed, how many facts were compared, and by which witnesses.

    `note` is for people: why there is no pass or fail, or what the judge had to assume.
    """

    verdict: Verdict
    mismatches: tuple[Mismatch, ...] = ()
    compared: int = 0
    note: str = ""
    witnesses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the verdict of a cell is made of: the case, and what was answered.

    `answer` is what the target gave when it ran `program` in `mode`, and `oracle` what the
    reference gave: None where the target is the reference. Where the oracle does not support the
    program, the declaration judges alone. `derived` are the derivatives of the target's forward, or
    of the oracle's where the values are held against the oracle's, where the case expects some.
    """

    case: Case
    mode: str
    answer: Answer
    oracle: Answer | None
    program: Lowered
    derived: Answer | None = None

    @property
    def bounds(self) -> Bounds:
        """How far a float may be off in this mode, for a program of this length."""
        return bounds_for(self.mode, self.program.operations)

    @property
    def declared(self) -> Declared:
        """What the case declares of the mode, with what the oracle says beside it.

        Without an oracle the target is the oracle, which gives literals their dtype itself.
        """
        case, program = self.case, self.program
        forwards = forwards_of(case)
        expectations = {
            name: resolved(due, forwards[name].sources) if name in forwards else due
            for name, due in case.expectations_in(self.mode).items()
        }
        declared = Declared(expectations, program, warns=case.warns)
        if self.derived is not None:
            lost = Derivative(fault=f"{self.derived.outcome}: {clean(self.derived.detail)}")
            found = {name: self.derived.derivatives.get(name, lost) for name in forwards}
            declared = replace(declared, derivatives=found)
        if self.oracle is None:
            return declared
        told, seconded = told_by(self.oracle, program), expectations.keys() - self.overridden
        return replace(declared, oracle=told, seconded=seconded, dtypes=dtypes_named(case))

    @property
    def overridden(self) -> set[str]:
        """The names that the oracle, whose mode is eager, does not speak for in this mode."""
        return {*self.case.overrides_in("eager"), *self.case.overrides_in(self.mode)}


def judge(evidence: Evidence) -> Judgement:
    """The verdict of one cell; `surveyed` where the case expects nothing that can be judged.

    Edges: an `adapter_error` is `error`, for the oracle `bad_case`; a case that compares nothing is
    `bad_case`, or `not_applicable` where the oracle is its only witness and the target is the
    oracle. Never raises for what an answer holds.
    """
    case, answer = evidence.case, evidence.answer
    if evidence.mode in case.not_applicable:
        return Judgement("not_applicable", note=case.not_applicable[evidence.mode])
    if answer.outcome != "answered":
        verdict: Verdict = "error" if answer.outcome == "adapter_error" else answer.outcome
        return Judgement(verdict, note=clean(answer.detail))
    if case.is_survey_in(evidence.mode):
        return Judgement("surveyed")
    if forwards_of(case) and (lost := _underived(evidence.derived)):
        return lost
    try:
        return _contradiction(evidence) or _compared(evidence)
    except LiteralError as fault:
        return Judgement("bad_case", note=f"the expectation is at fault: {fault}")


def _underived(derived: Answer | None) -> Judgement | None:
    """Where a derivative is due that nobody asked for, or that the adapter lost."""
    if derived is None or derived.outcome == "not_run":
        return Judgement("not_run", note="the target was not asked for its derivatives")
    if derived.outcome == "adapter_error":
        return Judgement("error", note=f"its derivatives: {clean(derived.detail)}")
    return None


def _contradiction(evidence: Evidence) -> Judgement | None:
    """Where the oracle is no witness, or contradicts the declaration: the case is at fault."""
    oracle, program = evidence.oracle, evidence.program
    if oracle is None or oracle.outcome in ("unsupported", "not_applicable", "not_run"):
        return None
    if oracle.outcome != "answered":
        how = f"{oracle.outcome} {clean(oracle.detail)}".strip()
        return Judgement("bad_case", note=f"the oracle did not answer: {how}")
    expectations = {
        name: _without_derivatives(expected)
        for name, expected in evidence.case.expect.items()
        if name not in evidence.overridden and not isinstance(expected, ExpectedOracle)
    }
    declared = Declared(expectations, program, told_by(oracle, program))
    facts = compare(oracle, declared, bounds_for("eager", program.operations))
    if not facts.mismatches:
        return None
    names = ", ".join(dict.fromkeys(mismatch.name for mismatch in facts.mismatches))
    note = f"the oracle contradicts the declared expectation of {names}"
    return Judgement("bad_case", tuple(facts.mismatches), facts.compared, note)


def _without_derivatives(expected: Expectation) -> Expectation:
    """An expectation of which the oracle is not asked for the derivatives: it is no target here."""
    if isinstance(expected, ExpectedStructure):
        return replace(expected, items=tuple(map(_without_derivatives, expected.items)))
    return ExpectedSurvey() if isinstance(expected, ExpectedDerivative) else expected


def _compared(evidence: Evidence) -> Judgement:
    """Pass or fail, but never a pass of nothing."""
    oracle = evidence.oracle
    facts = compare(evidence.answer, evidence.declared, evidence.bounds)
    if facts.unspoken and oracle is None and not facts.compared:
        return Judgement("not_applicable", note="the oracle is the only witness of this case")
    if oracle is not None and oracle.outcome != "answered" and not facts.unspoken:
        facts.notes.append(f"the oracle has no answer: {oracle.outcome}")
    note = "; ".join(facts.notes)
    lacks = oracle is not None and oracle.outcome == "unsupported" and facts.derived
    if not facts.compared or (facts.unspoken and oracle is not None and not lacks):
        return Judgement("bad_case", note=note or "the case declares nothing to compare")
    verdict: Verdict = "fail" if facts.mismatches else "pass"
    return Judgement(verdict, tuple(facts.mismatches), facts.compared, note, _by(evidence, facts))


def _by(evidence: Evidence, facts: Facts) -> tuple[str, ...]:
    """The witnesses that an answer was held against."""
    told = {
        "declared": any(map(_is_declared, evidence.case.expectations_in(evidence.mode).values())),
        "derivative": facts.derived,
        "oracle": facts.seconded,
    }
    return tuple(witness for witness, speaks in told.items() if speaks)


def _is_declared(expected: Expectation) -> bool:
    """Whether the case itself says what is due, of the whole or of a part."""
    if isinstance(expected, ExpectedStructure):
        return any(map(_is_declared, expected.items)) or not expected.items
    return not isinstance(expected, ExpectedOracle | ExpectedDerivative | ExpectedSurvey)


class Judge:
    """Judges the cells of a target; modes that answer a case alike are judged once.

    Most modes do, and a record of five thousand cells is to be judged while a person waits.
    """

    def __init__(self) -> None:
        self._last: deque[tuple[Evidence, Judgement]] = deque(maxlen=4 * len(MODES))

    def judge(self, evidence: Evidence) -> Judgement:
        """The same as the function's."""
        for other, judgement in self._last:
            if other.case is evidence.case and _settles(other, judgement, evidence):
                return judgement
        judgement = judge(evidence)
        self._last.append((evidence, judgement))
        return judgement


def _settles(other: Evidence, judgement: Judgement, evidence: Evidence) -> bool:
    """Whether the judgement of another mode is that of this one too.

    The same answer to the same question; what passes a narrow bound passes a wider one.
    """
    case, modes = evidence.case, (other.mode, evidence.mode)
    k, others = evidence.bounds.k, other.bounds.k
    answer, before = evidence.answer, other.answer
    return (
        evidence.oracle is other.oracle
        and evidence.derived is other.derived
        and (k == others or (judgement.verdict == "pass" and k > others))
        and answer.outcome == before.outcome == "answered"
        and answer.error is before.error is None
        and answer.observations == before.observations
        and (case.warns is None or answer.warnings == before.warnings)
        and not any(mode in case.not_applicable for mode in modes)
        and case.overrides_in(modes[0]) == case.overrides_in(modes[1])
    )


@lru_cache(1_000)
def dtypes_named(case: Case) -> frozenset[str]:
    """The dtypes that a case speaks of: those that a literal may have where the oracle is silent.

    The dtypes of its inputs and those that its program writes (`np` makes float64), with the parts
    of the complex ones: tf.abs of a complex64 is a float32.
    """
    words = set(re.findall(r"\w+", f"{case.run}\n{case.setup}"))
    named = {item.dtype for item in case.inputs} | (words & NUMERIC)
    named |= {dtype for word, dtype in ALIASES.items() if word in words}
    for pair in PARTS:
        if named.intersection(pair):
            named.update(pair)
    return frozenset(named)
