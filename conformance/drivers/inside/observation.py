"""Values to observations: the one form on the wire and in records, exact for every dtype."""

import base64
import builtins
import os
import re
import sys

import numpy as np

MAX_DEPTH = 20
MAX_VALUES = 20_000
MAX_BYTES = 4 * 1024 * 1024
"""Of all values of a cell; the host reads no longer reply than these make."""
MAX_TEXT = 100_000
TEXT_LENGTH = 80
CARRIED = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
)
"""The dtypes whose elements cross the wire as they lie in memory."""
PYTHON_NUMBERS = (bool, int, float, complex, str)
_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_PREFIXES = {_OWN, sys.prefix, sys.base_prefix}
FOLDERS = sorted(_PREFIXES | set(map(os.path.realpath, _PREFIXES)), key=len, reverse=True)
"""Where this worker, its environment and its interpreter are."""
OWN_FRAME = re.compile(r' *File "(?:inside/|<frozen )[^"\n]*", line \d+[^\n]*\n(?: {4}[^\n]*\n)?')
"""A frame of this worker: there are more of them where it forks."""


class TooMuch(Exception):
    """A value is larger than any case needs, or has no end."""


class Observer:
    """Observes the values of one cell, bounded in depth, parts and bytes.

    A foreign value may raise whatever it likes while it is looked at. What the wire cannot carry,
    or is more than MAX_VALUES parts or MAX_BYTES, is `other`, with its class and why. The tensors
    of a target may be NumPy arrays: then those are observed as tensors (`numpy_tensors`).
    """

    def __init__(self, numpy_tensors=False):
        self.numpy_kind = "tensor" if numpy_tensors else "array"
        self.depth = 0
        self.values = 0
        self.bytes = 0

    def observe(self, value):
        """The observation of one value."""
        try:
            return self._part(value)
        except TooMuch as fault:
            return _other(str(fault))

    def _part(self, value):
        self._spend(values=1)
        self.depth += 1
        try:
            return self._observe(value)
        except TooMuch:
            raise
        except BaseException:
            return _other(type(value).__name__)
        finally:
            self.depth -= 1

    def _spend(self, values=0, size=0):
        self.values += values
        self.bytes += size
        if self.values > MAX_VALUES:
            raise TooMuch(f"more than {MAX_VALUES:,} values")
        if self.bytes > MAX_BYTES:
            raise TooMuch(f"more than {MAX_BYTES:,} bytes")

    def _observe(self, value):
        """The observation of a value that behaves.

        Classes are told by name and attributes, so that any implementation of TensorFlow's shape
        can be observed.
        """
        if value is None:
            return {"kind": "none"}
        if isinstance(value, (np.ndarray, np.generic)):  # np.float64 is a float of Python too
            array = np.asarray(value)
            return self._array(array, array.dtype.name, value, self.numpy_kind)
        if isinstance(value, PYTHON_NUMBERS):
            return self._python_number(value)
        if isinstance(value, BaseException):
            return observe_error(value, "run", None)
        if self.depth > MAX_DEPTH:
            return _other("a structure nested too deeply")
        if isinstance(value, (list, tuple)):
            kind = "tuple" if isinstance(value, tuple) else "list"
            return {"kind": kind, "items": self._all(value)}
        if isinstance(value, dict):
            return self._dict(value)
        return self._framework_value(value)

    def _all(self, values):
        return [self._part(value) for value in values]

    def _python_number(self, value):
        """A number or text of Python; one of a subclass is what its base would be."""
        base = next(base for base in PYTHON_NUMBERS if isinstance(value, base))
        if base is int and not -(2**63) <= int.__index__(value) < 2**64:
            return _other(f"an int of {int.bit_length(value)} bits")
        self._spend(size=len(value) if base is str else 0)
        return {"kind": "scalar", "type": base.__name__, "value": base.__repr__(value)}

    def _dict(self, value):
        keys = [str(key) for key in value]
        if len(set(keys)) < len(keys):
            return _other("a dict with two keys of the same text")
        self._spend(size=sum(map(len, keys)))
        return {"kind": "dict", "keys": keys, "items": self._all(value.values())}

    def _framework_value(self, value):
        classes = {cls.__name__ for cls in type(value).__mro__}
        if "IndexedSlices" in classes or "IndexedSlicesValue" in classes:
            return self._fields("indexed_slices", value, ("values", "indices", "dense_shape"))
        if "SparseTensor" in classes:
            return self._fields("sparse", value, ("indices", "values", "dense_shape"))
        if "RaggedTensor" in classes:
            values, *splits = self._all([value.flat_values, *value.nested_row_splits])
            return _composed("ragged", value, {"values": values}, splits=splits)
        if hasattr(value, "assign") and hasattr(value, "trainable"):
            return {"kind": "variable", "name": str(value.name).split(":")[0][:MAX_TEXT]}
        if classes & {"DType", "dtype"}:
            return {"kind": "scalar", "type": "dtype", "value": str(value.name)[:MAX_TEXT]}
        if "TensorShape" in classes:
            return self._part(tuple(value.as_list()))
        if hasattr(value, "numpy"):
            return self._tensor(value)
        return _other(type(value).__name__)

    def _fields(self, kind, value, names):
        return _composed(kind, value, {name: self._part(getattr(value, name)) for name in names})

    def _tensor(self, value):
        try:
            array = np.asarray(value.numpy())
        except Exception as error:  # a symbolic tensor outside its graph has no value
            return {"kind": "not_observed", "raised": type(error).__name__}
        dtype = str(getattr(value.dtype, "name", array.dtype.name))
        return self._array(array, dtype, value, "tensor")

    def _array(self, array, dtype, value, kind):
        """The observation of an array whose framework calls its dtype `dtype`."""
        owner = type(value).__name__
        self._spend(size=max([array.nbytes, *array.shape]))
        if array.dtype.kind in "OSU":
            return _observe_strings(array, owner, kind)
        held = array.dtype.name
        if dtype not in CARRIED:
            return _other(f"{owner} of {dtype}")
        if held != dtype and (dtype != "bfloat16" or array.dtype.itemsize != 2):
            return _other(f"{owner} of {dtype} that holds {held}")
        return observe_array(array, dtype, kind)


def _other(what):
    return {"kind": "other", "type": what[: 2 * TEXT_LENGTH]}


def _composed(kind, value, parts, **more):
    """A value that is made of tensors; `other` where one of its parts is none."""
    for name, part in parts.items():
        if part["kind"] == "not_observed":
            return part
        if name == "dense_shape" and kind == "indexed_slices":
            fits = part["kind"] == "none" or _is_shape(part)
        else:
            fits = part["kind"] in ("tensor", "array", "scalar")
        if not fits:
            return _other(f"{type(value).__name__} without {name} that the wire can carry")
    return dict(parts, kind=kind, **more)


def _is_shape(part):
    if part["kind"] in ("tensor", "array"):
        return "int" in part["dtype"] and len(part["shape"]) < 2
    sizes = part.get("items", [None])
    return all(size and size["kind"] == "scalar" and size["type"] == "int" for size in sizes)


def observe_array(array, dtype, kind="tensor"):
    """The observation of a NumPy array whose framework calls its dtype `dtype`."""
    if array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("<"))
    if array.dtype.kind == "b":
        array = array.view(np.uint8) != 0  # NumPy takes any byte for a bool
    data = base64.b64encode(array.tobytes()).decode("ascii")
    return {
        "kind": kind,
        "dtype": dtype,
        "shape": list(array.shape),
        "data": data,
        "text": _short(array),
    }


def _observe_strings(array, owner, kind):
    items = array.ravel().tolist()
    if not all(isinstance(item, (str, bytes)) for item in items):
        return _other(f"{owner} of objects")
    raw = [x.encode("utf-8", "surrogateescape") if isinstance(x, str) else x for x in items]
    return {
        "kind": kind,
        "dtype": "string",
        "shape": list(array.shape),
        "data": [base64.b64encode(item).decode("ascii") for item in raw],
        "text": str(raw)[:TEXT_LENGTH],
    }


def _short(array):
    if array.size > 16:
        head = ", ".join(str(item) for item in array.ravel()[:6].tolist())
        return f"[{head}, ...]"
    return str(array.tolist())[: 4 * TEXT_LENGTH]


def observe_error(error, phase, line):
    """The observation of an exception; the framework's own one where AutoGraph wrapped it."""
    error = unwrapped(error)
    bases = [cls.__name__ for cls in type(error).__mro__ if cls is not builtins.object]
    return {
        "kind": "error",
        "type": type(error).__name__[:TEXT_LENGTH],
        "bases": [name[:TEXT_LENGTH] for name in bases[:TEXT_LENGTH]],
        "message": placeless(_message(error))[:4000],
        "phase": phase,
        "line": line,
    }


def unwrapped(error):
    """The exception that AutoGraph found, where it raised another in its place.

    Both carry AutoGraph's metadata; the one that it made tells of the user's code.
    """
    for _ in range(MAX_DEPTH):
        made = hasattr(error, "ag_error_metadata") and "in user code:" in _message(error)
        if not made or error.__context__ is None:
            break
        error = error.__context__
    return error


def placeless(text):
    """A text without the folders of this machine and the frames of this worker."""
    for folder in FOLDERS:
        text = text.replace(folder + os.sep, "")
    return OWN_FRAME.sub("", text)


def _message(error):
    try:
        return str(error)
    except Exception as failure:  # a foreign exception's own __str__ may raise
        return f"(its message cannot be read: {type(failure).__name__})"
