"""What is due: the array that a literal stands for, and whether the target's dtype is right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from conformance.answers.literals import Array, LiteralError, array_of, flatten, leaf_family
from conformance.answers.tolerances import PYTHON_NUMBER
from conformance.answers.values import Tensor, Value
from conformance.corpus.language.case import ExpectedTensor
from conformance.corpus.language.literals import PYTHON_TYPES, family

DEFAULT_DTYPES = {
    "bool": frozenset(["bool"]),
    "integer": frozenset(["int32", "int64", "float32"]),
    "float": frozenset(["float32"]),
    "complex": frozenset(["complex64", "complex128"]),
    "string": frozenset(["string"]),
}
"""What TensorFlow makes of a literal that nobody gave a dtype.

Counts and indices are int32 or int64, a gradient such as `[2, 6]` is written in integers too, and
tf.complex of float32 parts is complex64 where a literal is complex128.
"""


@dataclass(frozen=True, eq=False)
class Due:
    """An expected array, the dtype that bounds it, and whether the target's dtype is right.

    `text` is the dtype that a person is told, `note` where it comes from.
    """

    array: Array
    dtype: str
    holds: bool
    text: str
    note: str = ""


def due_for(
    expected: ExpectedTensor,
    got: Tensor,
    told: Value | None,
    dtypes: frozenset[str] | None,
    exact: bool = False,
) -> Due:
    """The array that is due where `got` was answered and the oracle says `told`.

    0. A departure's `Python float` is a Python float and nothing else; so for the other types.
    1. A declared dtype is exact: a Python number, which has none, is not of that dtype; a Python
       bool or str is, because there is only one dtype that it can be, unless it is `exact`.
    2. The oracle's dtype is exact for a tensor; a Python scalar is then compared by value.
    3. With neither, the target's dtype must be of the literal's family and, unless `dtypes` is
       None, be one of `dtypes` or TensorFlow's own choice. A Python scalar is compared by value.

    Errors: LiteralError where a declared dtype or the oracle's cannot hold the literal.
    """
    said = told.dtype if isinstance(told, Tensor) and not told.is_python else None
    dtype = expected.dtype or said
    if dtype is None:
        return _due_without_dtype(expected, got, dtypes)
    if dtype in PYTHON_TYPES:
        return _due_python(expected, dtype, got)
    array = array_of(expected.value, dtype, expected.shape)
    if expected.dtype:
        is_only = got.is_python and dtype in ("bool", "string") and got.family == dtype
        return Due(array, dtype, (is_only and not exact) or got.dtype == dtype, dtype)
    if not got.is_python:
        return Due(array, dtype, got.dtype == dtype, dtype, "the dtype is the oracle's")
    return Due(array, dtype, _rank(got.family) == _rank(family(dtype)), dtype)


def _due_python(expected: ExpectedTensor, declared: str, got: Tensor) -> Due:
    """A Python scalar is due: its type is exact, and a float has the precision of a float32."""
    dtype = PYTHON_TYPES[declared]
    if dtype == "int64" and isinstance(expected.value, int) and expected.value > 2**63 - 1:
        dtype = "uint64"
    array = array_of(expected.value, dtype, expected.shape)
    precision = PYTHON_NUMBER.get(family(dtype), dtype)
    return Due(array, precision, got.dtype == declared, declared)


def _due_without_dtype(expected: ExpectedTensor, got: Tensor, dtypes: frozenset[str] | None) -> Due:
    leaves, _ = flatten(expected.value)
    literal = leaf_family(leaves)
    nothing_due = Due(np.zeros(()), "float32", False, f"a {literal} literal")
    if leaves and _rank(literal) != _rank(got.family):
        return nothing_due
    if dtypes is not None and not got.is_python:
        allowed = dtypes | (DEFAULT_DTYPES[literal] if leaves else {got.dtype})
        if got.dtype not in allowed:
            note = f"a literal without dtype is {' or '.join(sorted(DEFAULT_DTYPES[literal]))} here"
            return Due(nothing_due.array, "float32", False, nothing_due.text, note)
    dtype = _scalar_dtype(literal, got) if got.is_python else got.dtype
    try:
        array = array_of(expected.value, dtype, expected.shape)
    except LiteralError as error:
        return Due(nothing_due.array, "float32", False, nothing_due.text, str(error))
    precision = dtype if not got.is_python else PYTHON_NUMBER.get(family(dtype), dtype)
    return Due(array, precision, True, dtype)


def _rank(name: str) -> str:
    return name if name in ("bool", "string") else "number"


def _scalar_dtype(literal: str, got: Tensor) -> str:
    """A dtype that holds both a literal and a Python scalar without loss of either."""
    families = {literal, got.family}
    for name, dtype in (("complex", "complex128"), ("float", "float64"), ("string", "string")):
        if name in families:
            return dtype
    return "bool" if families == {"bool"} else "uint64" if got.array > 2**63 - 1 else "int64"
