"""Compare: the one place that decides whether two answers are the same, fact by fact.

An answer is held against what a case declares, or against another answer. At each place the first
of these classes that applies is reported: error, structure, none, slices, dtype, shape, non-finite,
then zero or value. Every place of a structure is compared, and the facts are counted; a comparison
of no fact raises NothingCompared and never passes.

`none`   None where a value is due, or a value (zeros too) where None is due.
`zero`   every element is exactly zero where a non-zero element is due.
`value`  an element is beyond its bound, or lacks the sign of a declared -0.0.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from conformance.answers.answer import ENDING, Answer
from conformance.answers.due import due_for
from conformance.answers.elements import mismatch_of
from conformance.answers.literals import literal_of
from conformance.answers.mismatch import ORDER, Mismatch, MismatchClass
from conformance.answers.text import array_text, describe, steady, text_of
from conformance.answers.tolerances import Bounds, bounds_for, child_of
from conformance.answers.values import (
    Composite,
    NoneValue,
    NotObserved,
    NotReached,
    Raised,
    Slices,
    Structure,
    Tensor,
    Value,
    VariableName,
)
from conformance.corpus.language.case import (
    Expectation,
    ExpectedAnyOf,
    ExpectedCalls,
    ExpectedError,
    ExpectedNone,
    ExpectedOracle,
    ExpectedRaised,
    ExpectedSeen,
    ExpectedSlices,
    ExpectedStructure,
    ExpectedTensor,
    ExpectedWatched,
)
from conformance.corpus.language.lowering import Lowered
from conformance.text import clean

MANY_OPERATIONS = 6
"""A record does not say how many operations a program has: the wider bound is taken."""


class NothingCompared(AssertionError):
    """A comparison that compared no fact: the suite's own fault, never a pass."""


# ----- two answers, or an answer and a declaration -----


@dataclass(frozen=True)
class Declared:
    """What a cell's answer must be.

    `oracle` holds what the oracle answered for each name: it gives a literal without dtype its
    dtype, and of the names in `seconded` its value must be met too. `dtypes` are those that a
    literal may have beyond TensorFlow's own choice where the oracle is silent; None: any of the
    literal's family. `warns` must be part of a warning.
    """

    expectations: Mapping[str, Expectation]
    program: Lowered
    oracle: Mapping[str, Value] = field(default_factory=dict)
    seconded: Collection[str] = ()
    dtypes: frozenset[str] | None = None
    warns: str | None = None


@dataclass(frozen=True)
class Facts:
    """What a comparison found: every mismatch, how many facts were compared, and what to note.

    `unspoken` counts the names of which only an absent oracle could have said what is due;
    `seconded` says whether the oracle's own value was compared.
    """

    mismatches: tuple[Mismatch, ...] = ()
    compared: int = 0
    notes: tuple[str, ...] = ()
    unspoken: int = 0
    seconded: bool = False


def compare(answer: Answer, against: Declared | Answer, bounds: Bounds) -> Facts:
    """Hold a target's answer against what was declared, or against an earlier answer.

    An earlier answer binds dtypes, shapes, the class of an error and its message (without what
    depends on the process), and values within `bounds`; the sign of zero does not bind. Errors:
    LiteralError where an expectation itself is at fault.
    """
    walk = _AnswerWalk(answer, bounds)
    if isinstance(against, Answer):
        walk.hold_answer(against)
    else:
        walk.hold(against)
    return Facts(
        tuple(walk.mismatches), walk.compared, tuple(walk.notes), walk.unspoken, walk.seconded
    )


@dataclass(frozen=True)
class Difference:
    """What differs between two answers: the facts, or `why` where their outcomes do."""

    mismatches: tuple[Mismatch, ...] = ()
    why: str = ""


def difference_of(old: Answer, new: Answer, mode: str) -> Difference | None:
    """What differs between two answers that one program gave in `mode`; None where they agree.

    Outcomes, values and the error that ended the case are compared, in both directions, as a bound
    is relative to one of the two. Warnings are not, nor what a process that crashed last said.
    """
    if old.outcome != new.outcome:
        return Difference(why=f"{old.outcome} became {new.outcome}")
    if old.end != new.end:
        return Difference(why=f"{old.end} became {new.end}")
    if old.observations == new.observations and old.error == new.error:
        return None
    bounds = bounds_for(mode, MANY_OPERATIONS)
    found = compare(new, old, bounds).mismatches or tuple(
        replace(back, expected=back.got, got=back.expected, note="")
        for back in compare(old, new, bounds).mismatches
    )
    return Difference(found) if found else None


def told_by(answer: Answer, program: Lowered) -> dict[str, Value]:
    """What an answer says of each observed name; nothing where there is none."""
    if answer.outcome != "answered":
        return {}
    return {name: _explained(answer, name, program) for name in program.observed}


def unexpected_error(answer: Answer, program: Lowered) -> Raised | None:
    """The error that ended a program, where none of its class is an observed name's answer."""
    told, error = told_by(answer, program).values(), answer.error
    if error and any(isinstance(value, Raised) and value.type == error.type for value in told):
        return None
    return error


def _explained(answer: Answer, name: str, program: Lowered) -> Value:
    """What was answered for a name; the error that ended the case where that explains it.

    That error is the answer for a name that was not reached when it arose at a step that the name
    depends on, or at a step that nobody knows.
    """
    got, error = answer.observed(name), answer.error
    if error is None or not isinstance(got, NotReached):
        return got
    if error.step is None:
        return error
    needed = program.dependencies.get(name, frozenset((name,)))
    return error if _names_in([error.step]) & _names_in(needed) else got


def _names_in(steps: Iterable[str]) -> set[str]:
    """The names in the labels of steps: the mode `call` may bind `u, v` of a program one by one."""
    return {name for step in steps for name in step.split(", ")}


@dataclass
class _AnswerWalk:
    """One answer held against another side, name by name."""

    answer: Answer
    bounds: Bounds
    mismatches: list[Mismatch] = field(default_factory=list)
    compared: int = 0
    notes: list[str] = field(default_factory=list)
    unspoken: int = 0
    seconded: bool = False

    def hold_answer(self, other: Answer) -> None:
        """Compare every name that either side has, and how the program ended."""
        for name in dict.fromkeys([*other.observations, *self.answer.observations, ENDING]):
            expected = expectation_of(other.observed(name))
            self.name(name, expected, self.answer.observed(name), None, None)

    def hold(self, declared: Declared) -> None:
        """Compare every declared name, how the program ended, the oracle's values, the warning."""
        for name, expected in declared.expectations.items():
            got = _explained(self.answer, name, declared.program)
            error = self.answer.error
            unknown_step = error is not None and error.step is None and got is error
            if unknown_step and isinstance(expected, ExpectedError):
                self.notes.append(f"{name}: the step of the error is unknown")
            self.name(name, expected, got, declared.oracle.get(name), declared.dtypes)
        self.ending(declared)
        self.second(declared)
        self.warned(declared.warns)

    def name(
        self,
        name: str,
        expected: Expectation,
        got: Value,
        told: Value | None,
        dtypes: frozenset[str] | None,
    ) -> None:
        """Compare one name."""
        try:
            found = compare_value(expected, got, self.bounds, name=name, oracle=told, dtypes=dtypes)
        except NothingCompared as fault:
            self.unspoken += 1
            self.notes.append(str(fault))
            return
        self.mismatches += found.mismatches
        self.compared += found.compared

    def ending(self, declared: Declared) -> None:
        """An error that ended the program and is no observed name's answer is a mismatch."""
        error = self.answer.error
        if error is None:
            return
        if self.mismatches:
            told = told_by(self.answer, declared.program)
            if any(isinstance(value, NotReached) for value in told.values()):
                self.notes.append(f"the program ended before: {describe(error)}")
            return
        if not unexpected_error(self.answer, declared.program):
            return
        name = clean(error.step, 60) if error.step else ""
        note = "the program ended with an error that the case does not expect"
        self.compared += 1
        self.mismatches.append(Mismatch("error", name, "", "no error", describe(error), note=note))

    def second(self, declared: Declared) -> None:
        """Compare what agreed with the declaration with the oracle's own values."""
        failed = {mismatch.name for mismatch in self.mismatches}
        for name, expected in declared.expectations.items():
            told = declared.oracle.get(name)
            if told is None or name not in declared.seconded or not _is_value(expected):
                by_oracle = told is not None and isinstance(expected, ExpectedOracle)
                self.seconded = self.seconded or by_oracle
                continue
            self.seconded = True
            if name not in failed:
                got = _explained(self.answer, name, declared.program)
                self.name(name, expectation_of(told, witness=True), got, told, None)
        for position, mismatch in enumerate(self.mismatches):
            if mismatch.name not in failed:
                note = "; ".join(filter(None, (mismatch.note, "expected by the oracle")))
                self.mismatches[position] = replace(mismatch, note=note)

    def warned(self, due: str | None) -> None:
        """A declared warning must be among those that were logged."""
        if due is None:
            return
        self.compared += 1
        warnings = self.answer.warnings
        if not any(due in warning for warning in warnings):
            got = clean("; ".join(warnings)) or "no warning"
            self.mismatches.append(Mismatch("warning", "warns", "", repr(due), got))


def _is_value(expected: Expectation) -> bool:
    """Whether the oracle's own value binds the target: no choice, no error, no count."""
    if isinstance(expected, ExpectedStructure):
        return all(map(_is_value, expected.items))
    return isinstance(expected, ExpectedTensor | ExpectedNone | ExpectedSlices)


# ----- a value as an expectation -----


def expectation_of(value: Value, *, witness: bool = False) -> Expectation:
    """The expectation to answer the same value again.

    Dtypes and shapes are given; the sign of a zero is dropped, because no witness binds it. An
    error binds its very class and its message. As a `witness` (the oracle) it binds no message, an
    error is met by its bases, and a dtype is left to compare_value's `oracle`.
    """
    if isinstance(value, Tensor):
        return _expected_tensor(value, witness)
    if isinstance(value, Composite):
        return expectation_of(value.parts, witness=witness)
    if isinstance(value, Structure):
        items = tuple(expectation_of(item, witness=witness) for item in value.items)
        return ExpectedStructure(value.kind, items, value.keys)
    if isinstance(value, NoneValue):
        return ExpectedNone()
    if isinstance(value, Slices):
        rows, indices = (_expected_tensor(part, witness) for part in (value.values, value.indices))
        return ExpectedSlices(rows, indices, value.dense_shape)
    if isinstance(value, Raised):
        return ExpectedError(value.type) if witness else ExpectedRaised(value.type, value.message)
    return ExpectedSeen(describe(value))


def _expected_tensor(value: Tensor, witness: bool) -> ExpectedTensor:
    array = value.array
    if array.dtype.kind in "fc":
        with np.errstate(invalid="ignore"):  # a signalling nan
            array = array + array.dtype.type(0)  # -0.0 + 0.0 is 0.0
    dtype = None if witness else value.dtype
    return ExpectedTensor(literal_of(array), dtype, array.shape)


# ----- one value -----


def compare_value(
    expected: Expectation,
    got: Value,
    bounds: Bounds,
    *,
    name: str = "",
    oracle: Value | None = None,
    dtypes: frozenset[str] | None = None,
    exact: bool = False,
) -> Facts:
    """Compare one value with what it must be; `oracle` and `dtypes` are as in Declared.

    A tensor without dtype takes the dtype that `oracle` has at the same place; a Python scalar is
    then compared by value. Where it is `exact`, a Python bool or str is no tensor. Errors:
    NothingCompared, and LiteralError where the expectation itself is at fault.
    """
    walk = _ValueWalk(name, bounds, dtypes, exact)
    walk.visit(expected, got, oracle, "")
    if not walk.compared:
        raise NothingCompared(f"no fact of {name or 'a value'} was compared")
    return Facts(tuple(walk.mismatches), walk.compared)


@dataclass
class _ValueWalk:
    """The walk over one expectation: what was compared so far, and what differed."""

    observed_name: str
    bounds: Bounds
    dtypes: frozenset[str] | None
    exact: bool = False
    compared: int = 0
    mismatches: list[Mismatch] = field(default_factory=list)

    def visit(self, expected: Expectation, got: Value, told: Value | None, path: str) -> None:
        """Compare at `path`; `told` is what the oracle says there."""
        got, told = _seen(got), _seen(told) if told is not None else None
        VISITORS[type(expected)](self, expected, got, told, path)

    def fact(
        self,
        holds: bool,
        kind: MismatchClass,
        path: str,
        expected: str,
        got: Value | str,
        note: str = "",
    ) -> bool:
        """Count one fact, and report it where it does not hold."""
        self.compared += 1
        if not holds:
            text = clean(got if isinstance(got, str) else describe(got))
            name = self.observed_name
            self.mismatches.append(Mismatch(kind, name, path, clean(expected), text, note=note))
        return holds

    def other(self, expected: Expectation, got: Value, path: str) -> None:
        """A value of another kind than the expected one."""
        self.fact(False, _class(expected, got), path, text_of(expected), got)

    def none(self, expected: ExpectedNone, got: Value, told: Value | None, path: str) -> None:
        kind = _class(expected, got)
        self.fact(isinstance(got, NoneValue), kind, path, text_of(expected), got)

    def seen(self, expected: ExpectedSeen, got: Value, told: Value | None, path: str) -> None:
        none = _is_no_answer(got) or expected.text.startswith(("not reached", "not observed"))
        kind: MismatchClass = "error" if none else "structure"
        self.fact(describe(got) == expected.text, kind, path, expected.text, got)

    def oracle(self, expected: ExpectedOracle, got: Value, told: Value | None, path: str) -> None:
        if told is None or isinstance(told, NotReached | NotObserved):
            raise NothingCompared(f"the oracle says nothing of {self.observed_name}{path}")
        self.visit(expectation_of(told, witness=True), got, told, path)

    def any_of(self, expected: ExpectedAnyOf, got: Value, told: Value | None, path: str) -> None:
        """One option must hold; otherwise the closest is reported."""
        trials = []
        for option in expected.options:
            trial = _ValueWalk(self.observed_name, self.bounds, self.dtypes, self.exact)
            trial.visit(option, got, told, path)
            trials.append(trial)
        if not trials:
            raise NothingCompared(f"{self.observed_name}{path} allows no answer at all")
        closest = min(trials, key=_distance)
        self.compared += closest.compared
        note = f"the closest of {len(trials)} answers that are allowed"
        for mismatch in closest.mismatches:
            notes = "; ".join(filter(None, (mismatch.note, note)))
            self.mismatches.append(replace(mismatch, note=notes))

    def error(self, expected: ExpectedError, got: Value, told: Value | None, path: str) -> None:
        """The class or a base, then a part of the message, then the step."""
        text = text_of(expected)
        fits = isinstance(got, Raised) and expected.type in (got.type, *got.bases)
        if not self.fact(fits, "error", path, text, got) or not isinstance(got, Raised):
            return
        if expected.message:
            holds = expected.message in got.message
            self.fact(holds, "error", path, text, got, "the message differs")
        if expected.at is not None:
            step = got.step
            note = f"it arose at step {clean(step, 60)}" if step else "its step is unknown"
            holds = step is not None and expected.at in (step, *step.split(", "))
            self.fact(holds, "error", path, text, got, note)

    def raised(self, expected: ExpectedRaised, got: Value, told: Value | None, path: str) -> None:
        """The very class, then the whole message but for what depends on the process."""
        text = text_of(expected)
        fits = isinstance(got, Raised) and expected.type == got.type
        if self.fact(fits, "error", path, text, got) and isinstance(got, Raised):
            holds = steady(expected.message) == steady(got.message)
            self.fact(holds, "error", path, text, got, "the message differs")

    def calls(self, expected: ExpectedCalls, got: Value, told: Value | None, path: str) -> None:
        if not isinstance(got, Tensor):
            self.other(expected, got, path)
            return
        holds = got.dtype == "Python int" and int(got.array) == expected.count
        self.fact(holds, "calls", path, text_of(expected), got)

    def watched(self, expected: ExpectedWatched, got: Value, told: Value | None, path: str) -> None:
        """The names of the variables, in order."""
        if not isinstance(got, Structure) or got.kind == "dict":
            self.other(expected, got, path)
            return
        names = [item.name for item in got.items if isinstance(item, VariableName)]
        if len(names) < len(got.items):
            text = text_of(expected)
            self.fact(False, "watched", path, text, got, "not all are variables")
            return
        text = clean(f"variables {', '.join(names) or 'none'}")
        self.fact(tuple(names) == expected.names, "watched", path, text_of(expected), text)

    def structure(
        self, expected: ExpectedStructure, got: Value, told: Value | None, path: str
    ) -> None:
        """The container and its keys or length, then every item."""
        if not isinstance(got, Structure):
            self.other(expected, got, path)
            return
        text = text_of(expected)
        if "dict" in (expected.kind, got.kind):
            same = got.kind == expected.kind and set(got.keys) == set(expected.keys)
            keys = f"a dict of {', '.join(map(repr, got.keys))}" if got.keys else describe(got)
            if not self.fact(same, "structure", path, text, clean(keys)):
                return
        else:
            same = len(got.items) == len(expected.items)
            note = "list and tuple are different answers" if same else ""
            self.fact(same and got.kind == expected.kind, "structure", path, text, got, note)
            if not same:
                return
        for position, item in enumerate(expected.items):
            key: int | str = expected.keys[position] if expected.keys else position
            answered = got.items[got.keys.index(key)] if isinstance(key, str) else got.items[key]
            self.visit(item, answered, child_of(told, key), f"{path}[{key!r}]")

    def slices(self, expected: ExpectedSlices, got: Value, told: Value | None, path: str) -> None:
        """Rows and indices as they stand: their order and duplicates are part of the answer."""
        if not isinstance(got, Slices):
            self.other(expected, got, path)
            return
        self.compared += 1
        rows = told if isinstance(told, Slices) else None
        self.visit(expected.values, got.values, rows and rows.values, f"{path}.values")
        self.visit(expected.indices, got.indices, rows and rows.indices, f"{path}.indices")
        if expected.dense_shape is not None:
            shape = "None" if got.dense_shape is None else str(list(got.dense_shape))
            holds = got.dense_shape == expected.dense_shape
            due = str(list(expected.dense_shape))
            self.fact(holds, "shape", f"{path}.dense_shape", due, shape)

    def tensor(self, expected: ExpectedTensor, got: Value, told: Value | None, path: str) -> None:
        """The dtype, the shape, then the elements."""
        if not isinstance(got, Tensor):
            self.other(expected, got, path)
            return
        due = due_for(expected, got, told, self.dtypes, self.exact)
        if not self.fact(due.holds, "dtype", path, due.text, got.dtype, due.note):
            return
        shapes = [str(array.shape) for array in (due.array, got.array)]
        note = f"got {array_text(got.array)}"
        if not self.fact(shapes[0] == shapes[1], "shape", path, shapes[0], shapes[1], note):
            return
        self.compared += due.array.size
        mismatch = mismatch_of(due, got.array, self.bounds, expected.within)
        if mismatch is not None:
            self.mismatches.append(replace(mismatch, name=self.observed_name, path=path))


VISITORS: Mapping[type, Callable[..., None]] = {
    ExpectedTensor: _ValueWalk.tensor,
    ExpectedNone: _ValueWalk.none,
    ExpectedStructure: _ValueWalk.structure,
    ExpectedSlices: _ValueWalk.slices,
    ExpectedError: _ValueWalk.error,
    ExpectedRaised: _ValueWalk.raised,
    ExpectedCalls: _ValueWalk.calls,
    ExpectedWatched: _ValueWalk.watched,
    ExpectedAnyOf: _ValueWalk.any_of,
    ExpectedOracle: _ValueWalk.oracle,
    ExpectedSeen: _ValueWalk.seen,
}


def _seen(value: Value) -> Value:
    """A ragged or sparse tensor as the dict of its parts; any other value as it is."""
    return value.parts if isinstance(value, Composite) else value


def _is_no_answer(value: Value) -> bool:
    return isinstance(value, Raised | NotReached | NotObserved)


def _class(expected: Expectation, got: Value) -> MismatchClass:
    """The class of two answers that are not of one kind."""
    if _is_no_answer(got):
        return "error"
    if isinstance(expected, ExpectedCalls):
        return "calls"
    if isinstance(expected, ExpectedWatched):
        return "watched"
    is_leaf = isinstance(got, Tensor | NoneValue | Slices)
    if isinstance(expected, ExpectedStructure) or not is_leaf:
        return "structure"
    if isinstance(expected, ExpectedNone) or isinstance(got, NoneValue):
        return "none"
    return "slices"


def _distance(trial: _ValueWalk) -> tuple[int, int, float]:
    if not trial.mismatches:
        return (0, 0, 0.0)
    first = min(ORDER.index(mismatch.kind) for mismatch in trial.mismatches)
    return (len(trial.mismatches), -first, trial.mismatches[0].difference or 0.0)
