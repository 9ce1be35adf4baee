"""Quantization: rounding forward, the identity backward where nothing was cut off."""

from __future__ import annotations

import numpy as np

from reference_impl.arrays import Array
from reference_impl.ops.nondifferentiable import zeros_like
from reference_impl.ops.passing import where
from reference_impl.rules import REAL, primitive, vjp_of
from reference_impl.tensor import Tensor

Cts = tuple[Tensor | None, ...]


@primitive("QuantizeAndDequantizeV4", REAL)
def quantize_and_dequantize_v2(
    input: Array, input_min: Array, input_max: Array, *, range_given: bool
) -> Array:
    """Return x rounded, ties to even, to what 8 signed bits can hold of the range that is given.

    The steps have one size, such that -128 or 127 of them reach a bound.
    """
    step = max(input_min / input.dtype.type(-128), input_max / input.dtype.type(127))
    return np.asarray(np.clip(np.rint(input / step), -128, 127) * step, input.dtype)


@vjp_of(quantize_and_dequantize_v2)
def quantize_vjp(ct: Tensor, _out: Tensor, x: Tensor, low: Tensor, high: Tensor) -> Cts:
    """(ct where low <= x <= high, else 0; 0; 0). **Edges**: both bounds count as inside.

    **Source**: TF 2.21 `array_ops.py` `_QuantizeAndDequantizeV4Grad`.
    """
    inside = (x.array >= low.array) & (x.array <= high.array)
    return where(inside, ct, zeros_like(ct)), zeros_like(low), zeros_like(high)
