"""Tensor, Variable and IndexedSlices: what a tape can watch, and what a gradient can be.

A tensor is an immutable array with an identity, its `key`. Keys are counted, never reused, so a
record can name a tensor that is gone. A variable is a name for a handle, whose array changes;
the tape watches the handle, and every reading of the variable makes a new tensor.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from reference_impl import dtypes, nest, recording
from reference_impl.arrays import Array, array_of
from reference_impl.dtypes import DType, as_dtype
from reference_impl.errors import InvalidArgumentError
from reference_impl.operators import OPERATORS, Operators
from reference_impl.tensor_shape import TensorShape

_keys = itertools.count()


class Reference:
    """A hashable stand-in for a tensor or variable, equal by identity."""

    def __init__(self, wrapped: Any) -> None:
        self._wrapped = wrapped

    def deref(self) -> Any:
        """Return the wrapped object."""
        return self._wrapped

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self._wrapped is other._wrapped

    def __hash__(self) -> int:
        return id(self._wrapped)


class Tensor(Operators):
    """An immutable array: `array` is its value, `key` its identity."""

    __slots__ = ("__weakref__", "array", "key")

    def __init__(self, array: Any) -> None:
        self.array: Array = array if type(array) is np.ndarray else np.asarray(array)
        self.key = next(_keys)

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

    def get_shape(self) -> TensorShape:
        """Return the sizes of the axes."""
        return self.shape

    def numpy(self) -> Any:
        """Return a copy of the value: an array, or a NumPy scalar for rank 0."""
        return self.array.copy() if self.array.ndim else self.array[()]

    def ref(self) -> Reference:
        """Return a hashable reference."""
        return Reference(self)

    def __hash__(self) -> int:
        raise TypeError("Tensor is unhashable. Instead, use tensor.ref() as the key.")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.array, dtype=dtype)

    def __bool__(self) -> bool:
        return bool(self.array)

    def __float__(self) -> float:
        return float(self._scalar())

    def __int__(self) -> int:
        return int(self._scalar())

    def __complex__(self) -> complex:
        return complex(self._scalar())

    def __index__(self) -> int:
        return self._scalar().__index__()  # type: ignore[no-any-return]

    def _scalar(self) -> Any:
        if self.array.ndim:
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
        return self.array[()]

    def __len__(self) -> int:
        if not self.array.ndim:
            raise TypeError("Scalar tensor has no `len()`")
        return len(self.array)

    def __iter__(self) -> Iterator[Tensor]:
        if not self.array.ndim:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return (self[i] for i in range(len(self.array)))

    def __format__(self, spec: str) -> str:
        return format(self.array[()] if not self.array.ndim else str(self), spec)

    def __str__(self) -> str:
        return f"tf.Tensor({self.array}, shape={self.shape}, dtype={self.dtype.name})"

    def __repr__(self) -> str:
        value = repr(self.array) if self.array.ndim else self.array
        return f"<tf.Tensor: shape={self.shape}, dtype={self.dtype.name}, numpy={value}>"


class Handle:
    """The mutable place behind a variable; `key` is what a tape watches."""

    __slots__ = ("__weakref__", "array", "key")

    def __init__(self, array: Array) -> None:
        self.array = array
        self.key = next(_keys)


class Variable(Operators):
    """A mutable value. Trainable variables are watched when they are read under a tape.

    **Errors**: assigning another shape or dtype is a ValueError.
    **Source**: TF resource_variable_ops.py; contract part 1, lines 55-60 and 73-77.
    """

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        import_scope: Any = None,
        constraint: Any = None,
        synchronization: Any = None,
        aggregation: Any = None,
        shape: Any = None,
    ) -> None:
        value = initial_value() if callable(initial_value) else initial_value
        tensor = convert_to_tensor(value, dtype=dtype)
        self.handle = Handle(tensor.array)
        self.trainable = True if trainable is None else bool(trainable)
        self.name = f"{name or 'Variable'}:0"

    @property
    def dtype(self) -> DType:
        """The element type."""
        return dtypes.of_array(self.handle.array)

    @property
    def shape(self) -> TensorShape:
        """The sizes of the axes."""
        return TensorShape(self.handle.array.shape)

    def get_shape(self) -> TensorShape:
        """Return the sizes of the axes."""
        return self.shape

    def read_value(self) -> Tensor:
        """Return the value now, as a new tensor connected to the variable."""
        recording.variable_accessed(self)
        return OPERATORS["read_variable"](self.handle)

    def value(self) -> Tensor:
        """Return the value now, as a new tensor connected to the variable."""
        return self.read_value()

    def gather_nd(self, indices: Any, name: Any = None) -> Tensor:
        """Return the slices at index vectors, connected to the variable."""
        return OPERATORS["gather_nd"](self, indices)

    def sparse_read(self, indices: Any, name: Any = None) -> Tensor:
        """Return the rows at indices, connected to the variable."""
        return OPERATORS["gather"](self, indices)

    def numpy(self) -> Any:
        """Return a copy of the value."""
        return Tensor(self.handle.array).numpy()

    def assign(self, value: Any, use_locking: bool = False, name: Any = None) -> Variable:
        """Replace the value. State stops gradients: nothing is recorded (line 74)."""
        tensor = convert_to_tensor(value, dtype=self.dtype)
        if tensor.array.shape != self.handle.array.shape:
            raise ValueError(
                f"Cannot assign value to variable ' {self.name}': Shape mismatch."
                f"The variable shape {self.shape}, and the assigned value shape {tensor.shape} "
                "are incompatible."
            )
        return self._updated(tensor.array)

    def assign_add(self, delta: Any, use_locking: bool = False, name: Any = None) -> Variable:
        """Add `delta`, which has the variable's shape, to the value; not recorded."""
        return self._updated(self.handle.array + self._change(delta))

    def assign_sub(self, delta: Any, use_locking: bool = False, name: Any = None) -> Variable:
        """Subtract `delta`, which has the variable's shape, from the value; not recorded."""
        return self._updated(self.handle.array - self._change(delta))

    def _change(self, delta: Any) -> Array:
        tensor = convert_to_tensor(delta, dtype=self.dtype)
        if tensor.array.shape != self.handle.array.shape:
            raise InvalidArgumentError(
                f"Cannot update variable with shape {self.shape.as_list()} using a Tensor with "
                f"shape {tensor.shape.as_list()}, shapes must be equal."
            )
        return tensor.array

    def _updated(self, array: Array) -> Variable:
        """Return a second name for the same handle, as TensorFlow's assignments do."""
        recording.variable_accessed(self)
        self.handle.array = np.asarray(array)
        alias = Variable.__new__(Variable)
        alias.__dict__.update(self.__dict__)
        return alias

    def ref(self) -> Reference:
        """Return a hashable reference."""
        return Reference(self)

    def __hash__(self) -> int:
        raise TypeError(
            f"Variable is unhashable. Instead, use variable.ref() as the key. (Variable: {self!r})"
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.handle.array, dtype=dtype)

    def __bool__(self) -> bool:
        return bool(self.read_value())

    def __float__(self) -> float:
        return float(self.read_value())

    def __int__(self) -> int:
        return int(self.read_value())

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self.read_value())

    def __len__(self) -> int:
        return len(self.read_value())

    def __repr__(self) -> str:
        return (
            f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}, "
            f"numpy={self.handle.array}>"
        )


class CompositeTensor:
    """A value made of several tensors. Watching it watches all of them.

    **Source**: TF 2.21 composite_tensor_gradient.py; contract part 1, lines 32 to 37.
    """

    __slots__ = ()

    elementwise: Callable[[Callable[..., Any], Sequence[Any], Any], Any] | None = None
    """How an operation applies to it element by element; None: it is converted to a tensor."""

    @property
    def components(self) -> tuple[Tensor, ...]:
        """The tensors that it is made of."""
        raise NotImplementedError

    @property
    def gradient_component(self) -> Tensor:
        """The tensor that stands for it as a target or source; a ValueError if none does."""
        raise ValueError(
            f"Type {type(self).__name__} is not supported as a gradient source or gradient target."
        )

    def with_gradient_component(self, ct: Any) -> Any:
        """Return a composite of the same structure around a gradient."""
        raise NotImplementedError


class IndexedSlices:
    """Rows `values` at `indices` of a tensor of shape `dense_shape` that is zero elsewhere.

    Indices may repeat; their rows then add up. It is what the gradient of `gather` is made of; it
    can be watched, but is no target or source itself.
    """

    __slots__ = ("__weakref__", "dense_shape", "indices", "values")

    def __init__(self, values: Tensor, indices: Tensor, dense_shape: Tensor | None = None) -> None:
        self.values = values
        self.indices = indices
        self.dense_shape = dense_shape

    @property
    def components(self) -> tuple[Tensor, ...]:
        """The values, the indices, and the shape if it is known."""
        known = () if self.dense_shape is None else (self.dense_shape,)
        return (self.values, self.indices, *known)

    @property
    def dtype(self) -> DType:
        """The element type of the values."""
        return self.values.dtype

    @property
    def shape(self) -> TensorShape:
        """The dense shape; a ValueError if it is not known."""
        if self.dense_shape is None:
            raise ValueError(
                f"Tensor conversion requested for IndexedSlices without dense_shape: {self}"
            )
        return TensorShape(self.dense_shape.array)

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(-self.values, self.indices, self.dense_shape)

    def __str__(self) -> str:
        return f"IndexedSlices(indices={self.indices}, values={self.values})"


def convert_to_tensor(
    value: Any, dtype: Any = None, name: str | None = None, dtype_hint: Any = None
) -> Tensor:
    """Return `value` as a tensor; a Python float becomes float32, a Python int int32.

    A list that holds tensors is stacked, and stays connected to them.
    **Errors**: a tensor of another dtype is a ValueError (nothing is cast silently); a Python
    value that the dtype cannot hold is a TypeError; None is a ValueError.
    """
    dtype = None if dtype is None else as_dtype(dtype)
    tensor = _as_recorded_tensor(value, dtype or dtype_hint)
    if tensor is None:
        return Tensor(array_of(value, dtype, as_dtype(dtype_hint) if dtype_hint else None))
    if dtype is not None and tensor.dtype != dtype:
        raise ValueError(
            f"Tensor conversion requested dtype {dtype.name} for Tensor with dtype "
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
        return OPERATORS["densify"](value)
    if isinstance(value, (list, tuple)) and any(
        isinstance(leaf, (Tensor, Variable)) for leaf in nest.flatten(value)
    ):
        known = next(leaf.dtype for leaf in nest.flatten(value) if hasattr(leaf, "dtype"))
        return OPERATORS["stack"]([convert_to_tensor(x, dtype_hint=dtype or known) for x in value])
    return None
