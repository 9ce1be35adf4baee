"""Quantization: rounding forward, the identity backward where nothing was cut off."""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.arrays import Array
from reference_impl.ops.nondifferentiable import zeros_like
from reference_impl.ops.selection import where
from reference_impl.rules import REAL, primitive, to_tensors, vjp_of
from reference_impl.tensor import Tensor, convert_to_tensor

Cts = tuple[Tensor | None, ...]


@primitive("QuantizeAndDequantizeV4", REAL)
def _quantized(x: Array, low: Array, high: Array, *, least: int, greatest: int) -> Array:
    """Round to steps of one size, such that `least` or `greatest` of them reach a bound."""
    steps = [s for s in (low / (least or np.nan), high / greatest) if s > 0]
    step = max(steps, default=x.dtype.type(1))
    return np.asarray(np.clip(np.rint(x / step), least, greatest) * step, x.dtype)


@vjp_of(_quantized)
def quantized_vjp(
    ct: Tensor, _out: Tensor, x: Tensor, low: Tensor, high: Tensor, *, least: int, greatest: int
) -> Cts:
    """(ct where low <= x <= high, else 0; 0; 0). **Edges**: both bounds count as inside.

    **Source**: TF 2.21 `array_ops.py` `_QuantizeAndDequantizeV4Grad`.
    """
    inside = (x.array >= low.array) & (x.array <= high.array)
    return where(inside, ct, zeros_like(ct)), zeros_like(low), zeros_like(high)


def quantize_and_dequantize_v2(
    input: Any,
    input_min: Any,
    input_max: Any,
    signed_input: bool = True,
    num_bits: int = 8,
    range_given: bool = False,
    round_mode: str = "HALF_TO_EVEN",
    name: str | None = None,
    narrow_range: bool = False,
    axis: Any = None,
) -> Tensor:
    """Return x rounded to what `num_bits` bits can hold of the range; ties to even."""
    if axis is not None or round_mode != "HALF_TO_EVEN":
        raise NotImplementedError("the oracle quantizes whole tensors, with ties to even")
    x, low, high = to_tensors((convert_to_tensor(input), input_min, input_max))
    if not range_given:
        low, high = Tensor(x.array.min()), Tensor(x.array.max())
    greatest = 2 ** (num_bits - 1) - 1 if signed_input else 2**num_bits - 1
    least = -(greatest + (not narrow_range)) if signed_input else 0
    return _quantized(x, low, high, least=least, greatest=greatest)
