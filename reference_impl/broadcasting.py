"""The only place where broadcasting is undone.

Forward, a size-1 or missing axis is repeated; backward, the cotangents of the repetitions add up.
Repeating and summing are each other's transpose, so each is the rule of the other.
"""

from __future__ import annotations

import numpy as np

from reference_impl.arrays import Array, whole_numbers
from reference_impl.rules import ANY, primitive, vjp_of
from reference_impl.tensor import Tensor

Shape = tuple[int, ...]


@primitive("BroadcastTo", ANY, shape=whole_numbers)
def broadcast_to(input: Array, *, shape: Shape) -> Array:
    """Return the tensor repeated to a shape."""
    return np.full(shape, input, input.dtype)


@vjp_of(broadcast_to)
def broadcast_to_vjp(ct: Tensor, _out: Tensor, input: Tensor) -> tuple[Tensor]:
    """Ct, summed to the shape of the input."""
    return (sum_to_shape(ct, shape=input.array.shape),)


@primitive("SumToShape", ANY)
def sum_to_shape(ct: Array, *, shape: Shape) -> Array:
    """Return `ct` summed over the axes along which `shape` was broadcast to ct's shape.

    **Edges**: a size-0 axis that came from size 1 sums to zero; rank 0 stays rank 0.
    **Errors**: a ct of another shape, as a wrong output gradient makes it, cannot be reshaped.
    **Source**: TF 2.21 math_grad.py, `_ReduceGradientArgs`.
    """
    missing = ct.ndim - len(shape)
    repeated = [i for i, n in enumerate(shape, missing) if i >= 0 and n == 1 != ct.shape[i]]
    axes = (*range(missing), *repeated)
    return np.asarray(np.add.reduce(ct, axes, ct.dtype)).reshape(shape)


@vjp_of(sum_to_shape)
def sum_to_shape_vjp(ct: Tensor, _out: Tensor, summed: Tensor) -> tuple[Tensor]:
    """Ct, repeated to the shape that was summed."""
    return (broadcast_to(ct, summed.array.shape),)
