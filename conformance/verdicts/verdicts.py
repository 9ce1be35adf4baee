"""Verdicts: a cell's answer against its two witnesses, the declared expectation and the oracle.

The witnesses must agree with each other first, or the case is at fault (`bad_case`). A name that
`expect_in` overrides in the cell's mode has one witness, the declaration: the oracle has one mode.
The oracle gives a literal its dtype, and is compared with the target itself wherever it answers a
value; a documented choice (`any_of`), an error and a warning bind by their declaration only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from conformance.answers.answer import Answer, Observation, Outcome
from conformance.answers.compare import NothingCompared, compare, expectation_of
from conformance.answers.mismatch import Mismatch
from conformance.answers.tolerances import Bounds, bounds_for
from conformance.answers.values import LiteralError, MalformedObservation, describe, kind_of
from conformance.corpus.language.case import (
    Case,
    Expectation,
    ExpectedAnyOf,
    ExpectedError,
    ExpectedNone,
    ExpectedOracle,
    ExpectedSlices,
    ExpectedStructure,
    ExpectedTensor,
)
from conformance.text import clean

Verdict: TypeAlias = Literal[
    "pass", "fail", "error", "unsupported", "not_applicable", "crash", "timeout", "bad_case",
    "known_deviation", "unexpected_pass", "not_run",
]  # fmt: skip

OF_OUTCOME: dict[Outcome, Verdict] = {
    "crash": "crash",
    "timeout": "timeout",
    "adapter_error": "error",
    "unsupported": "unsupported",
    "not_applicable": "not_applicable",
    "not_run": "not_run",
}
Dependencies: TypeAlias = Mapping[str, frozenset[str]]
"""For each observed name, the steps whose error keeps it from having a value."""

DTYPE_NAMES = re.compile(r"\b(?:b?float(?:16|32|64)|complex(?:64|128)|u?int(?:8|16|32|64))\b")
ALIASES = {"double": "float64", "half": "float16", "np": "float64"}
PARTS = (("float32", "complex64"), ("float64", "complex128"))


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


def judge(
    case: Case,
    mode: str,
    answer: Answer,
    oracle: Answer | None,
    op_count: int,
    dependencies: Dependencies,
    *,
    k: float | None = None,
) -> Judgement:
    """The verdict of one cell.

    Args:
        case: The case, with its expectations.
        mode: The mode in which the target ran it.
        answer: What the target gave.
        oracle: What the reference gave; None where the target is the reference. An oracle that
            does not support the program has no word, and the declaration judges alone.
        op_count: How many operations the program has, for the bound.
        dependencies: For each observed name, the steps that it depends on, from the lowering.
        k: What the catalogue of operations publishes for this program instead of K = 16.

    Edges: a malformed answer is `error`, a malformed or dead oracle is `bad_case`; a case that
    compares nothing is `bad_case`, or `not_applicable` where all that it declares is the oracle's
    word and the target is the oracle. Never raises for what an answer holds.
    """
    if mode in case.not_applicable:
        return Judgement("not_applicable", note=case.not_applicable[mode])
    if answer.outcome != "answered":
        return Judgement(OF_OUTCOME[answer.outcome], note=clean(answer.detail))
    trial = Trial(case, mode, answer, dependencies, bounds_for(mode, op_count, k))
    try:
        if oracle is None:
            return trial.by_declaration()
        agreed = Trial(case, "eager", oracle, dependencies, bounds_for("eager", op_count, k))
        return agreed.contradiction(trial.overridden) or trial.by_both(agreed)
    except LiteralError as fault:
        return Judgement("bad_case", note=f"the expectation is at fault: {fault}")


@dataclass
class Trial:
    """One answer held against expectations, name by name."""

    case: Case
    mode: str
    answer: Answer
    dependencies: Dependencies
    bounds: Bounds
    mismatches: list[Mismatch] = field(default_factory=list)
    compared: int = 0
    notes: list[str] = field(default_factory=list)
    unsaid: int = 0
    """How many names only the oracle could have judged."""

    def by_declaration(self) -> Judgement:
        """The judgement where the target is the oracle: it gives literals their dtype itself."""
        try:
            self.hold(self.case.expectations_in(self.mode), {}, None)
            self.warned()
        except MalformedObservation as fault:
            return Judgement("error", note=f"the answer is malformed: {fault}")
        if self.unsaid and not self.compared:
            return Judgement("not_applicable", note="the oracle is the only witness of this case")
        return self.judgement(("declared",))

    def by_both(self, oracle: Trial) -> Judgement:
        """The judgement by the declaration, and by the oracle where it has a word."""
        try:
            words = oracle.words()
        except MalformedObservation as fault:
            return Judgement("bad_case", note=f"the oracle's answer is malformed: {fault}")
        try:
            self.hold(self.case.expectations_in(self.mode), words, dtypes_named(self.case))
            seconded = self.second(words)
            self.warned()
        except MalformedObservation as fault:
            return Judgement("error", note=f"the answer is malformed: {fault}")
        if self.unsaid:
            return Judgement("bad_case", note="; ".join(self.notes))
        if oracle.answer.outcome != "answered":
            self.notes.append(f"the oracle has no word: {oracle.answer.outcome}")
        return self.judgement(("declared", "oracle") if seconded else ("declared",))

    @property
    def overridden(self) -> frozenset[str]:
        """The names that the oracle, whose mode is eager, does not speak for in this mode."""
        return frozenset([*self.case.overrides_in("eager"), *self.case.overrides_in(self.mode)])

    def contradiction(self, overridden: frozenset[str]) -> Judgement | None:
        """For the oracle's own answer: where it is no witness, or contradicts the declaration."""
        if self.answer.outcome in ("crash", "timeout", "adapter_error"):
            how = f"{self.answer.outcome} {clean(self.answer.detail)}".strip()
            return Judgement("bad_case", note=f"the oracle did not answer: {how}")
        if self.answer.outcome != "answered":
            return None
        declared = {
            name: expected
            for name, expected in self.case.expect.items()
            if name not in overridden and not isinstance(expected, ExpectedOracle)
        }
        try:
            self.hold(declared, self.words(), None)
        except MalformedObservation as fault:
            return Judgement("bad_case", note=f"the oracle's answer is malformed: {fault}")
        if not self.mismatches:
            return None
        names = ", ".join(dict.fromkeys(mismatch.name for mismatch in self.mismatches))
        note = f"the oracle contradicts the declared expectation of {names}"
        return Judgement("bad_case", tuple(self.mismatches), self.compared, note)

    def hold(
        self,
        expectations: Mapping[str, Expectation],
        words: Mapping[str, Observation],
        dtypes: frozenset[str] | None,
    ) -> None:
        """Compare every name with its expectation, and account for the error that ended it all."""
        for name, expected in expectations.items():
            self.name(name, expected, words.get(name), dtypes)
        self.ending()

    def name(
        self,
        name: str,
        expected: Expectation,
        word: Observation | None,
        dtypes: frozenset[str] | None,
    ) -> None:
        """Compare one name."""
        got = self.observation(name, expected)
        try:
            comparison = compare(expected, got, self.bounds, name=name, oracle=word, dtypes=dtypes)
        except NothingCompared as fault:
            self.unsaid += 1
            self.notes.append(str(fault))
            return
        self.mismatches += comparison.mismatches
        self.compared += comparison.compared

    def observation(self, name: str, expected: Expectation | None = None) -> Observation:
        """What was answered for a name; the error that ended the case where that explains it.

        That error is the answer for a name that was not reached when it arose at a step that the
        name depends on, or at a step that nobody knows.
        """
        got = self.answer.observations.get(name, {"kind": "not_observed"})
        error = self.answer.error
        if kind_of(got) != "not_reached" or error is None or kind_of(error) != "error":
            return got
        step = error.get("step")
        if not isinstance(step, str):
            if isinstance(expected, ExpectedError):
                self.notes.append(f"{name}: the step of the error is unknown")
            return error
        relied = self.dependencies.get(name, frozenset((name,)))
        return error if _names_in([step]) & _names_in(relied) else got

    def ending(self) -> None:
        """An error that ended the program and is no observed name's answer is a mismatch."""
        error = self.answer.error
        if error is None:
            return
        met = [self.observation(name) for name in self.case.observed]
        if self.mismatches:
            if any(kind_of(o) == "not_reached" for o in met):
                self.notes.append(f"the program ended before: {describe(error)}")
            return
        if any(kind_of(o) == "error" and o.get("type") == error.get("type") for o in met):
            return
        step = error.get("step")
        name = clean(step, 60) if isinstance(step, str) else ""
        note = "the program ended with an error that the case does not expect"
        self.compared += 1
        self.mismatches.append(Mismatch("error", name, "", "no error", describe(error), note=note))

    def second(self, words: Mapping[str, Observation]) -> bool:
        """Compare with the oracle what agreed with the declaration; whether it had any word."""
        failed = {mismatch.name for mismatch in self.mismatches}
        overridden = self.overridden
        spoke = False
        for name, expected in self.case.expectations_in(self.mode).items():
            word = words.get(name)
            if word is None or name in overridden or not _is_value(expected):
                spoke = spoke or (word is not None and isinstance(expected, ExpectedOracle))
                continue
            spoke = True
            if name not in failed:
                self.name(name, expectation_of(word, witness=True), word, None)
        self._say_whose(failed)
        return spoke

    def _say_whose(self, failed: set[str]) -> None:
        for position, mismatch in enumerate(self.mismatches):
            if mismatch.name not in failed:
                note = "; ".join(filter(None, (mismatch.note, "expected by the oracle")))
                self.mismatches[position] = replace(mismatch, note=note)

    def words(self) -> dict[str, Observation]:
        """The oracle's word for each observed name."""
        if self.answer.outcome != "answered":
            return {}
        return {name: self.observation(name) for name in self.case.observed}

    def warned(self) -> None:
        """A declared warning must be among those that were logged."""
        due = self.case.warns
        if due is None:
            return
        self.compared += 1
        if not any(due in str(warning) for warning in self.answer.warnings):
            got = clean("; ".join(map(str, self.answer.warnings))) or "no warning"
            self.mismatches.append(Mismatch("warning", "warns", "", repr(due), got))

    def judgement(self, witnesses: tuple[str, ...]) -> Judgement:
        """Pass or fail, but never a pass of nothing."""
        note = "; ".join(self.notes)
        if not self.compared:
            return Judgement("bad_case", note=note or "the case declares nothing to compare")
        verdict: Verdict = "fail" if self.mismatches else "pass"
        return Judgement(verdict, tuple(self.mismatches), self.compared, note, witnesses)


def _names_in(steps: Iterable[str]) -> set[str]:
    """The names in the labels of steps: the mode `call` may bind `u, v` of a program one by one."""
    return {name for step in steps for name in step.split(", ")}


def dtypes_named(case: Case) -> frozenset[str]:
    """The dtypes that a case speaks of: those that a literal may have where the oracle is silent.

    The dtypes of its inputs and those that its program writes (`np` makes float64), with the parts
    of the complex ones: tf.abs of a complex64 is a float32.
    """
    text = f"{case.run}\n{case.setup}"
    named = {item.dtype for item in case.inputs} | set(DTYPE_NAMES.findall(text))
    named |= {dtype for word, dtype in ALIASES.items() if re.search(rf"\b{word}\.?\b", text)}
    for pair in PARTS:
        if named.intersection(pair):
            named.update(pair)
    return frozenset(named)


def _is_value(expected: Expectation) -> bool:
    """Whether the oracle's own value binds the target: no choice, no error, no count."""
    if isinstance(expected, ExpectedStructure):
        return all(map(_is_value, expected.items))
    if isinstance(expected, ExpectedAnyOf):
        return False
    return isinstance(expected, (ExpectedTensor, ExpectedNone, ExpectedSlices))
