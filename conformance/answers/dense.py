"""Dense: the tensor that the rows of IndexedSlices add up to."""

from __future__ import annotations

import numpy as np

from conformance.answers.answer import Slices, Tensor, Value


def densified(value: Value | None, shape: tuple[int, ...]) -> Value | None:
    """The tensor of this shape that slices add up to; what does not fit it stays as it is."""
    if not isinstance(value, Slices) or not _fits(value, shape):
        return value
    rows = value.values.array
    wide = np.zeros(shape, np.result_type(rows, np.float64) if rows.dtype.kind in "fc" else rows)
    np.add.at(wide, value.indices.array, rows)
    with np.errstate(over="ignore"):
        return Tensor(wide.astype(rows.dtype), value.values.dtype)


def _fits(slices: Slices, shape: tuple[int, ...]) -> bool:
    rows, indices = slices.values, slices.indices
    return (
        shape != ()
        and slices.dense_shape in (None, shape)
        and (rows.kind, indices.kind, indices.family) == ("tensor", "tensor", "integer")
        and rows.family in ("integer", "float", "complex")
        and rows.array.shape == (*indices.array.shape, *shape[1:])
        and indices.array.ndim == 1
        and bool(np.all((indices.array >= 0) & (indices.array < shape[0])))
    )
