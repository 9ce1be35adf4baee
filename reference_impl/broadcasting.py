"""The only place where broadcasting is undone.

Forward, a size-1 or missing axis is repeated; backward, the cotangents of the repetitions add up.
"""

from __future__ import annotations

from reference_impl.operators import OPERATORS
from reference_impl.tensor import Tensor


def sum_to_shape(ct: Tensor, shape: tuple[int, ...], out_shape: tuple[int, ...]) -> Tensor:
    """Return `ct` summed over the axes along which `shape` was broadcast to `out_shape`.

    ct: shape `out_shape`; returns shape `shape`, same dtype.
    **Edges**: a size-0 axis that came from size 1 sums to zero; rank 0 stays rank 0.
    **Errors**: a ct of another shape, as a wrong output gradient makes it, cannot be reshaped.
    **Source**: TF 2.21 math_grad.py, `_ReduceGradientArgs`.
    """
    if ct.array.shape == shape:
        return ct
    summed = OPERATORS["reduce_sum"](ct, _broadcast_axes(out_shape, shape))
    return summed if summed.array.shape == shape else OPERATORS["reshape"](summed, shape)


def _broadcast_axes(wide: tuple[int, ...], narrow: tuple[int, ...]) -> list[int]:
    missing = len(wide) - len(narrow)
    repeated = [
        missing + i
        for i, size in enumerate(narrow)
        if missing + i >= 0 and size == 1 and wide[missing + i] != 1
    ]
    return [*range(missing), *repeated]
