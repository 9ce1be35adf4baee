"""Values to observations: the one form on the wire and in records, exact for every dtype."""

import base64
import builtins
import os
import sys

import numpy as np

MAX_DEPTH = 20
MAX_VALUES = 100_000
MAX_BYTES = 32 * 1024 * 1024
TEXT_LENGTH = 80
_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_PREFIXES = {_OWN, sys.prefix, sys.base_prefix}
FOLDERS = sorted(_PREFIXES | set(map(os.path.realpath, _PREFIXES)), key=len, reverse=True)
"""Where this worker, its environment and its interpreter are."""


class TooMuch(Exception):
    """A value is larger than any case needs, or has no end."""


def observe(value):
    """The observation of any value that a program bound; see the host's answer.py for the form.

    A foreign value may raise whatever it likes while it is looked at: then it is `other`, as is
    one of more than MAX_VALUES parts or MAX_BYTES.
    """
    try:
        return _Look().observe(value)
    except TooMuch as fault:
        return {"kind": "other", "type": str(fault)}


class _Look:
    """One look at a value and its parts, bounded in depth, in parts and in bytes."""

    def __init__(self):
        self.depth = 0
        self.values = 0
        self.bytes = 0

    def observe(self, value):
        self.values += 1
        if self.values > MAX_VALUES:
            raise TooMuch(f"more than {MAX_VALUES:,} values")
        self.depth += 1
        try:
            return self._observe(value)
        except TooMuch:
            raise
        except BaseException:
            return {"kind": "other", "type": type(value).__name__}
        finally:
            self.depth -= 1

    def _observe(self, value):
        """The observation of a value that behaves.

        Classes are told by name and attributes, so that any implementation of TensorFlow's shape
        can be observed.
        """
        if value is None:
            return {"kind": "none"}
        if isinstance(value, (bool, int, float, complex, str)):
            return {"kind": "scalar", "type": type(value).__name__, "value": repr(value)}
        if isinstance(value, BaseException):
            return observe_error(value, "run", None)
        if isinstance(value, (np.ndarray, np.generic)):
            return self._array(np.asarray(value), np.asarray(value).dtype.name)
        if self.depth > MAX_DEPTH:
            return {"kind": "other", "type": "a structure nested too deeply"}
        if isinstance(value, (list, tuple)):
            kind = "tuple" if isinstance(value, tuple) else "list"
            return {"kind": kind, "items": self._all(value)}
        if isinstance(value, dict):
            items = self._all(value.values())
            return {"kind": "dict", "keys": [str(key) for key in value], "items": items}
        return self._framework_value(value)

    def _all(self, values):
        return [self.observe(value) for value in values]

    def _framework_value(self, value):
        classes = {cls.__name__ for cls in type(value).__mro__}
        if "IndexedSlices" in classes or "IndexedSlicesValue" in classes:
            return self._fields("indexed_slices", value, ("values", "indices", "dense_shape"))
        if "SparseTensor" in classes:
            return self._fields("sparse", value, ("indices", "values", "dense_shape"))
        if "RaggedTensor" in classes:
            splits = self._all(value.nested_row_splits)
            return {"kind": "ragged", "values": self.observe(value.flat_values), "splits": splits}
        if hasattr(value, "assign") and hasattr(value, "trainable"):
            return {"kind": "variable", "name": str(value.name).split(":")[0]}
        if classes & {"DType", "dtype"}:
            return {"kind": "scalar", "type": "dtype", "value": str(value.name)}
        if "TensorShape" in classes:
            return self.observe(tuple(value.as_list()))
        if hasattr(value, "numpy"):
            return self._tensor(value)
        return {"kind": "other", "type": type(value).__name__}

    def _fields(self, kind, value, names):
        found = {name: self.observe(getattr(value, name)) for name in names}
        return dict(found, kind=kind)

    def _tensor(self, value):
        try:
            array = np.asarray(value.numpy())
        except Exception as error:  # a symbolic tensor outside its graph has no value
            return {"kind": "not_observed", "raised": type(error).__name__}
        return self._array(array, str(getattr(value.dtype, "name", array.dtype.name)))

    def _array(self, array, dtype):
        self.bytes += array.nbytes
        if self.bytes > MAX_BYTES:
            raise TooMuch(f"more than {MAX_BYTES:,} bytes")
        return observe_array(array, dtype)


def observe_array(array, dtype):
    """The observation of a NumPy array whose framework calls its dtype `dtype`."""
    if array.dtype.kind in "OSU":
        return _observe_strings(array)
    if array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("<"))
    data = base64.b64encode(array.tobytes()).decode("ascii")
    text = _short(array)
    return {
        "kind": "tensor",
        "dtype": dtype,
        "shape": list(array.shape),
        "data": data,
        "text": text,
    }


def _observe_strings(array):
    raw = [_bytes_of(item) for item in array.ravel().tolist()]
    return {
        "kind": "tensor",
        "dtype": "string",
        "shape": list(array.shape),
        "data": [base64.b64encode(item).decode("ascii") for item in raw],
        "text": str(raw)[:TEXT_LENGTH],
    }


def _bytes_of(item):
    if isinstance(item, str):
        return item.encode("utf-8", "surrogateescape")
    if not isinstance(item, bytes):
        raise TypeError("an array of objects that are no strings")
    return item


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
        "type": type(error).__name__,
        "bases": bases,
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
    """A text without the folders of this machine: what was answered does not depend on them."""
    for folder in FOLDERS:
        text = text.replace(folder + os.sep, "")
    return text


def _message(error):
    try:
        return str(error)
    except Exception as failure:  # a foreign exception's own __str__ may raise
        return f"(its message cannot be read: {type(failure).__name__})"
