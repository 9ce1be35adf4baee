"""Mistakes of a registered gradient: each makes a wrong answer from the right rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

Grads = tuple[Any, ...]
Rule = Callable[..., Any]
Mistake = Callable[[Rule, Any, Grads], Any]
"""From a rule, the operation that it is asked for and the upstream gradients: a wrong answer."""
SMALLER = {
    tf.float64: tf.float32,
    tf.float32: tf.float16,
    tf.complex128: tf.complex64,
}
"""The next smaller dtype, where there is one."""
MATRICES = (
    "BandedTriangularSolve",
    "BatchMatMul",
    "BatchMatMulV2",
    "BatchMatMulV3",
    "MatrixTriangularSolve",
)
"""The operations that broadcast all but the last two axes."""


class Operation:
    """An operation with other inputs or outputs than those it had."""

    def __init__(self, operation: Any, **others: Any) -> None:
        self._operation = operation
        self.__dict__.update(others)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._operation, name)


def is_float(value: Any) -> bool:
    """Whether a value is a tensor that can have a gradient."""
    return isinstance(value, tf.Tensor) and (value.dtype.is_floating or value.dtype.is_complex)


def is_complex(value: Any) -> bool:
    """Whether a value is a tensor whose conjugate is another."""
    return isinstance(value, tf.Tensor) and value.dtype.is_complex


def leaves(answer: Any) -> list[Any]:
    """The gradients in the answer of a rule, one for each input."""
    return list(answer) if isinstance(answer, (list, tuple)) else [answer]


def broadcast_shapes(operation: Any, grads: Grads) -> list[Any]:
    """The shape of each input after broadcasting; empty where none of them is broadcast."""
    inputs = operation.inputs or ()  # None where eager execution kept none
    shapes = [each.shape for each in inputs if is_float(each)]
    if len(shapes) < 2 or len(grads) != 1 or not is_float(grads[0]):
        return []
    out = grads[0].shape
    kept = 2 if operation.type in MATRICES else 0
    if not all(shape.is_fully_defined() for shape in [*shapes, out]):
        return []

    def wide(shape: Any) -> Any:
        return out[: out.rank - kept].concatenate(shape[shape.rank - kept :])

    found = [wide(each.shape) if is_float(each) else None for each in inputs]
    fits = all(_fits(shape, wide(shape)) for shape in shapes)
    return found if fits and any(shape != wide(shape) for shape in shapes) else []


def _fits(shape: Any, wide: Any) -> bool:
    """Whether a shape can be broadcast to a wide one."""
    last = wide[wide.rank - shape.rank :] if shape.rank <= wide.rank else None
    return last is not None and all(
        one in (1, other) for one, other in zip(shape, last, strict=True)
    )


def _changed(change: Callable[[Any], Any]) -> Mistake:
    """The mistake that changes each gradient of the right answer."""

    def changed(value: Any) -> Any:
        if isinstance(value, tf.IndexedSlices):
            return tf.IndexedSlices(changed(value.values), value.indices, value.dense_shape)
        return change(value) if is_float(value) else value

    def mistake(rule: Rule, operation: Any, grads: Grads) -> Any:
        return _like(rule(operation, *grads), changed)

    return mistake


def _like(answer: Any, change: Callable[[Any], Any]) -> Any:
    """A rule's answer with each gradient changed."""
    found = [change(value) for value in leaves(answer)]
    return found if isinstance(answer, (list, tuple)) else found[0]


def _scaled(factor: float) -> Mistake:
    return _changed(lambda value: value * tf.cast(factor, value.dtype))


def _none(rule: Rule, operation: Any, grads: Grads) -> Any:
    return _like(rule(operation, *grads), lambda value: None)


def _reversed(value: Any) -> Any:
    return tf.reshape(tf.reverse(tf.reshape(value, [-1]), [0]), tf.shape(value))


def _rounded(value: Any) -> Any:
    smaller = SMALLER.get(value.dtype)
    return tf.cast(tf.cast(value, smaller), value.dtype) if smaller else value


def _upstream_ignored(rule: Rule, operation: Any, grads: Grads) -> Any:
    return rule(operation, *(tf.ones_like(each) if is_float(each) else each for each in grads))


def _not_reduced(rule: Rule, operation: Any, grads: Grads) -> Any:
    shapes = broadcast_shapes(operation, grads)
    if not shapes:
        return rule(operation, *grads)
    pairs = zip(operation.inputs, shapes, strict=True)
    inputs = [each if shape is None else tf.broadcast_to(each, shape) for each, shape in pairs]
    return rule(Operation(operation, inputs=inputs), *grads)


def _not_conjugated(rule: Rule, operation: Any, grads: Grads) -> Any:
    """The derivative of an analytic function at the conjugate is the conjugate of its own."""

    def conjugated(values: Sequence[Any]) -> list[Any]:
        return [tf.math.conj(each) if is_complex(each) else each for each in values]

    if not any(map(is_complex, [*(operation.inputs or ()), *(operation.outputs or ())])):
        return rule(operation, *grads)
    values = {
        "inputs": conjugated(operation.inputs or ()),
        "outputs": conjugated(operation.outputs or ()),
    }
    return rule(Operation(operation, **values), *grads)


MISTAKES: dict[str, Mistake] = {
    "off_by_a_millionth": _scaled(1 + 1e-6),
    "off_by_a_percent": _scaled(1.01),
    "doubled": _scaled(2.0),
    "negated": _changed(lambda value: -value),
    "none": _none,
    "zeros": _changed(tf.zeros_like),
    "upstream_ignored": _upstream_ignored,
    "reversed": _changed(_reversed),
    "second_cut": _changed(tf.stop_gradient),
    "rounded": _changed(_rounded),
    "not_reduced": _not_reduced,
    "not_conjugated": _not_conjugated,
}
"""Every mistake by its name; the host names them, and says what they are."""
