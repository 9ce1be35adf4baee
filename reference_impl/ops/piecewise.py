"""Piecewise functions: selection, extrema, absolute value, rounding.

At a kink the derivative is a convention, and here is where it is written down.
**Source** of all rules: TF 2.21 `math_grad.py`, `clip_ops.py`; METHODS.md 3.6.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.arrays import Array
from reference_impl.ops.arithmetic import divide_no_nan
from reference_impl.ops.complex_numbers import cast, complex
from reference_impl.ops.nondifferentiable import greater_equal, less_equal, zeros_like
from reference_impl.ops.passing import where
from reference_impl.rules import ORDERED, primitive, vjp_of
from reference_impl.tensor import Tensor, convert_to_tensor

Cts = tuple[Tensor | None, ...]


@primitive("Maximum", ORDERED)
def maximum(x: Array, y: Array) -> Array:
    """Return the greater of x and y; nan if either is nan."""
    return np.maximum(x, y)


@vjp_of(maximum, broadcasts=True)
def maximum_vjp(ct: Tensor, _out: Tensor, x: Tensor, y: Tensor) -> Cts:
    """Ct goes to x where x >= y, else to y.

    **Ties**: all of ct to x. **Edges**: nan compares false, so ct goes to y.
    """
    x_is_chosen = greater_equal(x, y)
    return where(x_is_chosen, ct, zeros_like(ct)), where(x_is_chosen, zeros_like(ct), ct)


@primitive("Minimum", ORDERED)
def minimum(x: Array, y: Array) -> Array:
    """Return the lesser of x and y; nan if either is nan."""
    return np.minimum(x, y)


@vjp_of(minimum, broadcasts=True)
def minimum_vjp(ct: Tensor, _out: Tensor, x: Tensor, y: Tensor) -> Cts:
    """Ct goes to x where x <= y, else to y.

    **Ties**: all of ct to x. **Edges**: nan compares false, so ct goes to y.
    """
    x_is_chosen = less_equal(x, y)
    return where(x_is_chosen, ct, zeros_like(ct)), where(x_is_chosen, zeros_like(ct), ct)


def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any) -> Tensor:
    """Return t, but not less than the one bound nor more than the other; a composition.

    **Ties**: at either bound all of ct goes to t. **Edges**: the lower of two crossed bounds wins.
    **Errors**: bounds that would make the result larger than t are a ValueError.
    """
    t = convert_to_tensor(t)
    not_above = minimum(t, clip_value_max)
    out = maximum(not_above, clip_value_min)
    for result in (not_above, out):
        if result.array.shape != t.array.shape:
            raise ValueError(f"Shapes {t.shape} and {result.shape} are incompatible")
    return out


@primitive("Abs", "fi")
def _abs(x: Array) -> Array:
    return np.abs(x)


@vjp_of(_abs)
def abs_vjp(ct: Tensor, _out: Tensor, x: Tensor) -> Cts:
    """Ct sign(x). **Ties**: 0 at 0."""
    return (ct * sign(x),)


@primitive("ComplexAbs", "c")
def _complex_abs(x: Array) -> Array:
    return np.abs(x)


@vjp_of(_complex_abs)
def complex_abs_vjp(ct: Tensor, out: Tensor, x: Tensor) -> Cts:
    """Ct x / |x|. **Edges**: 0 at 0."""
    return (divide_no_nan(complex(ct, zeros_like(ct)) * x, complex(out, zeros_like(out))),)


def abs(x: Any) -> Tensor:
    """Return the absolute value, real also for complex numbers."""
    x = convert_to_tensor(x)
    return _complex_abs(x) if x.array.dtype.kind == "c" else _abs(x)


@primitive("Sign", "fi")
def _sign(x: Array) -> Array:
    return np.sign(x)


@vjp_of(_sign)
def sign_vjp(_ct: Tensor, _out: Tensor, x: Tensor) -> Cts:
    """Zero everywhere: connected, unlike `floor`."""
    return (zeros_like(x),)


def sign(x: Any) -> Tensor:
    """Return -1, 0 or 1, as x is; x / |x| for complex numbers, 0 at 0."""
    x = convert_to_tensor(x)
    if x.array.dtype.kind != "c":
        return _sign(x)
    return divide_no_nan(x, cast(_complex_abs(x), x.dtype))


@primitive("Floor", "f")
def floor(x: Array) -> Array:
    """Return the greatest integer not above x, in x's dtype."""
    return np.floor(x)


@vjp_of(floor)
def floor_vjp(_ct: Tensor, _out: Tensor, _x: Tensor) -> Cts:
    """Unconnected, not zero."""
    return (None,)


@primitive("Ceil", "f")
def ceil(x: Array) -> Array:
    """Return the least integer not below x, in x's dtype."""
    return np.ceil(x)


@vjp_of(ceil)
def ceil_vjp(_ct: Tensor, _out: Tensor, _x: Tensor) -> Cts:
    """Unconnected, not zero."""
    return (None,)


def round(x: Any) -> Tensor:
    """Return the nearest whole number, halves to even, in x's dtype; integers as they are."""
    x = convert_to_tensor(x)
    return x if x.array.dtype.kind in "iu" else _round(x)


@primitive("Round", "f")
def _round(x: Array) -> Array:
    return np.round(x)


@vjp_of(_round)
def round_vjp(_ct: Tensor, _out: Tensor, _x: Tensor) -> Cts:
    """Unconnected, not zero."""
    return (None,)


@primitive("Rint", "f")
def rint(x: Array) -> Array:
    """Return the nearest integer, halves to even, in x's dtype."""
    return np.rint(x)


@vjp_of(rint)
def rint_vjp(_ct: Tensor, _out: Tensor, _x: Tensor) -> Cts:
    """Unconnected, not zero."""
    return (None,)


# ----- Neighbours -----


@primitive("NextAfter", "f")
def nextafter(x1: Array, x2: Array) -> Array:
    """Return the next number that the dtype holds after x1 in the direction of x2."""
    return np.nextafter(x1, x2)


@vjp_of(nextafter, broadcasts=True)
def nextafter_vjp(ct: Tensor, _out: Tensor, x1: Tensor, x2: Tensor) -> Cts:
    """(ct, 0 ct)."""
    return ct, ct * 0.0
