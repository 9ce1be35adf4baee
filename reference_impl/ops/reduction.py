"""Reductions and scans: each rule repeats a cotangent over what was reduced.

`axis` is None (all axes), a number, or several; negative axes count from the end.
**Source** of all rules: TF 2.21 `math_grad.py`, the function named like the operation.
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from reference_impl.arrays import Array, whole_numbers
from reference_impl.errors import InvalidArgumentError
from reference_impl.operators import OPERATORS
from reference_impl.ops.arithmetic import divide_no_nan
from reference_impl.ops.complex_numbers import cast, conj, real
from reference_impl.ops.elementwise import exp, log, rsqrt, sqrt, square
from reference_impl.ops.nondifferentiable import equal, is_finite, ones_like
from reference_impl.ops.piecewise import abs, maximum
from reference_impl.ops.selection import where
from reference_impl.rules import NUMBERS, REAL, primitive, vjp_of
from reference_impl.tensor import Tensor, Variable, convert_to_tensor

Cts = tuple[Tensor | None, ...]
Axes = tuple[int, ...]


def _axes(axis: Any, x: Tensor) -> Axes:
    """Return the axes as non-negative numbers in order; [] means none, None means all."""
    rank = x.array.ndim
    if axis is None:
        return tuple(builtins.range(rank))
    given = whole_numbers(axis)
    for a in given:
        if not -rank <= a < rank:
            raise_invalid_axis(a, rank)
    axes = sorted({a % rank for a in given})
    if len(axes) < len(given):
        raise InvalidArgumentError("Invalid reduction arguments: Axes contains duplicate dimension")
    return tuple(axes)


def raise_invalid_axis(axis: int, rank: int) -> None:
    """Raise TensorFlow's error for an axis that a tensor of this rank does not have."""
    raise InvalidArgumentError(
        f"Invalid reduction dimension ({axis} for input with {rank} dimension(s)"
    )


def _kept(shape: tuple[int, ...], axes: Axes) -> tuple[int, ...]:
    """Return the shape with the reduced axes at size 1."""
    return tuple(1 if i in axes else n for i, n in enumerate(shape))


def _keep(x: Tensor, like: Tensor, axes: Axes) -> Tensor:
    """Return a reduced tensor with its reduced axes back at size 1."""
    return OPERATORS["reshape"](x, _kept(like.array.shape, axes))


def _repeat(ct: Tensor, x: Tensor, axes: Axes) -> Tensor:
    """Return a reduced cotangent repeated to the shape of x."""
    return OPERATORS["broadcast_to"](_keep(ct, x, axes), x.array.shape)


# ----- Sum and mean -----


@primitive("Sum")
def _sum(x: Array, *, axes: Axes, keepdims: bool) -> Array:
    return np.asarray(x.sum(axis=axes, keepdims=keepdims, dtype=x.dtype))


@vjp_of(_sum)
def sum_vjp(ct: Tensor, _out: Tensor, x: Tensor, *, axes: Axes, keepdims: bool) -> Cts:
    """Ct repeated. **Edges**: an empty sum has an empty gradient."""
    return (_repeat(ct, x, axes),)


def reduce_sum(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Return the sum over axes."""
    x = convert_to_tensor(input_tensor)
    return _sum(x, axes=_axes(axis, x), keepdims=bool(keepdims))


@primitive("Mean")
def _mean(x: Array, *, axes: Axes, keepdims: bool) -> Array:
    count = int(np.prod([x.shape[a] for a in axes], dtype=np.int64))
    total = np.sum(x, axis=axes, keepdims=keepdims, dtype=x.dtype)
    if x.dtype.kind in "iu":
        return np.asarray(total // max(count, 1), x.dtype)
    return np.asarray(total / x.dtype.type(count), x.dtype)


@vjp_of(_mean)
def mean_vjp(ct: Tensor, out: Tensor, x: Tensor, *, axes: Axes, keepdims: bool) -> Cts:
    """Ct repeated, divided by the number of elements that each mean is taken of."""
    count = x.array.size // max(out.array.size, 1)
    return (_repeat(ct, x, axes) / cast(count, ct.dtype),)


def reduce_mean(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Return the mean over axes; integers stay integers."""
    x = convert_to_tensor(input_tensor)
    return _mean(x, axes=_axes(axis, x), keepdims=bool(keepdims))


# ----- Extrema -----


@primitive("Max", "fiu")
def _max(x: Array, *, axes: Axes, keepdims: bool) -> Array:
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    return np.asarray(np.max(x, axis=axes, keepdims=keepdims, initial=lowest), x.dtype)


@vjp_of(_max)
def max_vjp(ct: Tensor, out: Tensor, x: Tensor, *, axes: Axes, keepdims: bool) -> Cts:
    """Ct goes to the greatest element. **Ties**: k equal ones get ct / k each."""
    return (_extremum_vjp(ct, out, x, axes),)


@primitive("Min", "fiu")
def _min(x: Array, *, axes: Axes, keepdims: bool) -> Array:
    highest = np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).max
    return np.asarray(np.min(x, axis=axes, keepdims=keepdims, initial=highest), x.dtype)


@vjp_of(_min)
def min_vjp(ct: Tensor, out: Tensor, x: Tensor, *, axes: Axes, keepdims: bool) -> Cts:
    """Ct goes to the least element. **Ties**: k equal ones get ct / k each."""
    return (_extremum_vjp(ct, out, x, axes),)


def _extremum_vjp(ct: Tensor, out: Tensor, x: Tensor, axes: Axes) -> Tensor:
    """**Edges**: nan equals nothing, so no element is selected and 0 / 0 gives nan throughout."""
    selected = cast(equal(_keep(out, x, axes), x), ct.dtype)
    ties = reduce_sum(selected, axes, keepdims=True)
    return selected / ties * _keep(ct, x, axes)  # type: ignore[no-any-return]


def reduce_max(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Return the maximum over axes."""
    x = convert_to_tensor(input_tensor)
    return _max(x, axes=_axes(axis, x), keepdims=bool(keepdims))


def reduce_min(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Return the minimum over axes."""
    x = convert_to_tensor(input_tensor)
    return _min(x, axes=_axes(axis, x), keepdims=bool(keepdims))


# ----- Products -----


@primitive("Prod")
def _prod(x: Array, *, axes: Axes, keepdims: bool) -> Array:
    return np.asarray(np.prod(x, axis=axes, keepdims=keepdims, dtype=x.dtype))


@vjp_of(_prod)
def prod_vjp(ct: Tensor, _out: Tensor, x: Tensor, *, axes: Axes, keepdims: bool) -> Cts:
    """Ct times the product of all the other elements. **Edges**: right where elements are zero."""
    rest = [i for i in builtins.range(x.ndim) if i not in axes]
    order = [*axes, *rest]
    permuted = OPERATORS["transpose"](x, order)
    count = int(np.prod([x.array.shape[a] for a in axes], dtype=np.int64))
    others = int(np.prod([x.array.shape[i] for i in rest], dtype=np.int64))
    columns = OPERATORS["reshape"](permuted, [count, others])
    before = cumprod(columns, exclusive=True)
    after = cumprod(columns, exclusive=True, reverse=True)
    product = OPERATORS["reshape"](conj(before) * conj(after), permuted.array.shape)
    back = [int(i) for i in np.argsort(order)]
    return (_repeat(ct, x, axes) * OPERATORS["transpose"](product, back),)


def reduce_prod(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Return the product over axes."""
    x = convert_to_tensor(input_tensor)
    return _prod(x, axes=_axes(axis, x), keepdims=bool(keepdims))


# ----- Scans -----


def _scan(accumulate: Any, x: Array, axis: int, exclusive: bool, reverse: bool) -> Array:
    moved = np.moveaxis(x, axis, 0)
    moved = moved[::-1] if reverse else moved
    out = accumulate.accumulate(moved, axis=0, dtype=x.dtype)
    if exclusive:
        first = np.full_like(out[:1], accumulate.identity)
        out = np.concatenate([first, out[:-1]], axis=0)
    return np.moveaxis(out[::-1] if reverse else out, 0, axis)


@primitive("Cumsum")
def _cumsum(x: Array, *, axis: int, exclusive: bool, reverse: bool) -> Array:
    return _scan(np.add, x, axis, exclusive, reverse)


@vjp_of(_cumsum)
def cumsum_vjp(
    ct: Tensor, _out: Tensor, _x: Tensor, *, axis: int, exclusive: bool, reverse: bool
) -> Cts:
    """The running sum of ct in the other direction."""
    return (_cumsum(ct, axis=axis, exclusive=exclusive, reverse=not reverse),)


def cumsum(
    x: Any, axis: int = 0, exclusive: bool = False, reverse: bool = False, name: Any = None
) -> Tensor:
    """Return running sums; exclusive ones leave the element itself out."""
    return _cumsum(x, axis=int(axis), exclusive=bool(exclusive), reverse=bool(reverse))


@primitive("Cumprod")
def _cumprod(x: Array, *, axis: int, exclusive: bool, reverse: bool) -> Array:
    return _scan(np.multiply, x, axis, exclusive, reverse)


@vjp_of(_cumprod)
def cumprod_vjp(
    ct: Tensor, out: Tensor, x: Tensor, *, axis: int, exclusive: bool, reverse: bool
) -> Cts:
    """The reversed running sum of ct out, divided by x. **Edges**: 0 where x = 0, as in TF."""
    total = _cumsum(conj(out) * ct, axis=axis, exclusive=exclusive, reverse=not reverse)
    return (divide_no_nan(total, conj(x)),)


def cumprod(
    x: Any, axis: int = 0, exclusive: bool = False, reverse: bool = False, name: Any = None
) -> Tensor:
    """Return running products; exclusive ones leave the element itself out."""
    return _cumprod(x, axis=int(axis), exclusive=bool(exclusive), reverse=bool(reverse))


# ----- Norms -----


@primitive("L2Loss", REAL)
def _l2_loss(x: Array) -> Array:
    return np.asarray(np.sum(x * x, dtype=x.dtype) / x.dtype.type(2))


@vjp_of(_l2_loss)
def l2_loss_vjp(ct: Tensor, _out: Tensor, x: Tensor) -> Cts:
    """Ct x."""
    return (x * ct,)


def l2_loss(t: Any, name: str | None = None) -> Tensor:
    """Return half the sum of squares."""
    return _l2_loss(t)


@primitive("EuclideanNorm", NUMBERS)
def _euclidean_norm(x: Array, *, axes: Axes, keepdims: bool) -> Array:
    squares = np.sum(np.real(x * np.conj(x)), axis=axes, keepdims=keepdims)
    return np.asarray(np.sqrt(squares), x.dtype)


@vjp_of(_euclidean_norm)
def euclidean_norm_vjp(ct: Tensor, out: Tensor, x: Tensor, *, axes: Axes, keepdims: bool) -> Cts:
    """X / (out / ct). **Edges**: nan at 0 (contract part 1, line 219)."""
    return (x / (_keep(out, x, axes) / _keep(ct, x, axes)),)


def reduce_euclidean_norm(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Return the square root of the sum of squares over axes."""
    x = convert_to_tensor(input_tensor)
    return _euclidean_norm(x, axes=_axes(axis, x), keepdims=bool(keepdims))


# ----- Compositions: their gradients follow from the operations above -----


def reduce_logsumexp(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Return log(sum(exp(x))) over axes, without overflow. **Edges**: all -inf gives nan."""
    x = convert_to_tensor(input_tensor)
    axes = _axes(axis, x)
    greatest = reduce_max(x, axes, keepdims=True)
    shift = OPERATORS["stop_gradient"](where(is_finite(greatest), greatest, 0.0))
    out = log(reduce_sum(exp(x - shift), axes, keepdims=keepdims))
    return out + OPERATORS["reshape"](shift, out.array.shape)


def reduce_variance(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Return the mean squared distance to the mean. **Errors**: TypeError for integers."""
    x = convert_to_tensor(input_tensor)
    if x.dtype.is_integer:
        raise TypeError(f"Input must be either real or complex. Received integer type {x.dtype}.")
    distance = x - reduce_mean(x, axis, keepdims=True)
    squared = real(conj(distance) * distance) if x.dtype.is_complex else square(distance)
    return reduce_mean(squared, axis, keepdims=keepdims)


def reduce_std(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Return the square root of the variance. **Edges**: the gradient of a constant is nan."""
    return sqrt(reduce_variance(input_tensor, axis, keepdims=keepdims))


def norm(
    tensor: Any,
    ord: Any = "euclidean",
    axis: Any = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """Return a vector norm: euclidean (fro for matrices), 1, inf, or a positive p.

    **Edges**: the gradient of the euclidean norm at 0 is nan.
    **Source**: TF 2.21 linalg_ops.py `norm`.
    """
    x = convert_to_tensor(tensor)
    if ord in ("fro", "euclidean", 2):
        return sqrt(reduce_sum(x * conj(x), axis, keepdims=keepdims))
    if ord == 1:
        return reduce_sum(abs(x), axis, keepdims=keepdims)
    if ord == np.inf:
        return reduce_max(abs(x), axis, keepdims=keepdims)
    out: Tensor = reduce_sum(abs(x) ** ord, axis, keepdims=keepdims) ** (1.0 / ord)
    return out


def l2_normalize(
    x: Any, axis: Any = None, epsilon: float = 1e-12, name: str | None = None
) -> Tensor:
    """Return x / sqrt(max(sum(x^2), epsilon)); a composition. **Edges**: slope 1e6 at 0."""
    x = convert_to_tensor(x)
    out: Tensor = x * rsqrt(maximum(reduce_sum(square(x), axis, keepdims=True), epsilon))
    return out


def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None, name: str | None = None) -> Tensor:
    """Return t scaled down to an l2 norm of at most `clip_norm`; a composition.

    **Edges**: the gradient at 0 is that of t * clip_norm / clip_norm.
    **Source**: TF 2.21 clip_ops.py `clip_by_norm`.
    """
    t = convert_to_tensor(t)
    limit = cast(maximum(clip_norm, 0), t.dtype) if _is_tensor(clip_norm) else max(clip_norm, 0)
    square_sum = reduce_sum(t * t, axes, keepdims=True)
    positive = square_sum > 0
    safe = where(positive, square_sum, ones_like(square_sum))
    norm = where(positive, sqrt(safe), square_sum)
    out: Tensor = t * limit / maximum(norm, limit)
    return out


def _is_tensor(value: Any) -> bool:
    return isinstance(value, (Tensor, Variable))
