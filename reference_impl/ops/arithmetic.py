"""Arithmetic of two or more arguments; each rule stands below its operation.

Inputs broadcast, and the table undoes it: the rules give cotangents of the output's shape.
Every rule is written for complex numbers too: TensorFlow's gradient of a holomorphic function is
the conjugate of its derivative, so the partial derivatives are conjugated.
**Source** of all rules: TF 2.21 `math_grad.py`, the function named like the operation.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.arrays import Array
from reference_impl.ops.complex_numbers import cast, conj
from reference_impl.ops.elementwise import log
from reference_impl.ops.nondifferentiable import not_equal, ones_like, zeros_like
from reference_impl.ops.passing import where
from reference_impl.rules import BOOLEANS, FLOATING, NUMBERS, ORDERED, primitive, vjp_of
from reference_impl.tensor import Tensor

Cts = tuple[Tensor | None, ...]


# ----- Arithmetic -----


@primitive("AddV2")
def add(x: Array, y: Array) -> Array:
    """Return x + y."""
    return x + y


@vjp_of(add, broadcasts=True)
def add_vjp(ct: Tensor, _out: Tensor, x: Tensor, y: Tensor) -> Cts:
    """(ct, ct)."""
    return ct, ct


@primitive("Sub")
def subtract(x: Array, y: Array) -> Array:
    """Return x - y."""
    return x - y


@vjp_of(subtract, broadcasts=True)
def subtract_vjp(ct: Tensor, _out: Tensor, x: Tensor, y: Tensor) -> Cts:
    """(ct, -ct)."""
    return ct, -ct


@primitive("Mul", NUMBERS + BOOLEANS)
def multiply(x: Array, y: Array) -> Array:
    """Return x * y; of two booleans their conjunction, as Python's operator does in TensorFlow."""
    return x * y


@vjp_of(multiply, broadcasts=True)
def multiply_vjp(ct: Tensor, _out: Tensor, x: Tensor, y: Tensor) -> Cts:
    """(ct y, ct x)."""
    return ct * conj(y), conj(x) * ct


@primitive("RealDiv")
def divide(x: Array, y: Array) -> Array:
    """Return x / y; integers become float64 (8 and 16 bit: float32)."""
    if x.dtype.kind in "iu":
        return np.divide(x, y, dtype=np.float32 if x.itemsize < 4 else np.float64)
    return x / y


@vjp_of(divide, broadcasts=True)
def divide_vjp(ct: Tensor, _out: Tensor, x: Tensor, y: Tensor) -> Cts:
    """(ct / y, -ct x / y^2). **Edges**: at y = 0 both are inf or nan, as division gives them."""
    y = conj(y)
    return ct / y, ct * (-conj(x) / y / y)


@primitive("DivNoNan", FLOATING)
def divide_no_nan(x: Array, y: Array) -> Array:
    """Return x / y, and 0 where y = 0."""
    return np.where(y == 0, x.dtype.type(0), x / y)


@vjp_of(divide_no_nan, broadcasts=True)
def divide_no_nan_vjp(ct: Tensor, _out: Tensor, x: Tensor, y: Tensor) -> Cts:
    """(ct / y, -ct x / y^2). **Edges**: (0, 0) where y = 0."""
    y = conj(y)
    return divide_no_nan(ct, y), ct * divide_no_nan(divide_no_nan(-conj(x), y), y)


@primitive("MulNoNan", FLOATING)
def multiply_no_nan(x: Array, y: Array) -> Array:
    """Return x * y, and 0 where y = 0, even if x is infinite or nan."""
    return np.where(y == 0, np.zeros_like(x * y), x * y)


@vjp_of(multiply_no_nan, broadcasts=True)
def multiply_no_nan_vjp(ct: Tensor, _out: Tensor, x: Tensor, y: Tensor) -> Cts:
    """(ct y, ct x). **Edges**: where y = 0, (0, ct x), with x even if infinite or nan."""
    return multiply_no_nan(ct, conj(y)), multiply_no_nan(conj(x), ct)


@primitive("Neg")
def negative(x: Array) -> Array:
    """Return -x."""
    return -x


@vjp_of(negative, keeps_slices=True)
def negative_vjp(ct: Any, _out: Tensor, _x: Tensor) -> Cts:
    """-ct; slices stay slices."""
    return (-ct,)


@primitive("FloorDiv", ORDERED)
def floordiv(x: Array, y: Array) -> Array:
    """Return floor(x / y). **Errors**: an integer divided by 0 is an InvalidArgumentError."""
    _refuse_zero(y)
    return np.floor_divide(x, y)


@vjp_of(floordiv)
def floordiv_vjp(_ct: Tensor, _out: Tensor, _x: Tensor, _y: Tensor) -> Cts:
    """Unconnected, not zero."""
    return None, None


@primitive("FloorMod", ORDERED)
def floormod(x: Array, y: Array) -> Array:
    """Return x - floor(x / y) y, which has the sign of y. **Errors**: as `floordiv`."""
    _refuse_zero(y)
    return np.mod(x, y)


@vjp_of(floormod, broadcasts=True)
def floormod_vjp(ct: Tensor, _out: Tensor, x: Tensor, y: Tensor) -> Cts:
    """(ct, -ct floor(x / y)), also at the jumps."""
    return ct, ct * -floordiv(x, y)


def _refuse_zero(divisor: Array) -> None:
    if divisor.dtype.kind in "iu" and not np.all(divisor):
        raise ValueError("Integer division by zero")


@primitive("AddN")
def add_n(*inputs: Array) -> Array:
    """Return the sum of a list of tensors of one shape."""
    total = inputs[0]
    for x in inputs[1:]:
        if x.shape != total.shape:
            raise ValueError(f"shapes {x.shape} and {total.shape} are not equal")
        total = total + x
    return total


@vjp_of(add_n)
def add_n_vjp(ct: Tensor, _out: Tensor, *inputs: Tensor) -> Cts:
    """Ct for every input; nothing broadcasts."""
    return (ct,) * len(inputs)


# ----- Powers and logarithms of two arguments -----


@primitive("Pow")
def pow(x: Array, y: Array) -> Array:
    """Return x ** y."""
    return np.power(x, y)


@vjp_of(pow, broadcasts=True)
def pow_vjp(ct: Tensor, out: Tensor, x: Tensor, y: Tensor) -> Cts:
    """(ct y x^(y-1), ct x^y log x).

    **Edges**: in y, log x is taken as 0 where x <= 0 (complex: where x = 0), so (-2)^3 gives -0;
    in x, 0^0 gives nan and 0^0.5 inf, as the formula does.
    """
    x, y = conj(x), conj(y)
    positive = not_equal(x, 0) if x.dtype.is_complex else x > 0
    log_x = where(positive, log(where(positive, x, ones_like(x))), zeros_like(x))
    return ct * y * pow(x, y - 1), ct * conj(out) * log_x


@primitive("SquaredDifference")
def squared_difference(x: Array, y: Array) -> Array:
    """Return (x - y) ** 2; for complex numbers (x - y) conj(x - y)."""
    return np.asarray((x - y) * np.conj(x - y))


@vjp_of(squared_difference, broadcasts=True)
def squared_difference_vjp(ct: Tensor, _out: Tensor, x: Tensor, y: Tensor) -> Cts:
    """(2 ct (x - y), -2 ct (x - y))."""
    ct_x = 2.0 * ct * (x - y)
    return ct_x, -ct_x


@primitive("Xlogy", FLOATING)
def xlogy(x: Array, y: Array) -> Array:
    """Return x log y, and 0 where x = 0."""
    return np.where(x == 0, np.zeros_like(x * y), x * np.log(y))


@vjp_of(xlogy, broadcasts=True)
def xlogy_vjp(ct: Tensor, _out: Tensor, x: Tensor, y: Tensor) -> Cts:
    """(ct log y, ct x / y). **Edges**: (0, 0) where x = 0, even at y = 0."""
    return xlogy(_is_not_zero(x), conj(y)) * ct, xdivy(conj(x), conj(y)) * ct


@primitive("Xlog1py", FLOATING)
def xlog1py(x: Array, y: Array) -> Array:
    """Return x log(1 + y), and 0 where x = 0."""
    return np.where(x == 0, np.zeros_like(x * y), x * np.log1p(y))


@vjp_of(xlog1py, broadcasts=True)
def xlog1py_vjp(ct: Tensor, _out: Tensor, x: Tensor, y: Tensor) -> Cts:
    """(ct log(1 + y), ct x / (1 + y)). **Edges**: (0, 0) where x = 0."""
    return xlog1py(_is_not_zero(x), conj(y)) * ct, xdivy(conj(x), conj(y) + 1.0) * ct


@primitive("Xdivy", FLOATING)
def xdivy(x: Array, y: Array) -> Array:
    """Return x / y, and 0 where x = 0."""
    return np.where(x == 0, np.zeros_like(x * y), x / y)


@vjp_of(xdivy, broadcasts=True)
def xdivy_vjp(ct: Tensor, _out: Tensor, x: Tensor, y: Tensor) -> Cts:
    """(ct / y, -ct x / y^2). **Edges**: (0, 0) where x = 0."""
    return xdivy(_is_not_zero(x), conj(y)) * ct, xdivy(conj(-x), conj(y) ** 2) * ct


def _is_not_zero(x: Tensor) -> Any:
    return cast(not_equal(x, 0), x.dtype)
