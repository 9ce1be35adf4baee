"""Operations without a derivative, and constants: nothing is connected to their results.

Three different things end a path, and only the last is an error:
declared non-differentiable (here), a rule that answers None (`floor`, `floordiv`), and no rule at
all (a LookupError when a cotangent arrives).
**Source**: `ops.NotDifferentiable` in TF 2.21 `math_grad.py`, `array_grad.py`, `random_grad.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from reference_impl import dtypes
from reference_impl.arrays import Array
from reference_impl.dtypes import as_dtype
from reference_impl.rules import ANY, Primitive, not_differentiable, primitive
from reference_impl.tensor import Tensor, convert_to_tensor
from reference_impl.unconnected import zeros_like as _zeros_of

# ----- Comparison and logic -----


def _comparison(op_type: str, compute: Callable[..., Any], doc: str) -> Primitive[Tensor]:
    def forward(x: Array, y: Array) -> Array:
        return np.asarray(compute(x, y), dtype=np.bool_)

    forward.__name__, forward.__doc__ = compute.__name__, doc
    op = primitive(op_type, ANY)(forward)
    op.broadcasts = True
    not_differentiable(op)
    return op


equal = _comparison("Equal", np.equal, "Return x == y; nan equals nothing.")
not_equal = _comparison("NotEqual", np.not_equal, "Return x != y.")
less = _comparison("Less", np.less, "Return x < y.")
less_equal = _comparison("LessEqual", np.less_equal, "Return x <= y.")
greater = _comparison("Greater", np.greater, "Return x > y.")
greater_equal = _comparison("GreaterEqual", np.greater_equal, "Return x >= y.")
logical_and = _comparison("LogicalAnd", np.logical_and, "Return x and y.")
logical_or = _comparison("LogicalOr", np.logical_or, "Return x or y.")
logical_xor = _comparison("LogicalXor", np.logical_xor, "Return x != y of two truth values.")


@primitive("LogicalNot", "b")
def logical_not(x: Array) -> Array:
    """Return not x."""
    return np.logical_not(x)


@primitive("IsNan", "f")
def is_nan(x: Array) -> Array:
    """Return True where x is nan."""
    return np.isnan(x)


@primitive("IsInf", "f")
def is_inf(x: Array) -> Array:
    """Return True where x is infinite."""
    return np.isinf(x)


@primitive("IsFinite", "f")
def is_finite(x: Array) -> Array:
    """Return True where x is neither infinite nor nan."""
    return np.isfinite(x)


@primitive("ZerosLike", ANY)
def _zeros_like(x: Array, *, dtype: Any) -> Array:
    return _zeros_of(Tensor(np.empty(x.shape, dtype))).array


@primitive("OnesLike", ANY)
def _ones_like(x: Array, *, dtype: Any) -> Array:
    return np.ones(x.shape, dtype)


def zeros_like(input: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """Return zeros of the shape of `input`; unconnected to it."""
    x = convert_to_tensor(input)
    return _zeros_like(x, dtype=as_dtype(dtype or x.dtype).numpy_dtype)


def ones_like(input: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """Return ones of the shape of `input`; unconnected to it."""
    x = convert_to_tensor(input)
    return _ones_like(x, dtype=as_dtype(dtype or x.dtype).numpy_dtype)


# ----- Positions and shapes -----


@primitive("ArgMax")
def _argmax(x: Array, *, axis: int, dtype: Any) -> Array:
    return np.asarray(np.argmax(x, axis=axis), dtype)


@primitive("ArgMin")
def _argmin(x: Array, *, axis: int, dtype: Any) -> Array:
    return np.asarray(np.argmin(x, axis=axis), dtype)


def argmax(
    input: Any, axis: Any = None, output_type: Any = dtypes.int64, name: str | None = None
) -> Tensor:
    """Return the position of the first greatest element along an axis (default 0)."""
    return _argmax(input, axis=int(axis or 0), dtype=as_dtype(output_type).numpy_dtype)


def argmin(
    input: Any, axis: Any = None, output_type: Any = dtypes.int64, name: str | None = None
) -> Tensor:
    """Return the position of the first least element along an axis (default 0)."""
    return _argmin(input, axis=int(axis or 0), dtype=as_dtype(output_type).numpy_dtype)


@primitive("Shape", ANY)
def _shape(x: Array, *, dtype: Any) -> Array:
    return np.asarray(x.shape, dtype)


def shape(input: Any, out_type: Any = dtypes.int32, name: str | None = None) -> Tensor:
    """Return the sizes of the axes as an integer tensor."""
    return _shape(input, dtype=as_dtype(out_type).numpy_dtype)


@primitive("Size", ANY)
def _size(x: Array, *, dtype: Any) -> Array:
    return np.asarray(x.size, dtype)


def size(input: Any, out_type: Any = dtypes.int32, name: str | None = None) -> Tensor:
    """Return the number of elements."""
    return _size(input, dtype=as_dtype(out_type).numpy_dtype)


@primitive("Rank", ANY)
def _rank(x: Array) -> Array:
    return np.asarray(x.ndim, np.int32)


def rank(input: Any, name: str | None = None) -> Tensor:
    """Return the number of axes."""
    return _rank(input)


@primitive("All", "b")
def _all(x: Array, *, axis: Any, keepdims: bool) -> Array:
    return np.asarray(np.all(x, axis=axis, keepdims=keepdims))


@primitive("Any", "b")
def _any(x: Array, *, axis: Any, keepdims: bool) -> Array:
    return np.asarray(np.any(x, axis=axis, keepdims=keepdims))


def _axis(axis: Any) -> Any:
    return tuple(int(a) for a in np.ravel(axis)) if axis is not None else None


def reduce_all(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Return the logical and over axes."""
    return _all(input_tensor, axis=_axis(axis), keepdims=bool(keepdims))


def reduce_any(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Return the logical or over axes."""
    return _any(input_tensor, axis=_axis(axis), keepdims=bool(keepdims))


@primitive("RandomShuffle", ANY)
def _shuffle(x: Array, *, generator: np.random.Generator) -> Array:
    return generator.permutation(x, axis=0)


def random_shuffle(value: Any, generator: np.random.Generator) -> Tensor:
    """Return the rows in another order; non-differentiable since TF 2.10 (part 0b, 4)."""
    return _shuffle(value, generator=generator)


@primitive("HistogramFixedWidth", "fi")
def _histogram(values: Array, low: Array, high: Array, *, bins: int, dtype: Any) -> Array:
    place = np.floor((values - low) / (high - low) * bins)
    return np.bincount(np.clip(place, 0, bins - 1).astype(int).ravel(), minlength=bins).astype(
        dtype
    )


def histogram_fixed_width(
    values: Any, value_range: Any, nbins: Any = 100, dtype: Any = dtypes.int32, name: Any = None
) -> Tensor:
    """Return how many values fall into each bin; what is outside counts in the outermost bins."""
    x = convert_to_tensor(values)
    low, high = convert_to_tensor(value_range, dtype=x.dtype)
    return _histogram(x, low, high, bins=int(nbins), dtype=as_dtype(dtype).numpy_dtype)


# ----- Text and bits -----


@primitive("AsString", ANY)
def _as_string(x: Array) -> Array:
    return np.asarray(np.vectorize(lambda number: str(number).encode(), otypes=[object])(x))


def as_string(input: Any, name: str | None = None) -> Tensor:
    """Return numbers as text; the digits differ from TensorFlow's for floating numbers."""
    return _as_string(input)


@primitive("StringToNumber", ANY)
def _to_number(x: Array, *, dtype: Any) -> Array:
    return np.asarray(np.vectorize(float, otypes=[np.float64])(x).astype(dtype))


def to_number(input: Any, out_type: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """Return the numbers that texts say."""
    return _to_number(input, dtype=as_dtype(out_type).numpy_dtype)


@primitive("Bitcast", ANY)
def _bitcast(x: Array, *, dtype: Any) -> Array:
    return x.view(dtype)


def bitcast(input: Any, type: Any, name: str | None = None) -> Tensor:
    """Return the same bits as another dtype of the same size."""
    return _bitcast(input, dtype=as_dtype(type).numpy_dtype)


# ----- Constants -----


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str | None = None) -> Tensor:
    """Return a new tensor of a Python or NumPy value; `shape` reshapes it or fills it."""
    tensor = convert_to_tensor(value, dtype=dtype)
    if shape is None or tensor.array.shape == tuple(shape):
        return tensor
    if tensor.array.size == 1:
        return Tensor(np.full(tuple(shape), tensor.array.reshape(())))
    return Tensor(tensor.array.reshape(tuple(shape)))


def _sizes(shape: Any) -> tuple[int, ...]:
    return tuple(int(n) for n in np.ravel(np.asarray(shape)))


def zeros(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """Return a tensor of zeros."""
    return _zeros_of(Tensor(np.empty(_sizes(shape), as_dtype(dtype).numpy_dtype)))


def ones(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """Return a tensor of ones."""
    return Tensor(np.ones(_sizes(shape), as_dtype(dtype).numpy_dtype))


def eye(
    num_rows: int, num_columns: int | None = None, dtype: Any = dtypes.float32, **unused: Any
) -> Tensor:
    """Return the identity matrix."""
    return Tensor(np.eye(int(num_rows), num_columns, dtype=as_dtype(dtype).numpy_dtype))


def range(
    start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str | None = None
) -> Tensor:
    """Return start, start + delta, ... below limit; unconnected to all three."""
    if limit is None:
        start, limit = 0, start
    hint = next((v.dtype for v in (start, limit, delta) if isinstance(v, Tensor)), None)
    given: list[Any] = [convert_to_tensor(v, dtype_hint=hint).array for v in (start, limit, delta)]
    wanted = as_dtype(dtype).numpy_dtype if dtype is not None else np.result_type(*given)
    return Tensor(np.arange(given[0], given[1], given[2], dtype=wanted))


def one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = 1.0,
    off_value: Any = 0.0,
    axis: int | None = None,
    dtype: Any = None,
    name: str | None = None,
) -> Tensor:
    """Return rows that are `on_value` at an index and `off_value` elsewhere; unconnected."""
    wanted = as_dtype(dtype).numpy_dtype if dtype is not None else np.dtype(np.float32)
    positions = convert_to_tensor(indices).array[..., np.newaxis] == np.arange(int(depth))
    rows = np.where(positions, np.asarray(on_value, wanted), np.asarray(off_value, wanted))
    return Tensor(np.moveaxis(rows, -1, -1 if axis is None else axis))


for _op in (
    _as_string, _to_number, _bitcast, logical_not, _zeros_like, _ones_like, _argmax, _argmin,
    _shape, _size, _rank, _all, _any, _shuffle, _histogram,
):  # fmt: skip
    not_differentiable(_op)
