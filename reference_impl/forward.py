"""ForwardAccumulator: tangents, computed along with the values.

The tangent of an output is read off its rule: the rule is linear in the cotangent, so the
derivative of `<rule(ct), tangents>` by ct is the Jacobian times the tangents, whatever ct is.
Accumulators and tapes apply in the order in which they were entered; what an accumulator computes
is seen only by the recorders outside it, so that perturbations are never confused.
**Source**: TF 2.21 forwardprop.py; contract part 1, section 17.
"""

from __future__ import annotations

import logging
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from reference_impl import nest, recording
from reference_impl.dtypes import DIFFERENTIABLE_KINDS
from reference_impl.recording import Record
from reference_impl.tape import GradientTape
from reference_impl.tensor import Tensor, Variable, convert_to_tensor, dense
from reference_impl.unconnected import UnconnectedGradients, zeros_like

_logger = logging.getLogger("tensorflow")


class ForwardAccumulator:
    """Computes Jacobian-vector products of what is executed inside its context.

    primals, tangents: one structure each; a tangent has its primal's shape and dtype.
    **Errors**: ValueError for a primal given twice, for structures or shapes that differ, and for
    entering an accumulator that is recording.
    """

    def __init__(self, primals: Any, tangents: Any) -> None:
        self._tangents: dict[int, Any] = {}
        self._recording = False
        seen: set[int] = set()
        for primal in nest.flatten(primals):
            if id(primal) in seen:
                raise ValueError(
                    f"Tensor {primal} was specified as a primal multiple times. This may "
                    "indicate an error. If it was intended, please sum the "
                    "corresponding tangents."
                )
            seen.add(id(primal))
        nest.map_structure(self._watch, primals, tangents)

    def _watch(self, primal: Any, tangent: Any) -> None:
        if not primal.dtype.is_floating:
            _logger.warning(
                "The dtype of the watched primal must be floating (e.g. tf.float32), got %r",
                primal.dtype,
            )
        place = primal.handle if isinstance(primal, Variable) else primal
        direction = convert_to_tensor(tangent, dtype=primal.dtype)
        if direction.shape != primal.shape:
            raise ValueError(
                f"Tangent {direction} was expected to be of shape {primal.shape} "
                f"but is of shape {direction.shape}"
            )
        self._remember(place, direction)

    def __enter__(self) -> ForwardAccumulator:
        if self._recording:
            raise ValueError("Accumulator is already recording.")
        recording.push(self)
        self._recording = True
        return self

    def __exit__(self, *exception: object) -> None:
        if self._recording:
            recording.remove(self)
            self._recording = False

    def jvp(self, primals: Any, unconnected_gradients: Any = UnconnectedGradients.NONE) -> Any:
        """Return the tangents of `primals`, already computed; None (or zeros) for none."""
        unconnected = UnconnectedGradients(unconnected_gradients)

        def tangent_of(primal: Any) -> Any:
            place = primal.handle if isinstance(primal, Variable) else primal
            if not hasattr(place, "key"):
                raise AttributeError(f"{type(primal).__name__!r} object has no attribute '_id'")
            tangent = self._tangents.get(place.key)
            if tangent is None and unconnected is UnconnectedGradients.ZERO:
                return zeros_like(place)
            return tangent

        return nest.map_structure(tangent_of, primals)

    def variable_accessed(self, variable: Variable) -> None:
        """Do nothing: only the primals have tangents."""

    def record(self, record: Record, inputs: Sequence[Any], outputs: Sequence[Tensor]) -> None:
        """Compute the tangents of the outputs, if an input has one."""
        known = [self._tangents.get(key) for key in record.input_keys]
        if all(tangent is None for tangent in known) or not any(map(_is_differentiable, outputs)):
            return
        stack = recording.thread.recorders
        with recording.only(stack[: stack.index(self)]):
            tangents = [
                zeros_like(x) if tangent is None else tangent
                for x, tangent in zip(inputs, known, strict=True)
            ]
            for y, tangent in zip(outputs, _push_forward(record, outputs, tangents), strict=True):
                if tangent is not None:
                    self._remember(y, tangent)

    def _remember(self, primal: Any, tangent: Any) -> None:
        """Keep the tangent for as long as its primal lives."""
        self._tangents[primal.key] = tangent
        weakref.finalize(primal, self._tangents.pop, primal.key, None)


def _push_forward(
    record: Record, outputs: Sequence[Tensor], tangents: Sequence[Any]
) -> Sequence[Any]:
    """Return the tangents of the outputs: the rule, transposed by a tape of its own."""
    with GradientTape() as tape:
        cts = [_linear_point(y) for y in outputs]
        tape.watch([ct for ct in cts if ct is not None])
        cts_in = [dense(ct() if callable(ct) else ct) for ct in record.vjp(*cts)]
    pairs = [(ct, t) for ct, t in zip(cts_in, tangents, strict=True) if ct is not None]
    targets, seeds = [ct for ct, _ in pairs], [t for _, t in pairs]
    sources = [ct for ct in cts if ct is not None]
    found = iter(tape.gradient(targets, sources, output_gradients=seeds))
    return [None if ct is None else next(found) for ct in cts]


def _linear_point(out: Tensor) -> Tensor | None:
    """Return some cotangent for a differentiable output: the rule is linear in it."""
    return Tensor(np.ones_like(out.array)) if _is_differentiable(out) else None


def _is_differentiable(tensor: Tensor) -> bool:
    return tensor.array.dtype.kind in DIFFERENTIABLE_KINDS
