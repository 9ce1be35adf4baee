"""Reading and writing parts of a tensor. Indices are never differentiable.

The gradient of `gather` along axis 0 is `IndexedSlices`: rows that add up where indices repeat.
**Source** of all rules: TF 2.21 `array_grad.py`; contract part 1, section 11.
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from reference_impl.arrays import Array, as_indices, whole_numbers
from reference_impl.errors import InvalidArgumentError
from reference_impl.ops.shape import reshape
from reference_impl.rules import ANY, ORDERED, primitive, vjp_of
from reference_impl.tensor import IndexedSlices, Tensor, convert_to_tensor

Cts = tuple[Any, ...]
Index = tuple[Any, ...]
Sizes = tuple[int, ...]


# ----- Strided slices -----


def _plain_index(index: Any) -> Index:
    """Return a NumPy index of ints, slices, None and Ellipsis; tensors become ints."""
    return tuple(map(_plain_part, index if isinstance(index, tuple) else (index,)))


def _plain_part(part: Any) -> Any:
    if isinstance(part, builtins.slice):
        ends = (part.start, part.stop, part.step)
        return builtins.slice(*(None if end is None else int(end) for end in ends))
    if part is None or part is Ellipsis:
        return part
    array = np.asarray(part)
    if array.ndim == 0 and array.dtype.kind in "iu":
        return int(array)
    raise TypeError(
        "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar "
        f"tf.int32/tf.int64 tensors are valid indices, got {part!r}"
    )


@primitive("StridedSlice", ANY, index=_plain_index)
def strided_slice(x: Array, *, index: Index) -> Array:
    """Return `x[index]`."""
    return x[index]


@primitive("StridedSliceGrad", ANY)
def _strided_slice_grad(ct: Array, *, index: Index, shape: Sizes) -> Array:
    out = np.zeros(shape, ct.dtype)
    out[index] = ct
    return out


@vjp_of(strided_slice)
def strided_slice_vjp(ct: Tensor, _out: Tensor, x: Tensor, *, index: Index) -> Cts:
    """Ct at the places that were read, zero elsewhere; any stride, ellipsis and new axis."""
    return (_strided_slice_grad(ct, index=index, shape=x.array.shape),)


@vjp_of(_strided_slice_grad)
def strided_slice_grad_vjp(ct: Tensor, _out: Tensor, _ct: Tensor, *, index: Index) -> Cts:
    """The same places of ct."""
    return (strided_slice(ct, index),)


# ----- Gather -----


@primitive("GatherV2", ANY)
def _gather(x: Array, *, indices: Array, axis: int, batch_dims: int) -> Array:
    """Take along `axis`; the first `batch_dims` axes of x and indices run together."""
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"Shape must be at least rank {axis + 1} but is rank {x.ndim}")
    axis %= x.ndim
    if indices.size and not 0 <= indices.min() <= indices.max() < x.shape[axis]:
        bad = int(indices.ravel()[np.argmax((indices < 0) | (indices >= x.shape[axis]))])
        raise InvalidArgumentError(f"indices = {bad} is not in [0, {x.shape[axis]})", "GatherV2")
    if not batch_dims:
        return np.take(x, indices, axis=axis)
    shape = (*x.shape[:axis], *indices.shape[batch_dims:], *x.shape[axis + 1 :])
    out = np.empty(shape, x.dtype)
    for i in builtins.range(len(x)):
        out[i] = _gather.forward(x[i], indices=indices[i], axis=axis - 1, batch_dims=batch_dims - 1)
    return out


@primitive("GatherV2Grad", ANY)
def _gather_grad(ct: Array, *, indices: Array, axis: int, batch_dims: int, shape: Sizes) -> Array:
    """Add ct up at the places where `_gather` read; the transpose of `_gather`."""
    out, axis = np.zeros(shape, ct.dtype), axis % len(shape)
    if batch_dims:
        for i in builtins.range(len(out)):
            out[i] = _gather_grad.forward(
                ct[i], indices=indices[i], axis=axis - 1, batch_dims=batch_dims - 1, shape=shape[1:]
            )
        return out
    places: Any = (*[builtins.slice(None)] * axis, indices)
    np.add.at(out, places, ct)
    return out


@vjp_of(_gather)
def gather_vjp(
    ct: Tensor, _out: Tensor, x: Tensor, *, indices: Array, axis: int, batch_dims: int
) -> Cts:
    """Axis 0: IndexedSlices of ct at the indices, nothing combined. Other axes: dense, added up.

    **Edges**: the first axis, counted from the end, is another axis.
    """
    shape = x.array.shape
    if axis == 0:
        return (_slices(reshape(ct, (indices.size, *shape[1:])), indices.ravel(), shape),)
    return (_gather_grad(ct, indices=indices, axis=axis, batch_dims=batch_dims, shape=shape),)


@vjp_of(_gather_grad)
def gather_grad_vjp(
    ct: Tensor, _out: Tensor, _ct: Tensor, *, indices: Array, axis: int, batch_dims: int
) -> Cts:
    """The same places of ct, read."""
    return (_gather(ct, indices=indices, axis=axis, batch_dims=batch_dims),)


def gather(params: Any, indices: Any, axis: Any = None, batch_dims: int = 0) -> Tensor:
    """Return the slices of `params` at `indices` along an axis (default: the first after batch)."""
    read = as_indices(indices)
    batch = int(batch_dims) % max(read.ndim, 1)
    return _gather(
        params, indices=read, axis=batch if axis is None else int(axis), batch_dims=batch
    )


def _slices(values: Tensor, indices: Array, shape: Sizes) -> IndexedSlices:
    return IndexedSlices(values, Tensor(indices), Tensor(np.asarray(shape, np.int32)))


@primitive("UnsortedSegmentSum", ANY, segment_ids=as_indices, num_segments=int)
def unsorted_segment_sum(data: Array, *, segment_ids: Array, num_segments: int) -> Array:
    """Return sums of the rows that have the same segment id; a negative id drops a row."""
    out = np.zeros((num_segments, *data.shape[segment_ids.ndim :]), data.dtype)
    kept = segment_ids >= 0
    np.add.at(out, segment_ids[kept], data[kept])
    return out


@vjp_of(unsorted_segment_sum)
def segment_sum_vjp(ct: Tensor, _out: Tensor, _data: Tensor, *, segment_ids: Array) -> Cts:
    """The rows of ct at the ids; zero for a row that was dropped."""
    taken = gather(ct, np.maximum(segment_ids, 0))
    mask = (segment_ids >= 0).reshape(segment_ids.shape + (1,) * (taken.ndim - segment_ids.ndim))
    return (taken * mask.astype(taken.array.dtype),)


@primitive("SparseSegmentSum", ORDERED, indices=as_indices, segment_ids=as_indices)
def sparse_segment_sum(
    data: Array, *, indices: Array, segment_ids: Array, sparse_gradient: bool = False
) -> Array:
    """Return sums of the rows at `indices` that have the same segment id."""
    rows = int(segment_ids.max(initial=-1)) + 1
    return unsorted_segment_sum.forward(  # type: ignore[no-any-return]
        data[indices], segment_ids=segment_ids, num_segments=rows
    )


@vjp_of(sparse_segment_sum)
def sparse_segment_sum_vjp(
    ct: Tensor, _out: Tensor, data: Tensor, *, indices: Array, segment_ids: Array,
    sparse_gradient: bool,
) -> Cts:  # fmt: skip
    """The rows of ct at the segments, for the rows of data at the indices: slices if asked for."""
    slices = _slices(gather(ct, segment_ids), indices, data.array.shape)
    return (slices if sparse_gradient else densify(slices),)


def densify(slices: IndexedSlices) -> Tensor:
    """Return indexed slices as a tensor; repeated rows add up."""
    return unsorted_segment_sum(slices.values, slices.indices, slices.shape[0])


# ----- N-dimensional indices -----


def columns(indices: Array, shape: Sizes) -> tuple[Array, ...]:
    """Return index vectors as one array of indices for each axis. **Errors**: one out of bounds."""
    bounds = np.asarray(shape[: indices.shape[-1]])
    if indices.size and 0 in shape:
        raise ValueError("indices are given, but there are no elements")
    if indices.size and np.any((indices < 0) | (indices >= bounds)):
        raise ValueError(f"indices {indices.tolist()} are not all inside {list(shape)}")
    return tuple(np.moveaxis(indices, -1, 0))


def refuse_another_shape(updates: Array, slots: Array) -> None:
    """Raise ValueError for updates that NumPy would broadcast."""
    if updates.shape != slots.shape:
        raise ValueError(f"updates of shape {updates.shape} do not fit {slots.shape}")


@primitive("GatherNd", ANY, indices=as_indices)
def gather_nd(params: Array, *, indices: Array) -> Array:
    """Return the slices of `params` at index vectors (the last axis of `indices`)."""
    return np.asarray(params[columns(indices, params.shape)])


@primitive("ScatterNd", ANY, indices=as_indices, shape=whole_numbers)
def _scatter_nd(updates: Array, *, indices: Array, shape: Sizes) -> Array:
    out = np.zeros(shape, updates.dtype)
    places = columns(indices, shape)
    refuse_another_shape(updates, out[places])
    np.add.at(out, places, updates)
    return out


@vjp_of(gather_nd)
def gather_nd_vjp(ct: Tensor, _out: Tensor, params: Tensor, *, indices: Array) -> Cts:
    """Ct added up where it was read; IndexedSlices if the indices are rows of a matrix [n, 1]."""
    if indices.ndim == 2 and indices.shape[-1] == 1:
        return (_slices(ct, indices[:, 0], params.array.shape),)
    return (_scatter_nd(ct, indices=indices, shape=params.array.shape),)


@vjp_of(_scatter_nd)
def scatter_nd_vjp(ct: Tensor, _out: Tensor, _updates: Tensor, *, indices: Array) -> Cts:
    """The places of ct that were written, read."""
    return (gather_nd(ct, indices),)


def scatter_nd(indices: Any, updates: Any, shape: Any) -> Tensor:
    """Return zeros with `updates` added at index vectors."""
    return _scatter_nd(updates, indices=indices, shape=shape)


# ----- Repetition -----


def repeat(input: Any, repeats: Any, axis: Any = None) -> Tensor:
    """Return each slice so many times in a row; the cotangents of the copies add up, dense.

    **Errors**: an axis that `input` has not is a ValueError.
    """
    x = convert_to_tensor(input)
    x = reshape(x, x.array.shape if x.ndim and axis is not None else (-1,))
    along = int(axis or 0)
    if not -x.ndim <= along < x.ndim:
        raise ValueError(f"{axis=} out of bounds: expected {-x.ndim}<=axis<{x.ndim}")
    return gather(x, np.repeat(np.arange(x.array.shape[along]), repeats), axis=along)
