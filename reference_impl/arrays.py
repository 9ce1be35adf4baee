"""From Python values to arrays: what dtype a value gets, and what it may become."""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl import nest
from reference_impl.dtypes import DType, as_dtype

Array = np.ndarray[Any, Any]


def array_of(value: Any, dtype: DType | None, hint: DType | None) -> Array:
    """Return a fresh array: a later change of the caller's array is not seen by any record.

    dtype: what the value must become; hint: what it becomes if it can.
    **Errors**: TypeError if a Python value cannot become `dtype`; ValueError for anything that is
    neither a number nor text.
    """
    wanted = dtype or hint
    if type(value) is float and wanted is not None and wanted.numpy_dtype.kind in "fc":
        return np.array(value, wanted.numpy_dtype)
    array = _numpy_array(value)
    if wanted is None:
        return _narrowed(array) if _is_python(value) else array
    if array.dtype == wanted.numpy_dtype:
        return array
    if array.size and _is_python(value) and not _can_hold(wanted, array.dtype.kind):
        if dtype is None and array.dtype.kind == "O":
            return array
        raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype {wanted.name}")
    return array.astype(wanted.numpy_dtype)


def _numpy_array(value: Any) -> Array:
    """Return `value` as a new array; text becomes an object array of bytes."""
    array = np.array(value)
    if array.dtype.kind not in "USO":
        return array
    if all(isinstance(item, (str, bytes)) for item in array.ravel()):
        return np.vectorize(_as_bytes, otypes=[object])(array) if array.size else array
    culprit = None if any(leaf is None for leaf in nest.flatten(value)) else value
    raise ValueError(
        f"Attempt to convert a value ({culprit!r}) with an unsupported type ({type(culprit)}) "
        "to a Tensor."
    )


def _as_bytes(text: Any) -> bytes:
    return text.encode() if isinstance(text, str) else bytes(text)


def _narrowed(array: Array) -> Array:
    """Return what Python numbers become unasked: float32, and int32 where it fits."""
    if array.dtype.kind == "f":
        return array.astype(np.float32)
    limits = np.iinfo(np.int32)
    fits = array.dtype.kind == "i" and np.all((limits.min <= array) & (array <= limits.max))
    return array.astype(np.int32) if fits else array


def _is_python(value: Any) -> bool:
    if isinstance(value, (np.ndarray, np.generic)):
        return False
    return not any(isinstance(leaf, (np.ndarray, np.generic)) for leaf in nest.flatten(value))


def _can_hold(dtype: DType, kind: str) -> bool:
    """True if a Python value of NumPy kind `kind` converts to `dtype` without being asked to."""
    order = {"b": "b", "i": "iufc", "u": "iufc", "f": "fc", "c": "c", "O": "O"}
    return dtype.numpy_dtype.kind in order.get(kind, "")


# ----- Converters of attributes: from what TensorFlow's callers give to what NumPy takes -----


def whole_numbers(values: Any) -> tuple[int, ...]:
    """Return sizes, axes or indices, given as a number, a list or a tensor, as a tuple of ints."""
    if isinstance(values, (tuple, list)):
        return tuple(map(int, values))
    return tuple(np.ravel(np.asarray(values)).astype(int).tolist())


def axes(axis: Any) -> tuple[int, ...] | None:
    """Return the axes of a reduction; None means all of them, [] none."""
    return None if axis is None else whole_numbers(axis)


def as_indices(indices: Any) -> Array:
    """Return indices, a mask or segment ids as an array."""
    return np.asarray(indices) if hasattr(indices, "dtype") else array_of(indices, None, None)


def numpy_dtype(dtype: Any) -> np.dtype[Any]:
    """Return the NumPy type of anything that names a dtype."""
    return as_dtype(dtype).numpy_dtype
