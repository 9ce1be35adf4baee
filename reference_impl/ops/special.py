"""Special functions: error, gamma, beta and zeta functions; each rule stands below its operation.

They are computed element by element in float64 and rounded to the dtype of the input.
**Source** of all rules: TF 2.21 `math_grad.py`, the function named like the operation. Arguments
without a derivative there (a and b of `betainc`, the order of `zeta` and `polygamma`) are
unconnected, not an error (contract part 0b, 21).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from reference_impl.arrays import Array
from reference_impl.ops.arithmetic import xlog1py, xlogy
from reference_impl.ops.elementwise import exp, log, square
from reference_impl.ops.nondifferentiable import equal, ones_like
from reference_impl.ops.passing import where
from reference_impl.rules import primitive, vjp_of
from reference_impl.tensor import Tensor

Cts = tuple[Tensor | None, ...]


def _by_element(function: Callable[..., float], *arguments: Array) -> Array:
    values = np.vectorize(function, otypes=[np.float64])(*arguments)
    return np.asarray(values, arguments[0].dtype)


def _power(base: float, exponent: float) -> float:
    return float(np.power(base, exponent))  # inf where math.pow raises


# ----- Error function -----


@primitive("Erf", "f")
def erf(x: Array) -> Array:
    """Return the error function."""
    return _by_element(math.erf, x)


@vjp_of(erf)
def erf_vjp(ct: Tensor, _out: Tensor, x: Tensor) -> Cts:
    """Ct 2 / sqrt(pi) exp(-x^2)."""
    return (ct * (2.0 / math.sqrt(math.pi)) * exp(-square(x)),)


@primitive("Erfc", "f")
def erfc(x: Array) -> Array:
    """Return 1 - erf(x), exact for large x."""
    return _by_element(math.erfc, x)


@vjp_of(erfc)
def erfc_vjp(ct: Tensor, _out: Tensor, x: Tensor) -> Cts:
    """-ct 2 / sqrt(pi) exp(-x^2)."""
    return (ct * (-2.0 / math.sqrt(math.pi)) * exp(-square(x)),)


# ----- Gamma function -----


@primitive("Lgamma", "f")
def lgamma(x: Array) -> Array:
    """Return log |gamma(x)|; inf at 0, -1, -2, ..."""
    return _by_element(lambda v: math.inf if _is_pole(v) or v > 2.556e305 else math.lgamma(v), x)


@vjp_of(lgamma)
def lgamma_vjp(ct: Tensor, _out: Tensor, x: Tensor) -> Cts:
    """Ct digamma(x). **Edges**: nan at the poles."""
    return (ct * digamma(x),)


@primitive("Digamma", "f")
def digamma(x: Array) -> Array:
    """Return the derivative of log gamma(x); nan at 0, -1, -2, ..."""
    return _by_element(_digamma, x)


@vjp_of(digamma)
def digamma_vjp(ct: Tensor, _out: Tensor, x: Tensor) -> Cts:
    """Ct polygamma(1, x)."""
    return (ct * polygamma(1.0, x),)


@primitive("Polygamma", "f")
def polygamma(a: Array, x: Array) -> Array:
    """Return the derivative of digamma of order a, a whole number; nan for any other order."""
    return _by_element(_polygamma, a, x)


@vjp_of(polygamma, broadcasts=True)
def polygamma_vjp(ct: Tensor, _out: Tensor, a: Tensor, x: Tensor) -> Cts:
    """(None, ct polygamma(a + 1, x)): the order is unconnected."""
    return None, ct * polygamma(a + 1.0, x)


def _is_pole(x: float) -> bool:
    return x <= 0 and float(x).is_integer()


def _digamma(x: float) -> float:
    """Reflect to positive x, step up to x >= 10, and use the asymptotic series."""
    if _is_pole(x) or x == -math.inf:
        return math.nan
    if x < 0:
        return _digamma(1 - x) - math.pi / math.tan(math.pi * x)
    below = 0.0
    while x < 10:
        below += 1 / x
        x += 1
    series = sum(b / (2 * j) * _power(x, -2 * j) for j, b in enumerate(_BERNOULLI, start=1))
    return math.log(x) - 0.5 / x - series - below


def _polygamma(a: float, x: float) -> float:
    if a < 0 or not float(a).is_integer():
        return math.nan
    if a == 0:
        return _digamma(x)
    return -math.cos(math.pi * a) * float(np.exp(math.lgamma(a + 1))) * _zeta(a + 1, x)


# ----- Zeta function -----


@primitive("Zeta", "f")
def zeta(x: Array, q: Array) -> Array:
    """Return the sum over k of 1 / (q + k)^x; inf at x = 1; nan for x < 1.

    **Edges**: at q = 0, -1, ... inf for an even x; nan for others, whose sides differ in sign.
    """
    return _by_element(_zeta, x, q)


@vjp_of(zeta, broadcasts=True)
def zeta_vjp(ct: Tensor, _out: Tensor, x: Tensor, q: Tensor) -> Cts:
    """(None, -ct x zeta(x + 1, q)): the exponent is unconnected."""
    return None, -ct * x * zeta(x + 1.0, q)


_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
"""The Bernoulli numbers B2, B4, ..., B16."""


def _zeta(x: float, q: float) -> float:
    """Add the terms up to q + k = 12 and the rest by the formula of Euler and Maclaurin."""
    if x == 1 or (x > 1 and _is_pole(q) and x % 2 == 0):
        return math.inf
    if x > 1 and _is_pole(q):
        return math.nan
    if x < 1 or q == -math.inf or math.isnan(x + q):
        return math.nan
    if math.isinf(x):
        return _power(q, -x)
    if q < 0 and not float(x).is_integer():
        return math.nan
    total = 0.0
    while q < 12:
        total += _power(q, -x)
        q += 1
    total += _power(q, 1 - x) / (x - 1) + 0.5 * _power(q, -x)
    factor = _power(q, -x)
    for j, b in enumerate(_BERNOULLI, start=1):
        factor *= (x + 2 * j - 2) / q / (2 * j)
        total += b * factor
        factor *= (x + 2 * j - 1) / q / (2 * j + 1)
    return total


@primitive("Spence", "f")
def spence(x: Array) -> Array:
    """Return the integral of log(t) / (1 - t) from 1 to x; nan for x < 0."""
    return _by_element(lambda v: _dilogarithm(1 - v) if v >= 0 else math.nan, x)


@vjp_of(spence)
def spence_vjp(ct: Tensor, _out: Tensor, x: Tensor) -> Cts:
    """Ct log(x) / (1 - x). **Edges**: -ct at 1, its limit."""
    return (ct * where(equal(x, 1), -ones_like(x), log(x) / (1.0 - x)),)


def _dilogarithm(z: float) -> float:
    """Reflect or transform to |z| <= 1/2, where the series of z^k / k^2 converges fast."""
    if z == 1:
        return math.pi**2 / 6
    if z > 0.5:
        return math.pi**2 / 6 - math.log(z) * math.log1p(-z) - _dilogarithm(1 - z)
    if z < -0.5:
        return -0.5 * math.log1p(-z) ** 2 - _dilogarithm(z / (z - 1))
    return math.fsum(z**k / k**2 for k in range(1, 60))


# ----- Beta function -----


@primitive("Betainc", "f")
def betainc(a: Array, b: Array, x: Array) -> Array:
    """Return the regularized incomplete beta function; nan outside a, b > 0 and 0 <= x <= 1.

    **Errors**: only scalars broadcast.
    """
    if len({argument.shape for argument in (a, b, x)} - {()}) > 1:
        raise ValueError(f"shapes {a.shape}, {b.shape} and {x.shape} are not equal")
    return _by_element(_betainc, a, b, x)


@vjp_of(betainc, broadcasts=True)
def betainc_vjp(ct: Tensor, _out: Tensor, a: Tensor, b: Tensor, x: Tensor) -> Cts:
    """(None, None, ct x^(a-1) (1-x)^(b-1) / B(a, b)): only the bound of the integral."""
    log_beta = lgamma(a) + lgamma(b) - lgamma(a + b)
    return None, None, ct * exp(xlog1py(b - 1.0, -x) + xlogy(a - 1.0, x) - log_beta)


def _betainc(a: float, b: float, x: float) -> float:
    if not (a > 0 and b > 0 and 0 <= x <= 1):
        return math.nan
    if x in (0, 1):
        return float(x)
    if x > (a + 1) / (a + b + 2):  # the fraction converges fast on the other side only
        return 1 - _betainc(b, a, 1 - x)
    log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    front = float(np.exp(a * math.log(x) + b * math.log1p(-x) - log_beta))
    return front / a / _beta_fraction(a, b, x)


def _beta_fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of the incomplete beta function, from its 200th term inward."""
    fraction = 1.0
    for m in range(200, 0, -1):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m - 1) * (a + b + m - 1) * x / ((a + 2 * m - 2) * (a + 2 * m - 1))
        fraction = 1 + odd / (1 + even / fraction)
    return fraction
