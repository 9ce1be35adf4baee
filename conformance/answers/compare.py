"""The comparer: one expectation against one observation, every fact that differs, in a fixed order.

At each place the first of these classes that applies is reported: error, structure, none, slices,
dtype, shape, non-finite, then zero or value. Every place of a structure is compared. The facts are
counted as they are compared; a comparison of no fact raises NothingCompared and never passes.

`none`   None where a value is due, or a value (zeros too) where None is due.
`zero`   every element is exactly zero where a non-zero element is due.
`value`  an element is beyond its bound, or lacks the sign of a declared -0.0.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from conformance.answers.answer import Observation
from conformance.answers.due import due_for
from conformance.answers.elements import Elements
from conformance.answers.mismatch import ORDER, Mismatch, MismatchClass, lines
from conformance.answers.recorded import (
    VALUES,
    RecordedError,
    RecordedMark,
    calls_of,
    dense_shape_of,
    expectation_of,
    part_of,
    view_of,
)
from conformance.answers.tolerances import Bounds, child_of
from conformance.answers.values import (
    STRUCTURES,
    MalformedObservation,
    Value,
    array_text,
    decode,
    describe,
    field_of,
    flatten,
    items_of,
    keys_of,
    kind_of,
)
from conformance.corpus.language.case import (
    Expectation,
    ExpectedAnyOf,
    ExpectedCalls,
    ExpectedError,
    ExpectedNone,
    ExpectedOracle,
    ExpectedSlices,
    ExpectedStructure,
    ExpectedTensor,
    ExpectedWatched,
)
from conformance.text import clean

__all__ = [
    "Comparison",
    "Mismatch",
    "NothingCompared",
    "compare",
    "expectation_of",
    "lines",
    "text_of",
]

NO_ANSWER = ("error", "not_reached", "not_observed")


class NothingCompared(AssertionError):
    """A comparison that compared no fact: the suite's own fault, never a pass."""


@dataclass(frozen=True)
class Comparison:
    """Every mismatch of an observation, and how many facts were compared."""

    mismatches: tuple[Mismatch, ...]
    compared: int


def compare(
    expected: Expectation,
    got: Observation,
    bounds: Bounds,
    *,
    name: str = "",
    oracle: Observation | None = None,
    dtypes: frozenset[str] | None = None,
) -> Comparison:
    """Compare one observation with what it must be.

    Args:
        expected: What it must be. A tensor without dtype takes the dtype that `oracle` has at the
            same place; a Python scalar is then compared by value.
        got: What the target answered.
        bounds: How far a float may be off.
        name: The observed name, for the mismatches.
        oracle: The oracle's observation of the same name; ExpectedOracle needs it.
        dtypes: The dtypes that a literal may have beyond TensorFlow's own choice where neither the
            literal nor the oracle says one. None: any of the literal's family.

    Errors: NothingCompared; MalformedObservation (of `got` or `oracle`); LiteralError where the
    expectation itself is at fault.
    """
    comparer = _Comparer(name, bounds, dtypes)
    comparer.visit(expected, got, oracle, "")
    if not comparer.compared:
        raise NothingCompared(f"no fact of {name or 'an observation'} was compared")
    return Comparison(tuple(comparer.mismatches), comparer.compared)


# ----- the walk -----


@dataclass
class _Comparer:
    """The walk over one expectation: what was compared so far, and what differed."""

    name: str
    bounds: Bounds
    dtypes: frozenset[str] | None
    compared: int = 0
    mismatches: list[Mismatch] = field(default_factory=list)

    def visit(
        self, expected: Expectation, got: Observation, word: Observation | None, path: str
    ) -> None:
        """Compare at `path`; `word` is what the oracle says there."""
        seen = view_of(got)
        kind = kind_of(seen)
        if isinstance(expected, ExpectedOracle):
            self.oracle(seen, word, path)
        elif isinstance(expected, ExpectedAnyOf):
            self.any_of(expected, seen, word, path)
        elif isinstance(expected, RecordedMark):
            self.fact(
                describe(seen) == expected.text, _class(expected, kind), path, expected.text, seen
            )
        elif isinstance(expected, ExpectedError):
            self.error(expected, seen, path)
        elif kind in NO_ANSWER:
            self.fact(False, "error", path, text_of(expected), seen)
        elif isinstance(expected, ExpectedTensor) and kind in VALUES:
            self.tensor(expected, decode(seen), word, path)
        elif isinstance(expected, ExpectedStructure) and kind in STRUCTURES:
            self.structure(expected, seen, word, path)
        elif isinstance(expected, ExpectedSlices) and kind == "indexed_slices":
            self.slices(expected, seen, word, path)
        elif isinstance(expected, ExpectedCalls) and kind == "scalar":
            self.fact(calls_of(seen) == expected.count, "calls", path, text_of(expected), seen)
        elif isinstance(expected, ExpectedWatched) and kind in ("list", "tuple"):
            self.watched(expected, seen, path)
        else:
            both_none = isinstance(expected, ExpectedNone) and kind == "none"
            self.fact(both_none, _class(expected, kind), path, text_of(expected), seen)

    def fact(
        self,
        holds: bool,
        kind: MismatchClass,
        path: str,
        expected: str,
        got: Observation | str,
        note: str = "",
    ) -> bool:
        """Count one fact, and report it where it does not hold."""
        self.compared += 1
        if not holds:
            text = got if isinstance(got, str) else describe(got)
            found = Mismatch(kind, self.name, path, clean(expected), clean(text), note=note)
            self.mismatches.append(found)
        return holds

    def oracle(self, got: Observation, word: Observation | None, path: str) -> None:
        """The oracle's own answer is the expectation."""
        if word is None or kind_of(word) in ("not_reached", "not_observed"):
            raise NothingCompared(f"the oracle has no word for {self.name}{path}")
        self.visit(expectation_of(word, witness=True), got, word, path)

    def any_of(
        self, expected: ExpectedAnyOf, got: Observation, word: Observation | None, path: str
    ) -> None:
        """One option must hold; otherwise the closest is reported."""
        trials = []
        for option in expected.options:
            trial = _Comparer(self.name, self.bounds, self.dtypes)
            trial.visit(option, got, word, path)
            trials.append(trial)
        if not trials:
            raise NothingCompared(f"{self.name}{path} allows no answer at all")
        closest = min(trials, key=_distance)
        self.compared += closest.compared
        note = f"the closest of {len(trials)} answers that are allowed"
        for mismatch in closest.mismatches:
            notes = "; ".join(filter(None, (mismatch.note, note)))
            self.mismatches.append(replace(mismatch, note=notes))

    def error(self, expected: ExpectedError, got: Observation, path: str) -> None:
        """The class or a base, then the message, then the step."""
        if kind_of(got) != "error":
            self.fact(False, "error", path, text_of(expected), got)
            return
        types = {field_of(got, "type")}
        if not isinstance(expected, RecordedError):
            types |= set(_bases(got))
        text = text_of(expected)
        if not self.fact(expected.type in types, "error", path, text, got):
            return
        if expected.message:
            holds = expected.message in field_of(got, "message")
            self.fact(holds, "error", path, text, got, "the message differs")
        if expected.at is not None:
            step = got.get("step")
            note = f"it arose at step {clean(str(step), 60)}" if step else "its step is unknown"
            holds = isinstance(step, str) and expected.at in (step, *step.split(", "))
            self.fact(holds, "error", path, text, got, note)

    def structure(
        self, expected: ExpectedStructure, got: Observation, word: Observation | None, path: str
    ) -> None:
        """The container and its keys or length, then every item."""
        items = items_of(got)
        if expected.kind == "dict" or got["kind"] == "dict":
            keys = keys_of(got) if got["kind"] == "dict" else ()
            same = got["kind"] == expected.kind and set(keys) == set(expected.keys)
            got_text = f"a dict of {', '.join(map(repr, keys))}" if keys else describe(got)
            if self.fact(same, "structure", path, text_of(expected), clean(got_text)):
                for key, item in zip(expected.keys, expected.items, strict=True):
                    below = f"{path}[{key!r}]"
                    self.visit(item, items[keys.index(key)], child_of(word, key), below)
            return
        same = len(items) == len(expected.items)
        note = "list and tuple are different answers" if same else ""
        holds = same and got["kind"] == expected.kind
        self.fact(holds, "structure", path, text_of(expected), got, note)
        if same:
            for position, (item, answered) in enumerate(zip(expected.items, items, strict=True)):
                self.visit(item, answered, child_of(word, position), f"{path}[{position}]")

    def slices(
        self, expected: ExpectedSlices, got: Observation, word: Observation | None, path: str
    ) -> None:
        """Rows and indices as they stand: their order and duplicates are part of the answer."""
        self.compared += 1
        said = word if word is not None and kind_of(word) == "indexed_slices" else None
        for part, item in (("values", expected.values), ("indices", expected.indices)):
            below = part_of(said, part) if said is not None else None
            self.visit(item, part_of(got, part), below, f"{path}.{part}")
        if expected.dense_shape is not None:
            have = dense_shape_of(got)
            text = str(list(expected.dense_shape))
            self.fact(
                have == expected.dense_shape, "shape", f"{path}.dense_shape", text,
                "None" if have is None else str(list(have)),
            )  # fmt: skip

    def watched(self, expected: ExpectedWatched, got: Observation, path: str) -> None:
        """The names of the variables, in order."""
        items = items_of(got)
        if not all(kind_of(item) == "variable" for item in items):
            self.fact(False, "watched", path, text_of(expected), got, "not all are variables")
            return
        names = tuple(field_of(item, "name") for item in items)
        text = clean(f"variables {', '.join(names) or 'none'}")
        self.fact(names == expected.names, "watched", path, text_of(expected), text)

    def tensor(
        self, expected: ExpectedTensor, got: Value, word: Observation | None, path: str
    ) -> None:
        """The dtype, the shape, then the elements."""
        due = due_for(expected, got, word, self.dtypes)
        if not self.fact(due.holds, "dtype", path, due.text, got.type_text, due.note):
            return
        shapes = [str(array.shape) for array in (due.array, got.array)]
        note = f"got {array_text(got.array)}"
        if not self.fact(shapes[0] == shapes[1], "shape", path, shapes[0], shapes[1], note):
            return
        self.compared += due.array.size
        mismatch = Elements(due, got.array, self.bounds, expected.within).mismatch()
        if mismatch is not None:
            self.mismatches.append(replace(mismatch, name=self.name, path=path))


def _bases(observation: Observation) -> list[str]:
    bases = observation.get("bases", ())
    if not isinstance(bases, (list, tuple)):
        raise MalformedObservation("the bases of an error are no list")
    return [base for base in bases if isinstance(base, str)]


def _class(expected: object, kind: str) -> MismatchClass:
    """The class of two answers that are not of one kind."""
    if kind in NO_ANSWER or (isinstance(expected, RecordedMark) and expected.kind in NO_ANSWER):
        return "error"
    if isinstance(expected, ExpectedCalls):
        return "calls"
    if isinstance(expected, ExpectedWatched):
        return "watched"
    leaves = (*VALUES, "none", "indexed_slices")
    if isinstance(expected, (ExpectedStructure, RecordedMark)) or kind not in leaves:
        return "structure"
    if isinstance(expected, ExpectedNone) or kind == "none":
        return "none"
    return "slices"


def _distance(trial: _Comparer) -> tuple[int, int, float]:
    if not trial.mismatches:
        return (0, 0, 0.0)
    first = min(ORDER.index(mismatch.kind) for mismatch in trial.mismatches)
    return (len(trial.mismatches), -first, trial.mismatches[0].difference or 0.0)


def text_of(expected: Expectation) -> str:
    """An expectation in one line, for a person."""
    if isinstance(expected, ExpectedNone):
        return "None"
    if isinstance(expected, ExpectedTensor):
        return _tensor_text(expected)
    if isinstance(expected, ExpectedSlices):
        return f"IndexedSlices of {_tensor_text(expected.values)}"
    if isinstance(expected, ExpectedStructure):
        if expected.kind == "dict":
            return f"a dict of {', '.join(map(repr, expected.keys))}"
        return f"a {expected.kind} of {len(expected.items)}"
    if isinstance(expected, ExpectedError):
        message = f" with {expected.message!r} in its message" if expected.message else ""
        return f"{expected.type}{message}" + (f" at step {expected.at}" if expected.at else "")
    if isinstance(expected, ExpectedCalls):
        return f"a function called {expected.count} times"
    if isinstance(expected, ExpectedWatched):
        return f"variables {', '.join(expected.names) or 'none'}"
    return "one of several answers" if isinstance(expected, ExpectedAnyOf) else "the oracle's word"


def _tensor_text(expected: ExpectedTensor) -> str:
    leaves, shape = flatten(expected.value)
    array = np.empty(len(leaves), dtype=object)
    array[:] = leaves
    dtype = f" ({expected.dtype})" if expected.dtype else ""
    return f"{array_text(array.reshape(shape))}{dtype}"
