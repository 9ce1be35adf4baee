"""Reductions of rows that share a segment id, or an index; sorted ids, one more than the greatest.

**Source** of all rules: TF 2.21 `math_grad.py` `_Segment...Grad`, `array_grad.py`
`_TensorScatterMinOrMaxGrad`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from reference_impl.arrays import Array, as_indices
from reference_impl.dtypes import float32
from reference_impl.ops.arithmetic import divide_no_nan
from reference_impl.ops.complex_numbers import cast, conj
from reference_impl.ops.indexing import (
    columns,
    gather,
    gather_nd,
    refuse_another_shape,
    scatter_nd,
    unsorted_segment_sum,
)
from reference_impl.ops.nondifferentiable import equal, ones_like, zeros_like
from reference_impl.ops.passing import where
from reference_impl.rules import ORDERED, primitive, vjp_of
from reference_impl.tensor import Tensor

Cts = tuple[Tensor | None, ...]


def _by_segment(reduce: Callable[..., Any], x: Array, ids: Array, empty: int = 0) -> Array:
    """Reduce the rows of each segment; `empty` stands for a segment without rows."""
    if ids.size and (ids[0] < 0 or np.any(np.diff(ids) < 0)):
        raise ValueError("segment ids are not increasing")
    out = np.full((int(ids.max(initial=-1)) + 1, *x.shape[1:]), empty, x.dtype)
    for i in np.unique(ids):
        out[i] = reduce(x[ids == i], axis=0)
    return out


def _segment_sum(x: Tensor, ids: Array) -> Tensor:
    return unsorted_segment_sum(x, ids, int(ids.max(initial=-1)) + 1)


# ----- Extrema -----


@primitive("SegmentMax", ORDERED, segment_ids=as_indices)
def segment_max(data: Array, *, segment_ids: Array) -> Array:
    """Return the greatest element of each segment."""
    return _by_segment(np.max, data, segment_ids)


@vjp_of(segment_max)
def segment_max_vjp(ct: Tensor, out: Tensor, data: Tensor, *, segment_ids: Array) -> Cts:
    """Ct goes to the greatest element of the segment. **Ties**: k equal ones get ct / k each."""
    return (_segment_extremum_vjp(ct, out, data, segment_ids),)


@primitive("SegmentMin", ORDERED, segment_ids=as_indices)
def segment_min(data: Array, *, segment_ids: Array) -> Array:
    """Return the least element of each segment."""
    return _by_segment(np.min, data, segment_ids)


@vjp_of(segment_min)
def segment_min_vjp(ct: Tensor, out: Tensor, data: Tensor, *, segment_ids: Array) -> Cts:
    """Ct goes to the least element of the segment. **Ties**: k equal ones get ct / k each."""
    return (_segment_extremum_vjp(ct, out, data, segment_ids),)


def _segment_extremum_vjp(ct: Tensor, out: Tensor, x: Tensor, ids: Array) -> Tensor:
    selected = equal(x, gather(out, ids))
    share = divide_no_nan(ct, _segment_sum(cast(selected, ct.dtype), ids))  # no rows: no nan
    return where(selected, gather(share, ids), zeros_like(x))


# ----- Product -----


@primitive("SegmentProd", segment_ids=as_indices)
def segment_prod(data: Array, *, segment_ids: Array) -> Array:
    """Return the product of each segment; one for a segment without rows."""
    return _by_segment(np.prod, data, segment_ids, empty=1)


@vjp_of(segment_prod)
def segment_prod_vjp(ct: Tensor, out: Tensor, data: Tensor, *, segment_ids: Array) -> Cts:
    """Ct times the conjugate of the product of the other elements of the segment.

    **Edges**: a single zero gets the product of the others, which get 0; with two zeros all get 0.
    """
    ids, is_zero = segment_ids, equal(data, 0)
    zeros = _segment_sum(cast(is_zero, float32), ids)
    ct = where(zeros > 1.0, zeros_like(ct), ct)
    nonzero = where(is_zero, ones_like(data), data)
    others = where(is_zero, gather(segment_prod(nonzero, ids), ids), gather(out, ids) / nonzero)
    return (gather(ct, ids) * conj(others),)


# ----- Scattered extrema -----


@primitive("TensorScatterMax", ORDERED)
def _scatter_max(x: Array, updates: Array, *, indices: Array) -> Array:
    out, places = x.copy(), columns(indices, x.shape)
    refuse_another_shape(updates, out[places])
    np.maximum.at(out, places, updates)
    return out


@vjp_of(_scatter_max)
def scatter_max_vjp(ct: Tensor, out: Tensor, x: Tensor, updates: Tensor, *, indices: Array) -> Cts:
    """Ct goes to what is chosen, in x or the updates. **Ties**: k equal ones get ct / k each."""
    return _scatter_extremum_vjp(ct, out, x, updates, indices)


@primitive("TensorScatterMin", ORDERED)
def _scatter_min(x: Array, updates: Array, *, indices: Array) -> Array:
    out, places = x.copy(), columns(indices, x.shape)
    refuse_another_shape(updates, out[places])
    np.minimum.at(out, places, updates)
    return out


@vjp_of(_scatter_min)
def scatter_min_vjp(ct: Tensor, out: Tensor, x: Tensor, updates: Tensor, *, indices: Array) -> Cts:
    """Ct goes to what is chosen, in x or the updates. **Ties**: k equal ones get ct / k each."""
    return _scatter_extremum_vjp(ct, out, x, updates, indices)


def _scatter_extremum_vjp(
    ct: Tensor, out: Tensor, x: Tensor, updates: Tensor, indices: Array
) -> Cts:
    in_x = cast(equal(x, out), ct.dtype)
    in_updates = cast(equal(updates, gather_nd(out, indices)), ct.dtype)
    share = ct / (in_x + scatter_nd(indices, in_updates, x.array.shape))
    return share * in_x, gather_nd(share, indices) * in_updates


def tensor_scatter_nd_max(tensor: Any, indices: Any, updates: Any) -> Tensor:
    """Return the tensor with each place at an index vector raised to its greatest update."""
    return _scatter_max(tensor, updates, indices=as_indices(indices))


def tensor_scatter_nd_min(tensor: Any, indices: Any, updates: Any) -> Tensor:
    """Return the tensor with each place at an index vector lowered to its least update."""
    return _scatter_min(tensor, updates, indices=as_indices(indices))
