"""The element types: a name, a NumPy type, and what TensorFlow calls differentiable."""

from __future__ import annotations

from typing import Any

import numpy as np

DIFFERENTIABLE_KINDS = "fc"
"""NumPy kinds (floating, complex) through which a cotangent can pass; all others cut the path."""


class DType:
    """One element type, as `tf.float32`; compares equal to anything `as_dtype` understands."""

    __slots__ = ("as_numpy_dtype", "long_name", "name", "numpy_dtype")

    def __init__(self, name: str, numpy_type: Any, long_name: str | None = None) -> None:
        self.name = name
        self.as_numpy_dtype = numpy_type
        self.numpy_dtype: np.dtype[Any] = np.dtype(numpy_type)
        self.long_name = long_name or name

    @property
    def is_floating(self) -> bool:
        """True for real floating types."""
        return self.numpy_dtype.kind == "f"

    @property
    def is_complex(self) -> bool:
        """True for complex64 and complex128."""
        return self.numpy_dtype.kind == "c"

    @property
    def is_integer(self) -> bool:
        """True for signed and unsigned integers, not for bool."""
        return self.numpy_dtype.kind in "iu"

    @property
    def is_bool(self) -> bool:
        """True for bool."""
        return self.numpy_dtype.kind == "b"

    @property
    def base_dtype(self) -> DType:
        """The type itself: the oracle has no reference types."""
        return self

    @property
    def real_dtype(self) -> DType:
        """The type of the real part: float32 for complex64, else the type itself."""
        return {"complex64": float32, "complex128": float64}.get(self.name, self)

    @property
    def size(self) -> int:
        """Bytes per element."""
        return self.numpy_dtype.itemsize

    @property
    def min(self) -> Any:
        """The smallest finite value."""
        return (
            np.finfo(self.numpy_dtype).min if self.is_floating else np.iinfo(self.numpy_dtype).min
        )

    @property
    def max(self) -> Any:
        """The greatest finite value."""
        return (
            np.finfo(self.numpy_dtype).max if self.is_floating else np.iinfo(self.numpy_dtype).max
        )

    def __eq__(self, other: object) -> bool:
        if isinstance(other, DType):
            return self.name == other.name
        try:
            return self.name == as_dtype(other).name
        except TypeError:
            return False

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __str__(self) -> str:
        return f"<dtype: {self.name!r}>"


float16 = DType("float16", np.float16, "half")
float32 = DType("float32", np.float32, "float")
float64 = DType("float64", np.float64, "double")
int8 = DType("int8", np.int8)
int16 = DType("int16", np.int16)
int32 = DType("int32", np.int32)
int64 = DType("int64", np.int64)
uint8 = DType("uint8", np.uint8)
uint16 = DType("uint16", np.uint16)
uint32 = DType("uint32", np.uint32)
uint64 = DType("uint64", np.uint64)
bool_ = DType("bool", np.bool_)
string = DType("string", np.object_)
complex64 = DType("complex64", np.complex64)
complex128 = DType("complex128", np.complex128)
float8_e5m2 = DType("float8_e5m2", [("bits", np.uint8)])  # NumPy has none: opaque bytes

ALL = (
    float16, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
    bool_, string, complex64, complex128, float8_e5m2,
)  # fmt: skip
_BY_NAME = {dtype.name: dtype for dtype in ALL} | {dtype.long_name: dtype for dtype in ALL}
_BY_NUMPY = {dtype.numpy_dtype: dtype for dtype in ALL}
_BY_PYTHON: dict[Any, DType] = {float: float32, int: int32, bool: bool_, str: string, bytes: string}


def of_array(array: np.ndarray[Any, Any]) -> DType:
    """Return the type of an array that a tensor holds."""
    return _BY_NUMPY[array.dtype]


def as_dtype(type_value: Any) -> DType:
    """Return the `DType` that a name, a NumPy type or a Python type stands for.

    **Errors**: anything else is a TypeError with TensorFlow's text.
    """
    if isinstance(type_value, DType):
        return type_value
    if isinstance(type_value, str) and type_value in _BY_NAME:
        return _BY_NAME[type_value]
    if isinstance(type_value, type) and type_value in _BY_PYTHON:
        return _BY_PYTHON[type_value]
    if isinstance(type_value, np.dtype) or (
        isinstance(type_value, type) and issubclass(type_value, np.generic)
    ):
        found = _BY_NUMPY.get(np.dtype(type_value))
        if found is not None:
            return found
    raise TypeError(
        f"Cannot convert the argument `type_value`: {type_value!r} to a TensorFlow DType."
    )
