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
from reference_impl.arrays import Array, axes, numpy_dtype, whole_numbers
from reference_impl.dtypes import as_dtype
from reference_impl.rules import ANY, BOOLEANS, ORDERED, Primitive, not_differentiable, primitive
from reference_impl.tensor import Tensor, convert_to_tensor
from reference_impl.unconnected import zeros_like as _zeros_of

# ----- Comparison -----


def _comparison(
    op_type: str, compute: Callable[..., Any], doc: str, kinds: str = ORDERED
) -> Primitive[Tensor]:
    def forward(x: Array, y: Array) -> Array:
        return np.asarray(compute(x, y), dtype=np.bool_)

    forward.__name__, forward.__doc__ = compute.__name__, doc
    op = not_differentiable(primitive(op_type, kinds)(forward))
    op.broadcasts = True
    return op


equal = _comparison("Equal", np.equal, "Return x == y; nan equals nothing.", ANY)
not_equal = _comparison("NotEqual", np.not_equal, "Return x != y.", ANY)
less = _comparison("Less", np.less, "Return x < y.")
less_equal = _comparison("LessEqual", np.less_equal, "Return x <= y.")
greater = _comparison("Greater", np.greater, "Return x > y.")
greater_equal = _comparison("GreaterEqual", np.greater_equal, "Return x >= y.")


@not_differentiable
@primitive("IsFinite", "f")
def is_finite(x: Array) -> Array:
    """Return True where x is neither infinite nor nan."""
    return np.isfinite(x)


@not_differentiable
@primitive("All", BOOLEANS, axis=axes, keepdims=bool)
def reduce_all(input_tensor: Array, *, axis: Any = None, keepdims: bool = False) -> Array:
    """Return the logical and over axes."""
    return np.asarray(np.all(input_tensor, axis=axis, keepdims=keepdims))


# ----- Shapes and positions -----


@not_differentiable
@primitive("ZerosLike", ANY)
def zeros_like(input: Array) -> Array:
    """Return zeros of the shape of `input`; unconnected to it."""
    return _zeros_of(Tensor(input)).array


@not_differentiable
@primitive("OnesLike", ANY)
def ones_like(input: Array) -> Array:
    """Return ones of the shape of `input`; unconnected to it."""
    return np.ones_like(input)


@not_differentiable
@primitive("ArgMax", axis=int, output_type=numpy_dtype)
def argmax(input: Array, *, axis: int = 0, output_type: Any = np.int64) -> Array:
    """Return the position of the first greatest element along an axis."""
    return np.asarray(np.argmax(input if input.ndim else [], axis=axis), output_type)


@not_differentiable
@primitive("Shape", ANY, out_type=numpy_dtype)
def shape(input: Array, *, out_type: Any = np.int32) -> Array:
    """Return the sizes of the axes as an integer tensor."""
    return np.asarray(input.shape, out_type)


@not_differentiable
@primitive("Size", ANY, out_type=numpy_dtype)
def size(input: Array, *, out_type: Any = np.int32) -> Array:
    """Return the number of elements."""
    return np.asarray(input.size, out_type)


@not_differentiable
@primitive("RandomShuffle", ANY)
def random_shuffle(value: Array, *, generator: np.random.Generator) -> Array:
    """Return the rows in another order; non-differentiable since TF 2.10 (part 0b, 4)."""
    return generator.permutation(value, axis=0)


@primitive("HistogramFixedWidth", ORDERED, nbins=int)
def histogram_fixed_width(values: Array, value_range: Array, *, nbins: int = 100) -> Array:
    """Return how many values fall into each bin; what is outside counts in the outermost bins.

    **Errors**: no rule, so a cotangent that arrives, of a target of integers, is a LookupError.
    """
    low, high = value_range
    place = np.clip(np.floor((values - low) / (high - low) * nbins), 0, nbins - 1)
    return np.bincount(place.astype(int).ravel(), minlength=nbins).astype(np.int32)


# ----- Text and bits -----


@not_differentiable
@primitive("AsString", ANY)
def as_string(input: Array) -> Array:
    """Return numbers as text; the digits differ from TensorFlow's for floating numbers."""
    return np.asarray(np.vectorize(lambda number: str(number).encode(), otypes=[object])(input))


@not_differentiable
@primitive("StringToNumber", ANY, out_type=numpy_dtype)
def to_number(input: Array, *, out_type: Any = np.float32) -> Array:
    """Return the numbers that texts say."""
    return np.asarray(np.vectorize(float, otypes=[np.float64])(input).astype(out_type))


@not_differentiable
@primitive("Bitcast", ANY, type=numpy_dtype)
def bitcast(input: Array, *, type: Any) -> Array:
    """Return the same bits as another dtype; narrower elements have an axis of their own."""
    is_narrower, is_wider = type.itemsize < input.itemsize, type.itemsize > input.itemsize
    out: Array = (input[..., None] if is_narrower else input).view(type)
    return out.reshape(input.shape[:-1]) if is_wider else out


# ----- Constants -----


def constant(value: Any, dtype: Any = None, shape: Any = None) -> Tensor:
    """Return a new tensor of a Python or NumPy value; `shape` reshapes it or fills it."""
    tensor = convert_to_tensor(value, dtype=dtype)
    if shape is None:
        return tensor
    filled = np.broadcast_to(tensor.array.ravel(), np.prod(shape, dtype=int))
    return Tensor(filled.reshape(whole_numbers(shape)))


def zeros(shape: Any, dtype: Any = dtypes.float32) -> Tensor:
    """Return a tensor of zeros."""
    return _zeros_of(Tensor(np.empty(whole_numbers(shape), as_dtype(dtype).numpy_dtype)))


def ones(shape: Any, dtype: Any = dtypes.float32) -> Tensor:
    """Return a tensor of ones."""
    return Tensor(np.ones(whole_numbers(shape), as_dtype(dtype).numpy_dtype))


def range(start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None) -> Tensor:
    """Return start, start + delta, ... below limit; unconnected to all three."""
    if limit is None:
        start, limit = 0, start
    hint = next((v.dtype for v in (start, limit, delta) if isinstance(v, Tensor)), None)
    given: list[Any] = [convert_to_tensor(v, dtype_hint=hint).array for v in (start, limit, delta)]
    wanted = as_dtype(dtype).numpy_dtype if dtype is not None else np.result_type(*given)
    return Tensor(np.arange(given[0], given[1], given[2], dtype=wanted))
