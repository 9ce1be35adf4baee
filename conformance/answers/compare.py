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

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from conformance.answers.answer import (
    ENDING,
    Answer,
    Composite,
    Derivative,
    NoneValue,
    NotObserved,
    NotReached,
    Raised,
    Slices,
    Structure,
    Tensor,
    Value,
    VariableName,
    item_of,
)
from conformance.answers.dense import densified
from conformance.answers.literals import flatten, literal_of
from conformance.answers.mismatch import (
    ORDER,
    Mismatch,
    MismatchClass,
    due_for,
    mismatch_of,
    mismatch_of_estimate,
)
from conformance.answers.text import array_text, describe, steady, text_of
from conformance.answers.tolerances import K_LONG, Bounds, derivative_bound, has_corner, magnitudes
from conformance.corpus.language import case as language
from conformance.corpus.language.case import Cancellation, Expectation
from conformance.corpus.language.literals import Kind, kind_of
from conformance.corpus.language.lowering import Lowered
from conformance.text import clean

BETWEEN_ANSWERS = Bounds(K_LONG)
"""A record does not say how many operations a program has: the wider bound is taken."""
NO_ANSWER = (Raised, NotReached, NotObserved)
DUE = {"tensor": "a tensor", "array": "a NumPy array", "scalar": "a Python scalar"}


class NothingCompared(AssertionError):
    """A comparison that compared no fact: the suite's own fault, never a pass."""


@dataclass
class Facts:
    """What a comparison found: every mismatch, how many facts were compared, and what to note.

    `unspoken` counts the names of which only an absent oracle could have said what is due;
    `seconded` says whether the oracle's own value was compared, `derived` whether a derivative was.
    """

    mismatches: list[Mismatch] = field(default_factory=list)
    compared: int = 0
    notes: list[str] = field(default_factory=list)
    unspoken: int = 0
    seconded: bool = False
    derived: bool = False

    def add(self, other: Facts, note: str = "") -> None:
        """Count what another comparison found; the note is added to each of its mismatches."""
        self.compared += other.compared
        self.derived |= other.derived
        for mismatch in other.mismatches:
            notes = "; ".join(filter(None, (mismatch.note, note)))
            self.mismatches.append(replace(mismatch, note=notes))


# ----- an answer and a declaration -----


@dataclass(frozen=True)
class Declared:
    """What a cell's answer must be.

    `oracle` holds what the oracle answered for each name: it gives a literal without dtype its
    dtype, and of the names in `seconded` its value must be met too. `dtypes` are those that a
    literal may have beyond TensorFlow's own choice where the oracle is silent; None: any of the
    literal's family. `derivatives` are those of the target's own forward, for each name that a
    derivative is expected of. `warns` must be part of a warning.
    """

    expectations: Mapping[str, Expectation]
    program: Lowered
    oracle: Mapping[str, Value] = field(default_factory=dict)
    seconded: Collection[str] = ()
    dtypes: frozenset[str] | None = None
    warns: str | None = None
    derivatives: Mapping[str, Derivative] = field(default_factory=dict)


def compare(answer: Answer, declared: Declared, bounds: Bounds) -> Facts:
    """Hold a target's answer against what was declared.

    Every declared name is compared, how the program ended, the oracle's own values, and the
    warning. Errors: LiteralError where an expectation itself is at fault.
    """
    facts, error = Facts(), answer.error
    for name, expected in declared.expectations.items():
        if isinstance(expected, language.ExpectedSurvey):
            continue
        got = _explained(answer, name, declared.program)
        is_placeless = error is not None and error.step is None and got is error
        if is_placeless and isinstance(expected, language.ExpectedError):
            facts.notes.append(f"{name}: the step of the error is unknown")
        walk = _ValueWalk(name, bounds, declared.dtypes)
        walk.derivative = declared.derivatives.get(name)
        try:
            facts.add(walk.compared(expected, got, declared.oracle.get(name)))
        except NothingCompared as fault:
            facts.unspoken += 1
            facts.notes.append(str(fault))
    if ENDING not in declared.expectations:
        _compare_ending(facts, answer, declared.program)
    _compare_with_oracle(facts, answer, declared, bounds)
    if declared.warns is not None:
        _compare_warning(facts, answer, declared.warns)
    return facts


def _compare_ending(facts: Facts, answer: Answer, program: Lowered) -> None:
    """An error that ended the program and is no observed name's answer is a mismatch."""
    error = answer.error
    if error is None:
        return
    told = told_by(answer, program).values()
    if facts.mismatches:
        if any(isinstance(value, NotReached) for value in told):
            facts.notes.append(f"the program ended before: {describe(error)}")
    elif not any(isinstance(value, Raised) and value.type == error.type for value in told):
        name = clean(error.step, 60) if error.step else ""
        note = "the program ended with an error that the case does not expect"
        facts.compared += 1
        mismatch = Mismatch("error", name, "", "no error", describe(error), note=note)
        facts.mismatches.append(mismatch)


def _compare_with_oracle(facts: Facts, answer: Answer, declared: Declared, bounds: Bounds) -> None:
    """What agrees with the declaration must agree with the oracle's own value too."""
    failed = {mismatch.name for mismatch in facts.mismatches}
    for name, expected in declared.expectations.items():
        told = declared.oracle.get(name)
        is_seconded = name in declared.seconded and _is_value(expected)
        if told is None or not (is_seconded or isinstance(expected, language.ExpectedOracle)):
            continue
        facts.seconded = True
        if is_seconded and name not in failed:
            due = expectation_of(told, beside=expected)
            got = _explained(answer, name, declared.program)
            found = compare_value(due, got, bounds, name=name, oracle=told)
            facts.add(found, "expected by the oracle")


def _compare_warning(facts: Facts, answer: Answer, due: str) -> None:
    """A declared warning must be among those that were logged."""
    facts.compared += 1
    if not any(due in warning for warning in answer.warnings):
        got = clean("; ".join(answer.warnings)) or "no warning"
        facts.mismatches.append(Mismatch("warning", "warns", "", repr(due), got))


def _is_value(expected: Expectation) -> bool:
    """Whether the oracle's own value binds the target: no choice, no error, no count."""
    if isinstance(expected, language.ExpectedStructure):
        return all(map(_is_value, expected.items))
    values = language.ExpectedTensor | language.ExpectedNone | language.ExpectedSlices
    return isinstance(expected, values | language.ExpectedDerivative)


def told_by(answer: Answer, program: Lowered) -> dict[str, Value]:
    """What an answer says of each observed name; nothing where there is none."""
    if answer.outcome != "answered":
        return {}
    return {name: _explained(answer, name, program) for name in program.observed}


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


# ----- two answers -----


@dataclass(frozen=True)
class Difference:
    """What differs between two answers: the facts, or `why` where their outcomes do."""

    mismatches: tuple[Mismatch, ...] = ()
    why: str = ""


def difference_of(old: Answer, new: Answer) -> Difference | None:
    """What differs between two answers that one program gave; None where they agree.

    Outcomes, values and the error that ended the case are compared: dtypes, shapes, the class of
    an error and its message (without what depends on the process), and values within a bound, in
    both directions, as it is relative to one of the two. The sign of zero does not count, nor do
    warnings, nor what a process that crashed last said.
    """
    if old.outcome != new.outcome:
        return Difference(why=f"{old.outcome} became {new.outcome}")
    if old.end != new.end:
        return Difference(why=f"{old.end} became {new.end}")
    found = _differing(old, new) or [
        replace(back, expected=back.got, got=back.expected, note="")
        for back in _differing(new, old)
    ]
    return Difference(tuple(found)) if found else None


def _differing(old: Answer, new: Answer) -> list[Mismatch]:
    """Where the second answer is not what the first one says, name by name."""
    found: list[Mismatch] = []
    for name in dict.fromkeys([*old.observations, *new.observations, ENDING]):
        due, got = old.observed(name), new.observed(name)
        if due != got:
            facts = compare_value(expectation_of(due), got, BETWEEN_ANSWERS, name=name)
            found += facts.mismatches
    return found


# ----- a value as an expectation -----


def expectation_of(value: Value, *, beside: Expectation | None = None) -> Expectation:
    """The expectation to answer the same value again.

    Dtypes and shapes are given; the sign of a zero is dropped, because no witness binds it. An
    error binds its very class and its message. As a witness (the oracle) `beside` a declaration it
    binds no message, an error is met by its bases, a dtype is left to compare_value's `oracle`, and
    what the declaration says of cancellation and of slices holds for it too.
    """
    if isinstance(beside, language.ExpectedTensor) and beside.dense:
        value = densified(value, _shape_of(beside)) or value
    match value:
        case Tensor():
            return _expected_tensor(value, beside)
        case Composite():
            return expectation_of(value.parts, beside=beside)
        case Structure(kind, _, keys):
            named = value.named.items()
            parts = tuple(expectation_of(item, beside=_item_of(beside, key)) for key, item in named)
            return language.ExpectedStructure(kind, parts, keys)
        case NoneValue():
            return language.ExpectedNone()
        case Slices(rows, indices, shape):
            both = beside if isinstance(beside, language.ExpectedSlices) else None
            values = _expected_tensor(rows, both.values if both else beside)
            return language.ExpectedSlices(values, _expected_tensor(indices, beside), shape)
        case Raised(type, _, message):
            exact = language.ExpectedRaised(type, message)
            return language.ExpectedError(type) if beside else exact
    return language.ExpectedSeen(describe(value))


def _expected_tensor(value: Tensor, beside: Expectation | None) -> language.ExpectedTensor:
    array = value.array
    if array.dtype.kind in "fc":
        with np.errstate(invalid="ignore"):  # a signalling nan
            array = array + array.dtype.type(0)  # -0.0 + 0.0 is 0.0
    dtype = None if beside and value.kind == "tensor" else value.dtype
    due = language.ExpectedTensor(literal_of(array), dtype, array.shape, numpy=value.numpy)
    if isinstance(beside, language.ExpectedTensor):
        return replace(due, cancels=beside.cancels, dense=beside.dense)
    if isinstance(beside, language.ExpectedDerivative):
        size = float(magnitudes(array).max(initial=0.0))
        return replace(due, cancels=Cancellation(size, "a derivative does not say what cancels"))
    return due


def _item_of(expected: Expectation | None, key: int | str) -> Expectation | None:
    """What is expected of an item of a structure; of all that is expected as one, that."""
    if not isinstance(expected, language.ExpectedStructure):
        return expected
    keys = expected.keys or range(len(expected.items))
    return dict(zip(keys, expected.items, strict=True)).get(key, expected)


def _shape_of(expected: language.ExpectedTensor) -> tuple[int, ...]:
    return flatten(expected.value)[1] if expected.shape is None else expected.shape


# ----- one value -----


def compare_value(
    expected: Expectation,
    got: Value,
    bounds: Bounds,
    *,
    name: str = "",
    oracle: Value | None = None,
) -> Facts:
    """Compare one value with what it must be.

    A tensor without dtype takes the dtype that `oracle` has at the same place. Errors:
    NothingCompared, and LiteralError where the expectation itself is at fault.
    """
    return _ValueWalk(name, bounds).compared(expected, got, oracle)


@dataclass
class _ValueWalk:
    """The walk over one expectation, place by place; `told` is what the oracle says there."""

    name: str
    bounds: Bounds
    dtypes: frozenset[str] | None = None
    derivative: Derivative | None = None
    facts: Facts = field(default_factory=Facts)

    def compared(self, expected: Expectation, got: Value, told: Value | None) -> Facts:
        """The facts of the whole value. Errors: NothingCompared."""
        self.visit(expected, got, told, "")
        if not self.facts.compared:
            raise NothingCompared(f"no fact of {self.name or 'a value'} was compared")
        return self.facts

    def visit(self, expected: Expectation, got: Value, told: Value | None, path: str) -> None:
        """Compare at `path`; a ragged or sparse tensor is the dict of its parts."""
        got = got.parts if isinstance(got, Composite) else got
        told = told.parts if isinstance(told, Composite) else told
        if isinstance(expected, language.ExpectedTensor) and expected.dense:
            shape = _shape_of(expected)
            got, told = densified(got, shape) or got, densified(told, shape)
        match expected, got:
            case language.ExpectedTensor() as due, Tensor() as tensor:
                self.tensor(due, tensor, told, path)
            case language.ExpectedNone(), NoneValue():
                self.facts.compared += 1
            case language.ExpectedSurvey(), _:
                pass
            case language.ExpectedDerivative() as due, Tensor() | Slices():
                self.of_derivative(due, got, path)
            case language.ExpectedStructure() as due, Structure() as structure:
                self.structure(due, structure, told, path)
            case language.ExpectedSlices() as due, Slices() as slices:
                self.slices(due, slices, told, path)
            case language.ExpectedError() as due, Raised() as error:
                self.error(due, error, path)
            case language.ExpectedRaised() as due, Raised() as error:
                self.raised(due, error, path)
            case language.ExpectedCalls(count), Tensor(array, dtype):
                holds = dtype == "Python int" and int(array) == count
                self.fact(holds, "calls", path, expected, got)
            case language.ExpectedWatched() as due, Structure("list" | "tuple") as structure:
                self.watched(due, structure, path)
            case language.ExpectedAnyOf(options), _:
                self.any_of(options, got, told, path)
            case language.ExpectedOracle(), _:
                if told is None or isinstance(told, NotReached | NotObserved):
                    raise NothingCompared(f"the oracle says nothing of {self.name}{path}")
                self.visit(expectation_of(told, beside=expected), got, told, path)
            case language.ExpectedSeen(text), _:
                is_none = text.startswith(("not reached", "not observed"))
                kind: MismatchClass = (
                    "error" if is_none or isinstance(got, NO_ANSWER) else "structure"
                )
                self.fact(describe(got) == text, kind, path, text, got)
            case _:
                self.fact(False, _class(expected, got), path, expected, got)

    def fact(
        self,
        holds: bool,
        kind: MismatchClass,
        path: str,
        expected: Expectation | str,
        got: Value | str,
        note: str = "",
    ) -> bool:
        """Count one fact, and report it where it does not hold: only then are texts made."""
        self.facts.compared += 1
        if not holds:
            due = clean(expected if isinstance(expected, str) else text_of(expected))
            text = clean(got if isinstance(got, str) else describe(got))
            self.facts.mismatches.append(Mismatch(kind, self.name, path, due, text, note=note))
        return holds

    def is_a(self, kind: Kind, got: Tensor, path: str, expected: Expectation) -> bool:
        """Whether it is a tensor, a NumPy array or a Python scalar, as it must be."""
        note = f"{DUE[kind]} is due"
        return got.kind == kind or self.fact(False, "structure", path, expected, got, note)

    def any_of(
        self, options: tuple[Expectation, ...], got: Value, told: Value | None, path: str
    ) -> None:
        """One option must hold; otherwise the closest is reported."""
        trials = [replace(self, facts=Facts()) for _ in options]
        for trial, option in zip(trials, options, strict=True):
            trial.visit(option, got, told, path)
        if not trials:
            raise NothingCompared(f"{self.name}{path} allows no answer at all")
        closest = min((trial.facts for trial in trials), key=_distance)
        self.facts.add(closest, f"the closest of {len(trials)} answers that are allowed")

    def error(self, expected: language.ExpectedError, got: Raised, path: str) -> None:
        """The class or a base, then a part of the message, then the step."""
        step = got.step
        if not self.fact(expected.type in (got.type, *got.bases), "error", path, expected, got):
            return
        if expected.message:
            holds = expected.message in got.message
            self.fact(holds, "error", path, expected, got, "the message differs")
        if expected.at is not None:
            note = f"it arose at step {clean(step, 60)}" if step else "its step is unknown"
            holds = step is not None and expected.at in (step, *step.split(", "))
            self.fact(holds, "error", path, expected, got, note)

    def raised(self, expected: language.ExpectedRaised, got: Raised, path: str) -> None:
        """The very class, then the whole message but for what depends on the process."""
        if self.fact(expected.type == got.type, "error", path, expected, got):
            holds = steady(expected.message) == steady(got.message)
            self.fact(holds, "error", path, expected, got, "the message differs")

    def watched(self, expected: language.ExpectedWatched, got: Structure, path: str) -> None:
        """The names of the variables, in order."""
        names = tuple(item.name for item in got.items if isinstance(item, VariableName))
        told, note = f"variables {', '.join(names) or 'none'}", ""
        if len(names) < len(got.items):
            told, note = describe(got), "not all are variables"
        holds = not note and names == expected.names
        self.fact(holds, "watched", path, expected, told, note)

    def structure(
        self, expected: language.ExpectedStructure, got: Structure, told: Value | None, path: str
    ) -> None:
        """The container and its keys or length, then every item."""
        same = len(got.items) == len(expected.items)
        if "dict" in (expected.kind, got.kind):
            same = got.kind == expected.kind and set(got.keys) == set(expected.keys)
            keys = f"a dict of {', '.join(map(repr, got.keys))}" if got.keys else describe(got)
            self.fact(same, "structure", path, expected, keys)
        else:
            note = "list and tuple are different answers" if same else ""
            self.fact(same and got.kind == expected.kind, "structure", path, expected, got, note)
        if same:
            answered = got.named
            for key, item in zip(expected.keys or answered, expected.items, strict=True):
                self.visit(item, answered[key], item_of(told, key), f"{path}[{key!r}]")

    def slices(
        self, expected: language.ExpectedSlices, got: Slices, told: Value | None, path: str
    ) -> None:
        """All three parts as they stand: order and repetition are part of the answer."""
        self.facts.compared += 1
        rows = told if isinstance(told, Slices) else None
        self.visit(expected.values, got.values, rows and rows.values, f"{path}.values")
        self.visit(expected.indices, got.indices, rows and rows.indices, f"{path}.indices")
        due, shape = (s and str(list(s)) for s in (expected.dense_shape, got.dense_shape))
        self.fact(shape == due, "shape", f"{path}.dense_shape", str(due), str(shape))

    def of_derivative(
        self, expected: language.ExpectedDerivative, got: Tensor | Slices, path: str
    ) -> None:
        """The dtype and the shape of the source, then the elements, slices added up."""
        derivative = self.derivative
        if derivative is None:
            raise NothingCompared(f"no derivative of {self.name}{path} is known")
        self.facts.derived = True
        if derivative.fault:
            self.fact(False, "value", path, expected, got, f"it has none: {derivative.fault}")
            return
        if has_corner(derivative, expected.order):
            error = max(one.error for one in derivative.sources.values())
            note = f"it has none: two step sizes, or both sides, differ by {error:.1e}"
            self.fact(False, "value", path, expected, got, note)
            return
        estimate = derivative.sources[expected.source]
        due, dense = estimate.value.array, densified(got, estimate.value.array.shape)
        rows = got.values if isinstance(got, Slices) else got
        if not self.is_a("tensor", rows, path, expected):
            return
        if not self.fact(rows.dtype == expected.dtype, "dtype", path, expected.dtype, rows.dtype):
            return
        array = dense.array if isinstance(dense, Tensor) else np.zeros(())
        shape = str(array.shape) if isinstance(dense, Tensor) else "slices that do not fit"
        if not self.fact(shape == str(due.shape), "shape", path, str(due.shape), shape):
            return
        self.facts.compared += due.size
        bound, source = derivative_bound(
            derivative, expected.source, expected.dtype, expected.order
        )
        error = estimate.error + derivative.rounding
        mismatch = mismatch_of_estimate(due, array, bound, source, error)
        if mismatch is not None:
            self.facts.mismatches.append(replace(mismatch, name=self.name, path=path))

    def tensor(
        self, expected: language.ExpectedTensor, got: Tensor, told: Value | None, path: str
    ) -> None:
        """Whether it is a tensor at all, the dtype, the shape, then the elements."""
        kind = kind_of(expected.dtype, expected.numpy)
        if not self.is_a(kind, got, path, expected):
            return
        due = due_for(expected, got, told, self.dtypes)
        if not self.fact(due.holds, "dtype", path, due.text, got.dtype, due.note):
            return
        if due.array.shape != got.array.shape:
            due_shape, shape = str(due.array.shape), str(got.array.shape)
            self.fact(False, "shape", path, due_shape, shape, f"got {array_text(got.array)}")
            return
        self.facts.compared += 1 + due.array.size
        mismatch = mismatch_of(due, got.array, self.bounds, expected.within, expected.cancels)
        if mismatch is not None:
            self.facts.mismatches.append(replace(mismatch, name=self.name, path=path))


def _class(expected: Expectation, got: Value) -> MismatchClass:
    """The class of two answers that are not of one kind."""
    is_error = isinstance(expected, language.ExpectedError | language.ExpectedRaised)
    if is_error or isinstance(got, NO_ANSWER):
        return "error"
    if isinstance(expected, language.ExpectedCalls):
        return "calls"
    if isinstance(expected, language.ExpectedWatched):
        return "watched"
    is_leaf = isinstance(got, Tensor | NoneValue | Slices)
    if isinstance(expected, language.ExpectedStructure) or not is_leaf:
        return "structure"
    is_none = isinstance(expected, language.ExpectedNone) or isinstance(got, NoneValue)
    return "none" if is_none else "slices"


def _distance(facts: Facts) -> tuple[int, int, float]:
    if not facts.mismatches:
        return (0, 0, 0.0)
    first = min(ORDER.index(mismatch.kind) for mismatch in facts.mismatches)
    return (len(facts.mismatches), -first, facts.mismatches[0].difference or 0.0)
