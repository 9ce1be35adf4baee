"""Values to observations: the one form on the wire and in records, exact for every dtype."""

import base64
import builtins

import numpy as np

MAX_DEPTH = 20
TEXT_LENGTH = 80


def observe(value, depth=0):
    """The observation of any value that a program bound; see the host's answer.py for the form.

    A foreign value may raise whatever it likes while it is looked at: then it is `other`.
    """
    try:
        return _observe(value, depth)
    except Exception:
        return {"kind": "other", "type": type(value).__name__}


def _observe(value, depth):
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
        return observe_array(np.asarray(value), np.asarray(value).dtype.name)
    if depth > MAX_DEPTH:
        return {"kind": "other", "type": "a structure nested too deeply"}
    if isinstance(value, (list, tuple)):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {"kind": kind, "items": [observe(item, depth + 1) for item in value]}
    if isinstance(value, dict):
        items = [observe(item, depth + 1) for item in value.values()]
        return {"kind": "dict", "keys": [str(key) for key in value], "items": items}
    return _observe_framework_value(value, depth)


def _observe_framework_value(value, depth):
    classes = {cls.__name__ for cls in type(value).__mro__}
    if "IndexedSlices" in classes or "IndexedSlicesValue" in classes:
        return _fields("indexed_slices", value, ("values", "indices", "dense_shape"), depth)
    if "SparseTensor" in classes:
        return _fields("sparse", value, ("indices", "values", "dense_shape"), depth)
    if "RaggedTensor" in classes:
        splits = [observe(part, depth + 1) for part in value.nested_row_splits]
        return {
            "kind": "ragged",
            "values": observe(value.flat_values, depth + 1),
            "splits": splits,
        }
    if hasattr(value, "assign") and hasattr(value, "trainable"):
        return {"kind": "variable", "name": str(value.name).split(":")[0]}
    if classes & {"DType", "dtype"}:
        return {"kind": "scalar", "type": "dtype", "value": str(value.name)}
    if "TensorShape" in classes:
        return observe(tuple(value.as_list()), depth + 1)
    if hasattr(value, "numpy"):
        return _observe_tensor(value)
    return {"kind": "other", "type": type(value).__name__}


def _fields(kind, value, names, depth):
    found = {name: observe(getattr(value, name), depth + 1) for name in names}
    return dict(found, kind=kind)


def _observe_tensor(value):
    try:
        array = np.asarray(value.numpy())
    except Exception:  # a symbolic tensor outside its graph has no value
        return {"kind": "not_observed"}
    return observe_array(array, str(getattr(value.dtype, "name", array.dtype.name)))


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
    raw = [
        item.encode("utf-8", "surrogateescape") if isinstance(item, str) else bytes(item)
        for item in array.ravel().tolist()
    ]
    return {
        "kind": "tensor",
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
        "type": type(error).__name__,
        "bases": bases,
        "message": _message(error)[:4000],
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


def _message(error):
    try:
        return str(error)
    except Exception as failure:  # a foreign exception's own __str__ may raise
        return f"(its message cannot be read: {type(failure).__name__})"
