"""Reading and writing parts of a tensor. Indices are never differentiable.

The gradient of `gather` along axis 0 is `IndexedSlices`: rows that add up where indices repeat.
**Source** of all rules: TF 2.21 `array_grad.py`; contract part 1, section 11.
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from reference_impl.arrays import Array
from reference_impl.errors import InvalidArgumentError
from reference_impl.ops.shape import reshape, sizes, transpose
from reference_impl.rules import ANY, FLOATING, primitive, vjp_of
from reference_impl.tensor import IndexedSlices, Tensor, Variable, convert_to_tensor

Cts = tuple[Any, ...]
Index = tuple[Any, ...]


# ----- Strided slices -----


def _plain_index(index: Any) -> Index:
    """Return a NumPy index of ints, slices, None and Ellipsis; tensors become ints."""
    parts = index if isinstance(index, tuple) else (index,)
    return tuple(_plain_part(part) for part in parts)


def _plain_part(part: Any) -> Any:
    if isinstance(part, builtins.slice):
        ends = (part.start, part.stop, part.step)
        return builtins.slice(*(None if end is None else int(end) for end in ends))
    if part is None or part is Ellipsis:
        return part
    if isinstance(part, (int, np.integer)) or _is_integer_scalar(part):
        return int(part)
    raise TypeError(
        "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar "
        f"tf.int32/tf.int64 tensors are valid indices, got {part!r}"
    )


def _is_integer_scalar(part: Any) -> bool:
    if not isinstance(part, (Tensor, Variable, np.ndarray)):
        return False
    array = np.asarray(part)
    return array.ndim == 0 and array.dtype.kind in "iu"


@primitive("StridedSlice", ANY)
def _strided_slice(x: Array, *, index: Index) -> Array:
    try:
        return x[index]
    except IndexError as error:
        raise InvalidArgumentError(f"slice {error}", "StridedSlice") from error


@primitive("StridedSliceGrad", ANY)
def _strided_slice_grad(ct: Array, *, index: Index, shape: tuple[int, ...]) -> Array:
    out = np.zeros(shape, ct.dtype)
    out[index] = ct
    return out


@vjp_of(_strided_slice)
def strided_slice_vjp(ct: Tensor, _out: Tensor, x: Tensor, *, index: Index) -> Cts:
    """Ct at the places that were read, zero elsewhere; any stride, ellipsis and new axis."""
    return (_strided_slice_grad(ct, index=index, shape=x.array.shape),)


@vjp_of(_strided_slice_grad)
def strided_slice_grad_vjp(
    ct: Tensor, _out: Tensor, _ct: Tensor, *, index: Index, shape: tuple[int, ...]
) -> Cts:
    """The same places of ct."""
    return (_strided_slice(ct, index=index),)


def strided_slice(x: Any, index: Any) -> Tensor:
    """Return `x[index]`; a boolean mask selects rows."""
    x = convert_to_tensor(x)
    if isinstance(index, (Tensor, np.ndarray)) and np.asarray(index).dtype.kind == "b":
        return boolean_mask(x, index)
    return _strided_slice(x, index=_plain_index(index))


def slice(input_: Any, begin: Any, size: Any, name: str | None = None) -> Tensor:
    """Return the block that starts at `begin`; a size of -1 means to the end."""
    x = convert_to_tensor(input_)
    starts, counts = sizes(begin), sizes(size)
    for start, count, length in zip(starts, counts, x.array.shape, strict=True):
        if start < 0 or start + max(count, 0) > length:
            raise InvalidArgumentError(
                f"Expected begin and size to be inside [0, {length}], got {start} and {count}",
                "Slice",
            )
    blocks = zip(starts, counts, strict=True)
    index = tuple(builtins.slice(b, None if n == -1 else b + n) for b, n in blocks)
    return _strided_slice(x, index=index)


# ----- Gather -----


@primitive("GatherV2", ANY)
def _gather(x: Array, *, indices: Array, axis: int, batch_dims: int) -> Array:
    """Take along `axis`; the first `batch_dims` axes of x and indices run together."""
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
def _gather_grad(
    ct: Array, *, indices: Array, axis: int, batch_dims: int, shape: tuple[int, ...]
) -> Array:
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
        values = reshape(ct, (indices.size, *shape[1:]))
        return (IndexedSlices(values, Tensor(indices.ravel()), _dense_shape(shape)),)
    return (_gather_grad(ct, indices=indices, axis=axis, batch_dims=batch_dims, shape=shape),)


@vjp_of(_gather_grad)
def gather_grad_vjp(
    ct: Tensor,
    _out: Tensor,
    _ct: Tensor,
    *,
    indices: Array,
    axis: int,
    batch_dims: int,
    shape: tuple[int, ...],
) -> Cts:
    """The same places of ct, read."""
    return (_gather(ct, indices=indices, axis=axis, batch_dims=batch_dims),)


def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    axis: Any = None,
    batch_dims: int = 0,
    name: str | None = None,
) -> Tensor:
    """Return the slices of `params` at `indices` along an axis (default: the first after batch)."""
    x, where_to_read = convert_to_tensor(params), convert_to_tensor(indices)
    batch = int(batch_dims) % max(where_to_read.ndim, 1) if batch_dims else 0
    along = batch if axis is None else int(axis)
    return _gather(x, indices=where_to_read.array, axis=along, batch_dims=batch)


def embedding_lookup(params: Any, ids: Any, max_norm: Any = None, name: Any = None) -> Tensor:
    """Return the rows of `params` at `ids`."""
    return gather(params, ids)


def _dense_shape(shape: tuple[int, ...]) -> Tensor:
    return Tensor(np.asarray(shape, np.int32))


@primitive("UnsortedSegmentSum", ANY)
def _segment_sum(values: Array, *, indices: Array, rows: int) -> Array:
    out = np.zeros((rows, *values.shape[indices.ndim :]), values.dtype)
    kept = indices >= 0
    if indices.max(initial=-1) >= rows:
        raise ValueError(f"segment ids {indices.tolist()} are not all below {rows}")
    np.add.at(out, indices[kept], values[kept])
    return out


@vjp_of(_segment_sum)
def segment_sum_vjp(ct: Tensor, _out: Tensor, _values: Tensor, *, indices: Array, rows: int) -> Cts:
    """The rows of ct at the indices; zero for a negative index, which was dropped."""
    taken = _gather(ct, indices=np.maximum(indices, 0), axis=0, batch_dims=0)
    mask = (indices >= 0).reshape(indices.shape + (1,) * (taken.ndim - indices.ndim))
    return (taken * mask.astype(taken.array.dtype),)


def unsorted_segment_sum(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Tensor:
    """Return sums of the rows that have the same segment id."""
    ids = convert_to_tensor(segment_ids).array
    return _segment_sum(data, indices=ids, rows=int(num_segments))


@primitive("SparseSegmentSum", FLOATING)
def _sparse_segment_sum(
    x: Array, *, indices: Array, segments: Array, rows: int, sparse_gradient: bool
) -> Array:
    return _segment_sum.forward(x[indices], indices=segments, rows=rows)  # type: ignore[no-any-return]


@vjp_of(_sparse_segment_sum)
def sparse_segment_sum_vjp(
    ct: Tensor,
    _out: Tensor,
    x: Tensor,
    *,
    indices: Array,
    segments: Array,
    rows: int,
    sparse_gradient: bool,
) -> Cts:
    """The rows of ct at the segments, for the rows of x at the indices: slices if asked for."""
    values = _gather(ct, indices=segments, axis=0, batch_dims=0)
    slices = IndexedSlices(values, Tensor(indices), _dense_shape(x.array.shape))
    return (slices if sparse_gradient else densify(slices),)


def sparse_segment_sum(
    data: Any,
    indices: Any,
    segment_ids: Any,
    name: str | None = None,
    num_segments: Any = None,
    sparse_gradient: bool = False,
) -> Tensor:
    """Return sums of the rows at `indices` that have the same segment id."""
    segments = convert_to_tensor(segment_ids).array
    rows = int(num_segments) if num_segments is not None else int(segments.max(initial=-1)) + 1
    return _sparse_segment_sum(
        data,
        indices=convert_to_tensor(indices).array,
        segments=segments,
        rows=rows,
        sparse_gradient=bool(sparse_gradient),
    )


def densify(slices: IndexedSlices) -> Tensor:
    """Return indexed slices as a tensor; repeated rows add up."""
    return unsorted_segment_sum(slices.values, slices.indices, slices.shape[0])


# ----- N-dimensional indices -----


def columns(indices: Array, shape: tuple[int, ...]) -> tuple[Array, ...]:
    """Return index vectors as one array of indices for each axis. **Errors**: one out of bounds."""
    bounds = np.asarray(shape[: indices.shape[-1]])
    if indices.size and np.any((indices < 0) | (indices >= bounds)):
        raise ValueError(f"indices {indices.tolist()} are not all inside {list(shape)}")
    return tuple(np.moveaxis(indices, -1, 0))


@primitive("GatherNd", ANY)
def _gather_nd(x: Array, *, indices: Array) -> Array:
    return np.asarray(x[columns(indices, x.shape)])


@primitive("ScatterNd", ANY)
def _scatter_nd(updates: Array, *, indices: Array, shape: tuple[int, ...]) -> Array:
    out = np.zeros(shape, updates.dtype)
    np.add.at(out, columns(indices, shape), updates)
    return out


@vjp_of(_gather_nd)
def gather_nd_vjp(ct: Tensor, _out: Tensor, x: Tensor, *, indices: Array) -> Cts:
    """Ct added up where it was read; IndexedSlices if the indices are rows of a matrix [n, 1]."""
    if indices.ndim == 2 and indices.shape[-1] == 1:
        return (IndexedSlices(ct, Tensor(indices[:, 0]), _dense_shape(x.array.shape)),)
    return (_scatter_nd(ct, indices=indices, shape=x.array.shape),)


@vjp_of(_scatter_nd)
def scatter_nd_vjp(
    ct: Tensor, _out: Tensor, _updates: Tensor, *, indices: Array, shape: tuple[int, ...]
) -> Cts:
    """The places of ct that were written, read."""
    return (_gather_nd(ct, indices=indices),)


def gather_nd(params: Any, indices: Any, batch_dims: int = 0, name: str | None = None) -> Tensor:
    """Return the slices of `params` at index vectors (the last axis of `indices`)."""
    if batch_dims:
        raise NotImplementedError("the oracle's gather_nd has no batch_dims")
    return _gather_nd(params, indices=convert_to_tensor(indices).array)


def scatter_nd(indices: Any, updates: Any, shape: Any, name: str | None = None) -> Tensor:
    """Return zeros with `updates` added at index vectors."""
    return _scatter_nd(updates, indices=convert_to_tensor(indices).array, shape=sizes(shape))


@primitive("TensorScatterUpdate", ANY)
def _scatter_update(x: Array, updates: Array, *, indices: Array) -> Array:
    out = x.copy()
    out[columns(indices, x.shape)] = updates
    return out


@vjp_of(_scatter_update)
def scatter_update_vjp(
    ct: Tensor, _out: Tensor, _x: Tensor, updates: Tensor, *, indices: Array
) -> Cts:
    """(ct with zeros where it was overwritten, the places of ct that were written)."""
    nothing = Tensor(np.zeros_like(updates.array))
    return _scatter_update(ct, nothing, indices=indices), _gather_nd(ct, indices=indices)


def tensor_scatter_nd_update(tensor: Any, indices: Any, updates: Any, name: Any = None) -> Tensor:
    """Return the tensor with the places at index vectors replaced."""
    return _scatter_update(tensor, updates, indices=convert_to_tensor(indices).array)


def tensor_scatter_nd_add(tensor: Any, indices: Any, updates: Any, name: Any = None) -> Tensor:
    """Return the tensor with `updates` added at index vectors."""
    x = convert_to_tensor(tensor)
    return x + scatter_nd(indices, updates, x.array.shape)


# ----- Masks, order -----


def repeat(input: Any, repeats: Any, axis: int | None = None, name: str | None = None) -> Tensor:
    """Return each slice so many times in a row; the cotangents of the copies add up, dense."""
    x = convert_to_tensor(input)
    x = reshape(x, (-1,) if axis is None else x.array.shape)
    along = int(axis or 0)
    return gather(x, np.repeat(np.arange(x.array.shape[along]), repeats), axis=along)


def boolean_mask(tensor: Any, mask: Any, axis: int | None = None, name: Any = None) -> Tensor:
    """Return the elements, or rows, where the mask holds."""
    x, kept = convert_to_tensor(tensor), convert_to_tensor(mask).array
    start = int(axis or 0)
    merged = (*x.array.shape[:start], kept.size, *x.array.shape[start + kept.ndim :])
    return gather(reshape(x, merged), np.flatnonzero(kept), axis=start)


def sort(values: Any, axis: int = -1, direction: str = "ASCENDING", name: Any = None) -> Tensor:
    """Return the values in order; equal ones keep their order, and each its own cotangent."""
    x = convert_to_tensor(values)
    order = list(builtins.range(x.ndim))
    order[axis], order[-1] = order[-1], order[axis]
    moved = transpose(x, order)
    key = -moved.array if direction == "DESCENDING" else moved.array
    places = np.argsort(key, axis=-1, kind="stable")
    return transpose(gather(moved, places, batch_dims=x.ndim - 1), order)
