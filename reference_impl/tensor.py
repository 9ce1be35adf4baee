"""Tensor, Variable and IndexedSlices: what a tape can watch, and what a gradient can be.

A tensor is an immutable array with an identity, its `key`. Keys are counted, never reused, so a
record can name a tensor that is gone. A variable is a name for a handle, whose array changes;
the tape watches the handle, and every reading of the variable makes a new tensor.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from reference_impl import dtypes, nest, recording
from reference_impl.arrays import Array, array_of
from reference_impl.dtypes import DType, as_dtype
from reference_impl.errors import InvalidArgumentError
from reference_impl.tensor_shape import TensorShape

_next_key = itertools.count().__next__


class Operators:
    """Operations as methods of tensors and variables; `ops/__init__.py` attaches them."""

    __slots__ = ()
    __array_priority__ = 100  # numpy_array * tensor is the tensor's business

    if TYPE_CHECKING:

        def _binary(self, other: Any) -> Tensor: ...
        def _unary(self) -> Tensor: ...

        __add__ = __sub__ = __mul__ = __truediv__ = __floordiv__ = __mod__ = __pow__ = _binary
        __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rfloordiv__ = __rpow__ = _binary
        __matmul__ = __rmatmul__ = __getitem__ = __lt__ = __le__ = __gt__ = __ge__ = _binary
        __neg__ = __abs__ = _unary
        sum_to_shape = _binary


class Tensor(Operators):
    """An immutable array: `array` is its value, `key` its identity."""

    __slots__ = ("__weakref__", "array", "key")

    def __init__(self, array: Any) -> None:
        self.array: Array = array if type(array) is np.ndarray else np.asarray(array)
        self.key = _next_key()

    @property
    def dtype(self) -> DType:
        """The element type."""
        return dtypes.of_array(self.array)

    @property
    def shape(self) -> TensorShape:
        """The sizes of the axes."""
        return TensorShape(self.array.shape)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self.array.ndim

    def numpy(self) -> Any:
        """Return a copy of the value: an array, or a NumPy scalar for rank 0."""
        return self.array.copy() if self.array.ndim else self.array[()]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.array, dtype=dtype)

    def __bool__(self) -> bool:
        return bool(self.array)

    def __float__(self) -> float:
        return float(self.array)

    def __int__(self) -> int:
        return int(self.array)

    def __len__(self) -> int:
        return len(self.array)

    def __iter__(self) -> Iterator[Tensor]:
        return (self[i] for i in range(len(self.array)))

    def __repr__(self) -> str:
        return f"<tf.Tensor: shape={self.shape}, dtype={self.dtype.name}, numpy={self.array}>"


class Handle(Tensor):
    """The place behind a variable: a tensor whose array changes; its `key` is what tapes watch."""

    __slots__ = ()


class Variable(Operators):
    """A mutable value. Trainable variables are watched when they are used under a tape.

    **Errors**: assigning another shape or dtype is a ValueError.
    **Source**: TF resource_variable_ops.py; contract part 1, lines 55-60 and 73-77.
    """

    def __init__(
        self, initial_value: Any, trainable: bool = True, name: str = "Variable", dtype: Any = None
    ) -> None:
        value = initial_value() if callable(initial_value) else initial_value
        self.handle = Handle(convert_to_tensor(value, dtype=dtype).array)
        self.trainable = trainable
        self.name = f"{name}:0"

    @property
    def dtype(self) -> DType:
        """The element type."""
        return self.handle.dtype

    @property
    def shape(self) -> TensorShape:
        """The sizes of the axes."""
        return self.handle.shape

    def read_value(self) -> Tensor:
        """Return the value now, as a new tensor connected to the variable."""
        from reference_impl.ops.passing import read_variable  # a primitive, made of tensors

        recording.variable_accessed(self)
        return read_variable(self.handle)

    value = read_value

    def numpy(self) -> Any:
        """Return a copy of the value."""
        return self.handle.numpy()

    def assign(self, value: Any) -> Variable:
        """Replace the value. State stops gradients: nothing is recorded (line 74)."""
        tensor = convert_to_tensor(value, dtype=self.dtype)
        if tensor.shape != self.shape:
            raise ValueError(
                f"Cannot assign value to variable ' {self.name}': Shape mismatch. The variable "
                f"shape {self.shape}, and the assigned value shape {tensor.shape} are incompatible."
            )
        return self._updated(tensor.array)

    def assign_add(self, delta: Any) -> Variable:
        """Add `delta`, which has the variable's shape, to the value; not recorded."""
        change = convert_to_tensor(delta, dtype=self.dtype)
        if change.shape != self.shape:
            raise InvalidArgumentError(
                f"Cannot update variable with shape {self.shape} using a Tensor with shape "
                f"{change.shape}, shapes must be equal."
            )
        return self._updated(self.handle.array + change.array)

    def assign_sub(self, delta: Any) -> Variable:
        """Subtract `delta`, which has the variable's shape, from the value; not recorded."""
        return self.assign_add(-convert_to_tensor(delta, dtype=self.dtype))

    def _updated(self, array: Array) -> Variable:
        """Return a second name for the same handle, as TensorFlow's assignments do."""
        recording.variable_accessed(self)
        self.handle.array = np.asarray(array)
        alias = Variable.__new__(Variable)
        alias.__dict__.update(self.__dict__)
        return alias

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return self.handle.__array__(dtype)

    def __repr__(self) -> str:
        return f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}>"


class IndexedSlices:
    """Rows `values` at `indices` of a tensor of shape `dense_shape` that is zero elsewhere.

    Indices may repeat; their rows then add up. It is what the gradient of `gather` is made of; it
    can be watched, but is no target or source itself.
    """

    __slots__ = ("__weakref__", "components", "dense_shape", "indices", "values")

    def __init__(self, values: Tensor, indices: Tensor, dense_shape: Any = None) -> None:
        self.values, self.indices, self.dense_shape = values, indices, dense_shape
        self.components = [x for x in (values, indices, dense_shape) if x is not None]

    @property
    def dtype(self) -> DType:
        """The element type of the values."""
        return self.values.dtype

    @property
    def shape(self) -> TensorShape:
        """The dense shape, which must be known."""
        return TensorShape(self.dense_shape.array)

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(-self.values, self.indices, self.dense_shape)


def convert_to_tensor(value: Any, dtype: Any = None, dtype_hint: Any = None) -> Tensor:
    """Return `value` as a tensor; a Python float becomes float32, a Python int int32.

    A list that holds tensors is stacked, and stays connected to them.
    **Errors**: a tensor of another dtype is a ValueError (nothing is cast silently); a Python
    value that the dtype cannot hold is a TypeError; None is a ValueError.
    """
    wanted = None if dtype is None else as_dtype(dtype)
    tensor = None if type(value) is np.ndarray else _as_recorded_tensor(value, wanted or dtype_hint)
    if tensor is None:
        return Tensor(array_of(value, wanted, dtype_hint))
    if wanted is not None and tensor.dtype != wanted:
        raise ValueError(
            f"Tensor conversion requested dtype {wanted.name} for Tensor with dtype "
            f"{tensor.dtype.name}: {tensor!r}"
        )
    return tensor


def _as_recorded_tensor(value: Any, dtype: Any) -> Tensor | None:
    """Convert what may be connected to a tape: tensors, variables, slices, lists of them."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, Variable):
        return value.read_value()
    if isinstance(value, IndexedSlices):
        from reference_impl.ops.indexing import densify  # an operation, made of tensors

        return densify(value)
    leaves = nest.flatten(value) if isinstance(value, (list, tuple)) else []
    if not leaves or not any(isinstance(leaf, (Tensor, Variable)) for leaf in leaves):
        return None
    from reference_impl.ops.shape import stack

    known = dtype or next(leaf.dtype for leaf in leaves if hasattr(leaf, "dtype"))
    return stack([convert_to_tensor(x, dtype_hint=known) for x in value])


def dense(ct: Any) -> Any:
    """Return indexed slices as a tensor; anything else as it is."""
    return convert_to_tensor(ct) if type(ct) is IndexedSlices else ct
