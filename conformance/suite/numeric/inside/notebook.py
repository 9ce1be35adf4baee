"""Notebooks: what each tape was offered, noted beside it, and run again with a shifted source.

A notebook keeps every operation that a tape's law lets it record, with the values of that time.
Running it again evaluates what lies downstream of the source, and nothing else: values made while
the tape did not record stay what they were, and so do the results of operations that are not
differentiable, values read back from state, and the control flow.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from conformance.suite.numeric.inside.declared import Array, Declared, NotFollowed
from reference_impl import rules
from reference_impl.dtypes import DIFFERENTIABLE_KINDS
from reference_impl.errors import OpError
from reference_impl.forward import ForwardAccumulator
from reference_impl.recording import Record, Recorder
from reference_impl.tensor import Tensor
from reference_impl.trace import Trace

Key: TypeAlias = "int | None"
"""What names a value; None names an input that is held fixed."""
Values = dict[Key, Array]
Shifts = Mapping[Key, Array]

UNDIFFERENTIATED = {"Betainc": (0, 1), "Polygamma": (0,), "Zeta": (0,)}
"""Inputs by which TensorFlow has no derivative and mathematics has (math_grad.py): held fixed."""

WITHOUT_PRIMITIVE: dict[str, Callable[..., Any]] = {"IdentityN": lambda *inputs: inputs}
"""How to run what the oracle records by itself, not as a primitive."""

DECLARING = ("reference_impl.custom_gradient", "reference_impl.registry")
"""The modules whose ways to pull back are a program's own."""

OWN_RULES = {op_type: op.rule for op_type, op in rules.PRIMITIVES.items()}
"""The oracle's rules, before any program registers one."""


class Entry:
    """One operation that a tape was offered: its inputs and outputs by key, and their values."""

    def __init__(self, record: Record, inputs: Sequence[Any], outputs: Sequence[Tensor]) -> None:
        self.op_type = record.op_type
        self.primitive, self.attributes = _primitive(record.vjp)
        fixed = UNDIFFERENTIATED.get(record.op_type, ())
        self.input_keys = [None if i in fixed else x.key for i, x in enumerate(inputs)]
        self.inputs = [x.array for x in inputs]
        self.output_keys = list(record.output_keys)
        outs = [y.array for y in outputs]
        self.declared: Declared | None = None
        if _is_declared(self.primitive, record.vjp):
            self.declared = Declared(record.vjp, self.inputs, outs)
            record.vjp = self.declared.listening

    def run(self, shifts: Shifts, values: Values) -> None:
        """Add to `values` the outputs that shifted or changed inputs lead to."""
        changed = any(key in shifts or key in values for key in self.input_keys)
        if self.declared is not None:
            for key in self.output_keys:  # what happened inside is replaced
                values.pop(key, None)
        if changed and (self.primitive is None or self.primitive.differentiable):
            results = self._results(self._arrays(shifts, values))
            values.update(zip(self.output_keys, results, strict=True))

    def _results(self, arrays: list[Array]) -> list[Array]:
        if self.declared is not None:
            return self.declared.outputs_at(arrays)
        forward = self.primitive.forward if self.primitive else WITHOUT_PRIMITIVE.get(self.op_type)
        if forward is None:
            raise NotFollowed(f"{self.op_type} cannot be run again")
        try:
            results = forward(*arrays, **self.attributes)
        except (ValueError, ArithmeticError, OpError) as error:
            raise NotFollowed("the edge of a domain") from error
        return [np.asarray(y) for y in (results if isinstance(results, tuple) else (results,))]

    def _arrays(self, shifts: Shifts, values: Values) -> list[Array]:
        """The inputs now; a variable's reading keeps the value of its time, shifted."""
        return [
            np.asarray(old + shifts[key]) if key in shifts else values.get(key, old)
            for key, old in zip(self.input_keys, self.inputs, strict=True)
        ]


class Notebook:
    """What one tape tracks by the first point of its law, and the operations it was offered."""

    def __init__(self) -> None:
        self.tracked: set[int] = set()
        self.entries: list[Entry] = []

    def offer(self, record: Record, inputs: Sequence[Any], outputs: Sequence[Tensor]) -> None:
        """Note an operation if one of its differentiable inputs is tracked."""
        if any(x.key in self.tracked and _is_differentiable(x.array) for x in inputs):
            self.entries.append(Entry(record, inputs, outputs))
            self.tracked.update(record.output_keys)

    def run(self, shifts: Shifts) -> Values:
        """The values of everything downstream of the shifted keys."""
        values: Values = {}
        with np.errstate(all="ignore"):
            for entry in self.entries:
                entry.run(shifts, values)
        return values


_notebooks: weakref.WeakKeyDictionary[Recorder, Notebook] = weakref.WeakKeyDictionary()


def notebook_of(recorder: Recorder) -> Notebook:
    """The notebook that is kept beside a tape's trace or an accumulator."""
    return _notebooks.setdefault(recorder, Notebook())


def take_notes() -> None:
    """From now on, note what is offered to any recorder and what a tape is told to watch."""
    for recorder in (Trace, ForwardAccumulator):
        _make_noting(recorder)
    watch = Trace.watch

    def watching(self: Trace, key: int) -> None:
        notebook_of(self).tracked.add(key)
        watch(self, key)

    Trace.watch = watching  # type: ignore[method-assign]


def _make_noting(recorder: Any) -> None:
    see = recorder.record

    def seeing(
        self: Recorder, record: Record, inputs: Sequence[Any], outputs: Sequence[Tensor]
    ) -> None:
        notebook_of(self).offer(record, inputs, outputs)
        see(self, record, inputs, outputs)

    recorder.record = seeing


def _primitive(vjp: Any) -> tuple[rules.Primitive[Any] | None, dict[str, Any]]:
    """The primitive behind a way to pull back, and its attributes."""
    own = getattr(vjp, "__wrapped__", vjp)
    if isinstance(own, partial) and own.func is rules.pull_back:
        return own.args[0], own.args[-1]
    return None, {}


def _is_declared(primitive: rules.Primitive[Any] | None, vjp: Any) -> bool:
    """Whether a program, and not the oracle, says what the derivative is."""
    if primitive is not None:
        return primitive.rule is not OWN_RULES.get(primitive.op_type)
    return getattr(vjp, "__module__", "") in DECLARING


def _is_differentiable(array: Array) -> bool:
    return array.dtype.kind in DIFFERENTIABLE_KINDS
