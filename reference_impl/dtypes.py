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

    def __eq__(self, other: object) -> bool:
        try:
            return self.name == as_dtype(other).name
        except TypeError:
            return False

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"tf.{self.name}"


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
    bool_, string, complex64, complex128,
)  # fmt: skip
_BY_NAME = {dtype.name: dtype for dtype in (*ALL, float8_e5m2)}
_BY_NUMPY = {dtype.numpy_dtype: dtype for dtype in (*ALL, float8_e5m2)}
_BY_PYTHON: dict[Any, DType] = {float: float32, int: int32, bool: bool_, str: string}


def of_array(array: np.ndarray[Any, Any]) -> DType:
    """Return the type of an array that a tensor holds."""
    return _BY_NUMPY[array.dtype]


def as_dtype(type_value: Any) -> DType:
    """Return the `DType` that a name, a NumPy type or a Python type stands for.

    **Errors**: anything else is a TypeError with TensorFlow's text.
    """
    if isinstance(type_value, DType):
        return type_value
    found = None
    if isinstance(type_value, str):
        found = _BY_NAME.get(type_value)
    elif isinstance(type_value, np.dtype):
        found = _BY_NUMPY.get(type_value)
    elif isinstance(type_value, type):
        is_numpy = issubclass(type_value, np.generic)
        found = _BY_NUMPY.get(np.dtype(type_value)) if is_numpy else _BY_PYTHON.get(type_value)
    if found is None:
        raise TypeError(
            f"Cannot convert the argument `type_value`: {type_value!r} to a TensorFlow DType."
        )
    return found
