"""Observations as a worker writes them, made independently of the code that reads them.

What compares and judges takes them by the same door as the real ones.
"""

import base64
import struct
from types import SimpleNamespace

import numpy as np

from conformance.answers import compare as comparing
from conformance.answers.wire import answer_of_line, value_of
from conformance.corpus.language.case import Case, Place

NONE = {"kind": "none"}
NOT_REACHED = {"kind": "not_reached"}
NOT_OBSERVED = {"kind": "not_observed"}
PLACE = Place("cases/area/topic.yaml", 1, 1, "$.cases.one")


def encoded(raw):
    return base64.b64encode(raw).decode("ascii")


def tensor(values, dtype="float32"):
    if dtype == "bfloat16":
        array = np.asarray(values, dtype=np.float32)
        raw = b"".join(struct.pack("<f", value)[2:] for value in array.ravel())  # truncated
    elif dtype == "string":
        array = np.asarray(values, dtype=object)
        data = [encoded(text.encode()) for text in array.ravel()]
        return {"kind": "tensor", "dtype": dtype, "shape": list(array.shape), "data": data}
    else:
        array = np.asarray(values, dtype=dtype)
        raw = array.astype(array.dtype.newbyteorder("<")).tobytes()
    shape = list(array.shape)
    return {"kind": "tensor", "dtype": dtype, "shape": shape, "data": encoded(raw), "text": "?"}


def numpy(values, dtype="float32"):
    return {**tensor(values, dtype), "kind": "array"}


def scalar(value):
    return {"kind": "scalar", "type": type(value).__name__, "value": repr(value)}


def listing(*items, kind="list"):
    return {"kind": kind, "items": list(items)}


def mapping(**items):
    return {"kind": "dict", "keys": list(items), "items": list(items.values())}


def slices(values, indices, dense_shape=None, dtype="float32"):
    return {
        "kind": "indexed_slices",
        "values": tensor(values, dtype),
        "indices": tensor(indices, "int32"),
        "dense_shape": NONE if dense_shape is None else tensor(dense_shape, "int32"),
    }


def error(kind="RuntimeError", message="it failed", step=None, bases=("Exception",)):
    return {
        "kind": "error",
        "type": kind,
        "bases": [kind, *bases],
        "message": message,
        "phase": "run",
        "step": step,
    }


def variable(name):
    return {"kind": "variable", "name": name}


def case(expect, **changes):
    fields = {
        "id": "area/topic/one",
        "title": "One fact",
        "sources": ("test",),
        "place": PLACE,
        "run": "g = t.gradient(y, x)",
        "run_line": 1,
        "expect": expect,
        **changes,
    }
    return Case(**fields)


def answered(error=None, warnings=(), **observations):
    line = {"outcome": "answered", "observations": observations, "warnings": list(warnings)}
    return answer_of_line(line if error is None else {**line, "error": error})


def program(the_case, operations=1, dependencies=None):
    """What the judge reads of a program, for a case whose text does not matter."""
    needed = dependencies or {}
    return SimpleNamespace(operations=operations, observed=the_case.observed, dependencies=needed)


def compare(expected, got, bounds, *, oracle=None, **given):
    told = None if oracle is None else value_of(oracle)
    return comparing.compare_value(expected, value_of(got), bounds, oracle=told, **given)


def expectation_of(observation, **given):
    return comparing.expectation_of(value_of(observation), **given)
