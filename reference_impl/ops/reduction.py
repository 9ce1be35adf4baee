"""Reductions and scans: each rule repeats a cotangent over what was reduced.

`axis` is None (all axes), a number, or several; negative axes count from the end.
**Source** of all rules: TF 2.21 `math_grad.py`, the function named like the operation.
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from reference_impl.arrays import Array, axes, whole_numbers
from reference_impl.broadcasting import broadcast_to
from reference_impl.ops.complex_numbers import cast, conj, real
from reference_impl.ops.elementwise import exp, log, rsqrt, sqrt, square
from reference_impl.ops.nondifferentiable import equal, is_finite, ones_like
from reference_impl.ops.passing import stop_gradient, where
from reference_impl.ops.piecewise import maximum
from reference_impl.ops.shape import reshape, stack, transpose
from reference_impl.rules import FLOATING, ORDERED, primitive, vjp_of
from reference_impl.tensor import Tensor, convert_to_tensor

Cts = tuple[Tensor | None, ...]
Axes = tuple[int, ...] | None


def _reduced(x: Tensor, axis: Axes) -> list[int]:
    """Return the axes that are reduced, counted from the first."""
    return [a % x.ndim for a in (builtins.range(x.ndim) if axis is None else axis)]


def _keep(result: Tensor, x: Tensor, axis: Axes) -> Tensor:
    """Return a reduction of x so that it broadcasts to x: with its reduced axes back at size 1.

    **Errors**: a cotangent with another number of elements, as a custom gradient may declare it.
    """
    if axis is None and not result.ndim:
        return result
    gone = _reduced(x, axis)
    shape = tuple(1 if i in gone else n for i, n in enumerate(x.array.shape))
    return result if result.array.shape == shape else reshape(result, shape)


def _repeat(ct: Tensor, x: Tensor, axis: Axes) -> Tensor:
    """Return a reduced cotangent repeated to the shape of x."""
    return broadcast_to(_keep(ct, x, axis), x.array.shape)


# ----- Sum and mean -----


@primitive("Sum", axis=axes, keepdims=bool)
def reduce_sum(input_tensor: Array, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """Return the sum over axes."""
    return np.asarray(input_tensor.sum(axis=axis, keepdims=keepdims, dtype=input_tensor.dtype))


@vjp_of(reduce_sum)
def sum_vjp(ct: Tensor, _out: Tensor, x: Tensor, *, axis: Axes) -> Cts:
    """Ct repeated. **Edges**: an empty sum has an empty gradient."""
    return (_repeat(ct, x, axis),)


@primitive("Mean", axis=axes, keepdims=bool)
def reduce_mean(input_tensor: Array, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """Return the mean over axes; integers stay integers, and the mean of none of them is 0."""
    total = np.sum(input_tensor, axis=axis, keepdims=keepdims, dtype=input_tensor.dtype)
    count = input_tensor.size // max(total.size, 1) or int(input_tensor.dtype.kind in "iu")
    return np.asarray(total / input_tensor.dtype.type(count)).astype(input_tensor.dtype)


@vjp_of(reduce_mean)
def mean_vjp(ct: Tensor, out: Tensor, x: Tensor, *, axis: Axes) -> Cts:
    """Ct repeated, divided by the number of elements that each mean is taken of."""
    count = x.array.size // max(out.array.size, 1)
    return (_repeat(ct, x, axis) / cast(count, ct.dtype),)


@primitive("Tile", "", multiples=whole_numbers)
def tile(input: Array, *, multiples: tuple[int, ...]) -> Array:
    """Return the tensor repeated `multiples[i]` times along axis i."""
    if len(multiples) != input.ndim:
        raise ValueError(f"Expected multiples argument to be a vector of length {input.ndim}")
    return np.tile(input, multiples)


@vjp_of(tile)
def tile_vjp(ct: Tensor, _out: Tensor, input: Tensor, *, multiples: tuple[int, ...]) -> Cts:
    """The sum of ct over the repetitions."""
    paired = [n for pair in zip(multiples, input.array.shape, strict=True) for n in pair]
    return (reduce_sum(reshape(ct, paired), tuple(builtins.range(0, len(paired), 2))),)


# ----- Extrema -----


def _limits(dtype: Any) -> tuple[Any, Any]:
    """Return the least and the greatest number: what a reduction of nothing begins with."""
    known = np.iinfo(dtype) if dtype.kind in "iu" else None
    return (known.min, known.max) if known else (-np.inf, np.inf)


@primitive("Max", ORDERED, axis=axes, keepdims=bool)
def reduce_max(input_tensor: Array, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """Return the maximum over axes."""
    least, _ = _limits(input_tensor.dtype)
    return np.asarray(np.max(input_tensor, axis=axis, keepdims=keepdims, initial=least))


@vjp_of(reduce_max)
def max_vjp(ct: Tensor, out: Tensor, x: Tensor, *, axis: Axes) -> Cts:
    """Ct goes to the greatest element. **Ties**: k equal ones get ct / k each."""
    return (_extremum_vjp(ct, out, x, axis),)


@primitive("Min", ORDERED, axis=axes, keepdims=bool)
def reduce_min(input_tensor: Array, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """Return the minimum over axes."""
    _, greatest = _limits(input_tensor.dtype)
    return np.asarray(np.min(input_tensor, axis=axis, keepdims=keepdims, initial=greatest))


@vjp_of(reduce_min)
def min_vjp(ct: Tensor, out: Tensor, x: Tensor, *, axis: Axes) -> Cts:
    """Ct goes to the least element. **Ties**: k equal ones get ct / k each."""
    return (_extremum_vjp(ct, out, x, axis),)


def _extremum_vjp(ct: Tensor, out: Tensor, x: Tensor, axis: Axes) -> Tensor:
    """**Edges**: nan equals nothing, so no element is selected and 0 / 0 gives nan throughout."""
    selected = cast(equal(_keep(out, x, axis), x), ct.dtype)
    ties = reduce_sum(selected, axis, keepdims=True)
    out_ct: Tensor = selected / ties * _keep(ct, x, axis)
    return out_ct


# ----- Products -----


@primitive("Prod", axis=axes, keepdims=bool)
def reduce_prod(input_tensor: Array, *, axis: Axes = None, keepdims: bool = False) -> Array:
    """Return the product over axes."""
    x = input_tensor
    return np.asarray(np.prod(x, axis=axis, keepdims=keepdims, dtype=x.dtype))


@vjp_of(reduce_prod)
def prod_vjp(ct: Tensor, _out: Tensor, x: Tensor, *, axis: Axes) -> Cts:
    """Ct times the product of all the other elements, each by itself: right where some are zero."""
    gone = _reduced(x, axis)
    order = [*gone, *(i for i in builtins.range(x.ndim) if i not in gone)]
    permuted = transpose(x, order)
    count = int(np.prod(permuted.array.shape[: len(gone)]))
    columns = reshape(permuted, [count, x.array.size // max(count, 1)])
    rows = np.eye(count, dtype=bool)[:, :, None]
    others = [reduce_prod(where(row, 1.0, columns), 0) for row in rows]
    product = reshape(stack(others) if others else columns, permuted.array.shape)
    return (_repeat(ct, x, axis) * transpose(conj(product), np.argsort(order)),)


# ----- Running sums -----


@primitive("Cumsum", axis=int, exclusive=bool, reverse=bool)
def cumsum(x: Array, *, axis: int = 0, exclusive: bool = False, reverse: bool = False) -> Array:
    """Return running sums; exclusive ones leave the element itself out."""
    moved = np.moveaxis(x, axis, 0)
    moved = moved[::-1] if reverse else moved
    out = np.cumsum(moved, axis=0, dtype=x.dtype)
    if exclusive:
        out = np.concatenate([np.zeros_like(out[:1]), out[:-1]], axis=0)
    return np.moveaxis(out[::-1] if reverse else out, 0, axis)


@vjp_of(cumsum)
def cumsum_vjp(
    ct: Tensor, _out: Tensor, _x: Tensor, *, axis: int, exclusive: bool, reverse: bool
) -> Cts:
    """The running sum of ct in the other direction."""
    return (cumsum(ct, axis, exclusive, not reverse),)


# ----- Norms -----


@primitive("EuclideanNorm", axis=axes, keepdims=bool)
def reduce_euclidean_norm(
    input_tensor: Array, *, axis: Axes = None, keepdims: bool = False
) -> Array:
    """Return the square root of the sum of squares over axes."""
    squares = np.real(input_tensor * np.conj(input_tensor))
    return np.asarray(np.sqrt(np.sum(squares, axis=axis, keepdims=keepdims)), input_tensor.dtype)


@vjp_of(reduce_euclidean_norm)
def euclidean_norm_vjp(ct: Tensor, out: Tensor, x: Tensor, *, axis: Axes) -> Cts:
    """X / (out / Re ct), as norms are real. **Edges**: nan at 0 (contract part 1, line 219)."""
    return (x / (_keep(out, x, axis) / _keep(cast(real(ct), x.dtype), x, axis)),)


# ----- Compositions: their gradients follow from the operations above -----


def reduce_logsumexp(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Return log(sum(exp(x))) over axes, without overflow. **Edges**: all -inf gives nan."""
    x = convert_to_tensor(input_tensor)
    greatest = reduce_max(x, axis, keepdims=True)
    shift = stop_gradient(where(is_finite(greatest), greatest, 0.0))
    out = log(reduce_sum(exp(x - shift), axis, keepdims=keepdims))
    return out + reshape(shift, out.array.shape)


def reduce_variance(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Return the mean squared distance to the mean. **Errors**: of integers, TypeError."""
    x = convert_to_tensor(input_tensor)
    distance = x - reduce_mean(x, axis, keepdims=True)
    if x.array.dtype.kind not in FLOATING:
        raise TypeError(f"Input must be either real or complex. Received type {x.dtype}.")
    return reduce_mean(real(conj(distance) * distance), axis, keepdims=keepdims)


def reduce_std(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Return the square root of the variance. **Edges**: the gradient of a constant is nan."""
    return sqrt(reduce_variance(input_tensor, axis, keepdims=keepdims))


def norm(tensor: Any, ord: Any = "euclidean", axis: Any = None, keepdims: bool = False) -> Tensor:
    """Return the p-norm, p = ord; "euclidean" and "fro" are 2. **Edges**: its gradient at 0 is nan.

    **Errors**: an `axis` that is neither None, a number nor two different ones is a ValueError.
    **Source**: TF 2.21 linalg_ops.py `norm`.
    """
    x = convert_to_tensor(tensor)
    if isinstance(axis, (list, tuple)) and not len(axis) == len(set(axis)) == 2:
        raise ValueError(f"'axis' must be None, an integer, or two unique integers, got {axis}")
    if ord in ("euclidean", "fro", 2):
        found = sqrt(reduce_sum(x * conj(x), axis, keepdims=True))
    elif ord == np.inf:
        found = reduce_max(abs(x), axis, keepdims=True)
    else:
        found = reduce_sum(abs(x) ** ord, axis, keepdims=True) ** (1 / ord)
    kept = [n for i, n in enumerate(x.array.shape) if i not in _reduced(x, axes(axis))]
    return found if keepdims else reshape(found, kept)


def l2_normalize(x: Any, axis: Any = None, epsilon: float = 1e-12) -> Tensor:
    """Return x / sqrt(max(sum(x^2), epsilon)). **Edges**: slope 1e6 at 0."""
    x = convert_to_tensor(x)
    squares = real(conj(x) * x) if x.dtype.is_complex else square(x)
    scale = rsqrt(maximum(reduce_sum(squares, axis, keepdims=True), epsilon))
    return x * cast(scale, x.dtype)  # type: ignore[no-any-return]


def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None) -> Tensor:
    """Return t scaled down to an l2 norm of at most `clip_norm`.

    **Edges**: the gradient at 0 is that of t * clip_norm / clip_norm.
    **Source**: TF 2.21 clip_ops.py `clip_by_norm`.
    """
    t = convert_to_tensor(t)
    limit = (
        cast(maximum(clip_norm, 0), t.dtype) if isinstance(clip_norm, Tensor) else max(clip_norm, 0)
    )
    square_sum = reduce_sum(t * t, axes, keepdims=True)
    positive = square_sum > 0
    norm = where(positive, sqrt(where(positive, square_sum, ones_like(square_sum))), square_sum)
    out: Tensor = t * limit / maximum(norm, limit)
    return out
