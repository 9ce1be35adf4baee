"""Functions of one number; each rule stands below its operation.

A rule uses the output where TensorFlow's does: what happens at a pole depends on it. Derivatives
are conjugated, because TensorFlow's gradient of a holomorphic function is the conjugate.
**Source** of all rules: TF 2.21 `math_grad.py`, the function named like the operation.
"""

from __future__ import annotations

import numpy as np

from reference_impl.arrays import Array
from reference_impl.ops.complex_numbers import conj
from reference_impl.ops.passing import where
from reference_impl.rules import FLOATING, primitive, vjp_of
from reference_impl.tensor import Tensor

Cts = tuple[Tensor | None, ...]


# ----- Powers -----


@primitive("Square")
def square(x: Array) -> Array:
    """Return x ** 2."""
    return x * x


@vjp_of(square)
def square_vjp(ct: Tensor, _out: Tensor, x: Tensor) -> Cts:
    """2 ct x."""
    return (ct * (conj(x) * 2.0),)


@primitive("Sqrt", FLOATING)
def sqrt(x: Array) -> Array:
    """Return the square root; nan for negative numbers."""
    return np.sqrt(x)


@primitive("SqrtGrad", FLOATING)
def _sqrt_grad(out: Array, ct: Array) -> Array:
    return _unless_zero(ct, _half(ct) / np.conj(out))


@vjp_of(sqrt)
def sqrt_vjp(ct: Tensor, out: Tensor, _x: Tensor) -> Cts:
    """Ct / (2 out). **Edges**: inf at 0, but 0 if ct is 0."""
    return (_sqrt_grad(out, ct),)


@vjp_of(_sqrt_grad)
def sqrt_grad_vjp(ct: Tensor, slope: Tensor, out: Tensor, _ct: Tensor) -> Cts:
    """(-ct slope / out, ct / (2 out))."""
    ratio = ct / out
    return -conj(ratio) * slope, 0.5 * ratio


@primitive("Rsqrt", FLOATING)
def rsqrt(x: Array) -> Array:
    """Return 1 / sqrt(x)."""
    return np.reciprocal(np.sqrt(x))


@primitive("RsqrtGrad", FLOATING)
def _rsqrt_grad(out: Array, ct: Array) -> Array:
    out = np.conj(out)
    return _unless_zero(ct, -_half(ct * out) * (out * out))


@vjp_of(rsqrt)
def rsqrt_vjp(ct: Tensor, out: Tensor, _x: Tensor) -> Cts:
    """-ct out^3 / 2. **Edges**: -inf at 0, but 0 if ct is 0."""
    return (_rsqrt_grad(out, ct),)


@vjp_of(_rsqrt_grad)
def rsqrt_grad_vjp(ct: Tensor, _out: Tensor, out: Tensor, ct_in: Tensor) -> Cts:
    """(-3/2 ct ct_in out^2, -ct out^3 / 2)."""
    out = conj(out)
    return -1.5 * conj(ct) * ct_in * square(out), _rsqrt_grad(out, ct)


@primitive("Reciprocal", FLOATING)
def reciprocal(x: Array) -> Array:
    """Return 1 / x."""
    return np.reciprocal(x)


@primitive("ReciprocalGrad", FLOATING)
def _reciprocal_grad(out: Array, ct: Array) -> Array:
    out = np.conj(out)
    return _unless_zero(ct, -out * ct * out)


@vjp_of(reciprocal)
def reciprocal_vjp(ct: Tensor, out: Tensor, _x: Tensor) -> Cts:
    """-ct out^2. **Edges**: -inf at 0, but 0 if ct is 0."""
    return (_reciprocal_grad(out, ct),)


@vjp_of(_reciprocal_grad)
def reciprocal_grad_vjp(ct: Tensor, _out: Tensor, out: Tensor, ct_in: Tensor) -> Cts:
    """(-2 ct ct_in out, -ct out^2)."""
    out = conj(out)
    return conj(ct) * -2.0 * ct_in * out, _reciprocal_grad(out, ct)


def _half(x: Array) -> Array:
    return np.asarray(x * x.dtype.type(0.5))


def _unless_zero(ct: Array, result: Array) -> Array:
    """Return the result, but 0 where ct is 0: no nan from 0 times infinity (contract part 3)."""
    return np.where(ct == 0, ct.dtype.type(0), result)


# ----- Exponentials and logarithms -----


@primitive("Exp", FLOATING)
def exp(x: Array) -> Array:
    """Return e ** x."""
    return np.exp(x)


@vjp_of(exp)
def exp_vjp(ct: Tensor, out: Tensor, _x: Tensor) -> Cts:
    """Ct out."""
    return (ct * conj(out),)


@primitive("Expm1", FLOATING)
def expm1(x: Array) -> Array:
    """Return e ** x - 1, exact near 0."""
    return np.expm1(x)


@vjp_of(expm1)
def expm1_vjp(ct: Tensor, _out: Tensor, x: Tensor) -> Cts:
    """Ct exp(x)."""
    return (ct * exp(conj(x)),)


@primitive("Log", FLOATING)
def log(x: Array) -> Array:
    """Return the natural logarithm."""
    return np.log(x)


@vjp_of(log)
def log_vjp(ct: Tensor, _out: Tensor, x: Tensor) -> Cts:
    """Ct / x. **Edges**: inf at 0."""
    return (ct * reciprocal(conj(x)),)


@primitive("Log1p", FLOATING)
def log1p(x: Array) -> Array:
    """Return log(1 + x), exact near 0."""
    return np.log1p(x)


@vjp_of(log1p)
def log1p_vjp(ct: Tensor, _out: Tensor, x: Tensor) -> Cts:
    """Ct / (1 + x)."""
    return (ct * reciprocal(1 + conj(x)),)


# ----- Trigonometric and hyperbolic functions -----


@primitive("Sin", FLOATING)
def sin(x: Array) -> Array:
    """Return the sine."""
    return np.sin(x)


@vjp_of(sin)
def sin_vjp(ct: Tensor, _out: Tensor, x: Tensor) -> Cts:
    """Ct cos x."""
    return (ct * cos(conj(x)),)


@primitive("Cos", FLOATING)
def cos(x: Array) -> Array:
    """Return the cosine."""
    return np.cos(x)


@vjp_of(cos)
def cos_vjp(ct: Tensor, _out: Tensor, x: Tensor) -> Cts:
    """-ct sin x."""
    return (-ct * sin(conj(x)),)


@primitive("Tan", FLOATING)
def tan(x: Array) -> Array:
    """Return the tangent."""
    return np.tan(x)


@vjp_of(tan)
def tan_vjp(ct: Tensor, _out: Tensor, x: Tensor) -> Cts:
    """Ct / cos^2 x."""
    return (square(reciprocal(cos(conj(x)))) * ct,)


@primitive("Asin", FLOATING)
def asin(x: Array) -> Array:
    """Return the inverse sine."""
    return np.arcsin(x)


@vjp_of(asin)
def asin_vjp(ct: Tensor, _out: Tensor, x: Tensor) -> Cts:
    """Ct / sqrt(1 - x^2). **Edges**: inf at +-1."""
    return (ct * reciprocal(sqrt(1.0 - square(conj(x)))),)


@primitive("Acos", FLOATING)
def acos(x: Array) -> Array:
    """Return the inverse cosine."""
    return np.arccos(x)


@vjp_of(acos)
def acos_vjp(ct: Tensor, _out: Tensor, x: Tensor) -> Cts:
    """-ct / sqrt(1 - x^2). **Edges**: -inf at +-1."""
    return (-ct * reciprocal(sqrt(1.0 - square(conj(x)))),)


@primitive("Atan", FLOATING)
def atan(x: Array) -> Array:
    """Return the inverse tangent."""
    return np.arctan(x)


@vjp_of(atan)
def atan_vjp(ct: Tensor, _out: Tensor, x: Tensor) -> Cts:
    """Ct / (1 + x^2)."""
    return (ct * reciprocal(1.0 + square(conj(x))),)


@primitive("Atan2", "f")
def atan2(y: Array, x: Array) -> Array:
    """Return the angle of the point (x, y)."""
    return np.arctan2(y, x)


@vjp_of(atan2, broadcasts=True)
def atan2_vjp(ct: Tensor, _out: Tensor, y: Tensor, x: Tensor) -> Cts:
    """(ct x / (x^2 + y^2), -ct y / (x^2 + y^2)). **Edges**: nan at (0, 0), 0 at infinity."""
    size = square(y) + square(x)
    scaled = ct / size
    y, x = (where(size < np.inf, given, scaled) for given in (y, x))
    return x * scaled, -y * scaled


@primitive("Sinh", FLOATING)
def sinh(x: Array) -> Array:
    """Return the hyperbolic sine."""
    return np.sinh(x)


@vjp_of(sinh)
def sinh_vjp(ct: Tensor, _out: Tensor, x: Tensor) -> Cts:
    """Ct cosh x."""
    return (ct * cosh(conj(x)),)


@primitive("Cosh", FLOATING)
def cosh(x: Array) -> Array:
    """Return the hyperbolic cosine."""
    return np.cosh(x)


@vjp_of(cosh)
def cosh_vjp(ct: Tensor, _out: Tensor, x: Tensor) -> Cts:
    """Ct sinh x."""
    return (ct * sinh(conj(x)),)


@primitive("Tanh", FLOATING)
def tanh(x: Array) -> Array:
    """Return the hyperbolic tangent."""
    return np.tanh(x)


@primitive("TanhGrad", FLOATING)
def _tanh_grad(out: Array, ct: Array) -> Array:
    return np.asarray(ct * (out.dtype.type(1) - out * out))


@vjp_of(tanh)
def tanh_vjp(ct: Tensor, out: Tensor, _x: Tensor) -> Cts:
    """Ct (1 - out^2)."""
    return (_tanh_grad(conj(out), ct),)


@vjp_of(_tanh_grad)
def tanh_grad_vjp(ct: Tensor, _out: Tensor, out: Tensor, ct_in: Tensor) -> Cts:
    """(-2 ct ct_in out, ct (1 - out^2))."""
    out = conj(out)
    return ct * -2.0 * conj(ct_in) * out, _tanh_grad(out, ct)


@primitive("Asinh", FLOATING)
def asinh(x: Array) -> Array:
    """Return the inverse hyperbolic sine."""
    return np.arcsinh(x)


@vjp_of(asinh)
def asinh_vjp(ct: Tensor, out: Tensor, _x: Tensor) -> Cts:
    """Ct / cosh(out)."""
    return (ct / cosh(conj(out)),)


@primitive("Acosh", FLOATING)
def acosh(x: Array) -> Array:
    """Return the inverse hyperbolic cosine."""
    return np.arccosh(x)


@vjp_of(acosh)
def acosh_vjp(ct: Tensor, out: Tensor, _x: Tensor) -> Cts:
    """Ct / sinh(out). **Edges**: inf at 1."""
    return (ct / sinh(conj(out)),)


@primitive("Atanh", FLOATING)
def atanh(x: Array) -> Array:
    """Return the inverse hyperbolic tangent."""
    return np.arctanh(x)


@vjp_of(atanh)
def atanh_vjp(ct: Tensor, _out: Tensor, x: Tensor) -> Cts:
    """Ct / (1 - x^2). **Edges**: inf at +-1."""
    return (ct * reciprocal(1.0 - square(conj(x))),)
