"""Operations that pass a value on, and a cotangent back, or not; or one of two, by a condition.

**Source** of all rules: TF 2.21 `array_grad.py`, `math_grad.py` `_SelectGradV2`; contract part 1,
lines 107 to 114.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl import recording
from reference_impl.arrays import Array, as_indices
from reference_impl.dtypes import DIFFERENTIABLE_KINDS
from reference_impl.rules import ANY, not_differentiable, primitive, vjp_of, zeros_for_unused
from reference_impl.tensor import IndexedSlices, Tensor, convert_to_tensor

Cts = tuple[Any, ...]


@primitive("Identity", ANY)
def _identity(x: Array) -> Array:
    return x


@vjp_of(_identity, keeps_slices=True)
def identity_vjp(ct: Any, _out: Tensor, _x: Tensor) -> Cts:
    """Ct itself; slices stay slices."""
    return (ct,)


def identity(input: Any) -> Any:
    """Return a new tensor with the value of `input`, connected to it."""
    return input if isinstance(input, IndexedSlices) else _identity(input)


def identity_n(input: Any) -> list[Tensor]:
    """Return new tensors of any dtypes with the values of the inputs, by one operation.

    Its rule: each cotangent itself; zeros for a floating output that nothing depends on.
    """
    inputs = [convert_to_tensor(x) for x in input]
    outputs = [Tensor(x.array) for x in inputs]
    numbers = [i for i, x in enumerate(inputs) if x.array.dtype.kind in DIFFERENTIABLE_KINDS]

    def identity_n_vjp(*cts: Any) -> list[Any]:
        given = zeros_for_unused([cts[i] for i in numbers], [outputs[i] for i in numbers])
        by_place = dict(zip(numbers, given, strict=True))
        return [by_place.get(i) for i in range(len(inputs))]

    recording.record_operation("IdentityN", inputs, outputs, identity_n_vjp)
    return outputs


@primitive("ReadVariableOp", ANY)
def read_variable(handle: Array) -> Array:
    """Return the value that the handle holds now."""
    return handle


@vjp_of(read_variable, keeps_slices=True)
def read_variable_vjp(ct: Any, _out: Tensor, _handle: Any) -> Cts:
    """Ct itself; slices stay slices."""
    return (ct,)


@not_differentiable
@primitive("StopGradient", ANY)
def _stop_gradient(input: Array) -> Array:
    return input


def stop_gradient(input: Any) -> Tensor:
    """Return the value of `input`, unconnected to it; a tape does not even track the result."""
    with recording.stop_recording():
        return _stop_gradient(input)


@primitive("PreventGradient", ANY)
def prevent_gradient(input: Array, *, message: str = "") -> Array:
    """Return the value of `input`; asking for a gradient through it is a LookupError."""
    return input


@vjp_of(prevent_gradient)
def prevent_gradient_vjp(_ct: Tensor, _out: Tensor, _input: Tensor, *, message: str) -> Cts:
    """**Errors**: LookupError, always."""
    raise LookupError(f"Gradient explicitly disabled. Reason: {message}")


@primitive("SelectV2", ANY, condition=as_indices)
def _select(x: Array, y: Array, *, condition: Array) -> Array:
    return np.where(condition, x, y)


@vjp_of(_select, broadcasts=True)
def select_vjp(ct: Tensor, _out: Tensor, x: Tensor, y: Tensor, *, condition: Array) -> Cts:
    """Ct goes to the branch that was taken, zero to the other.

    **Edges**: selected, not multiplied by a mask, so an infinite ct leaves no nan behind.
    """
    zero = Tensor(np.zeros((), ct.array.dtype))
    return where(condition, ct, zero), where(condition, zero, ct)


def where(condition: Any, x: Any, y: Any) -> Tensor:
    """Return x where the condition holds and y elsewhere."""
    return _select(x, y, condition=condition)
