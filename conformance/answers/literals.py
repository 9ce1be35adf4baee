"""Literals: what YAML says of a tensor, as a NumPy array of its dtype, and back."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from conformance.corpus.language.case import Nested, Scalar
from conformance.corpus.language.literals import DTYPES, WIRE, Family, family, leaves, shape_of
from conformance.text import clean

Array = npt.NDArray[Any]

MAX_ELEMENTS = 2**26
HOLDS: Mapping[Family, tuple[Family, ...]] = {
    "bool": ("bool",),
    "integer": ("integer", "float"),
    "float": ("integer", "float"),
    "complex": ("integer", "float", "complex"),
    "string": ("string",),
}
"""The families of literals that a dtype of a family may be given."""


class LiteralError(ValueError):
    """A literal that its dtype or shape cannot hold; the message is one line. The case's fault."""


def array_of(value: Nested, dtype: str, shape: tuple[int, ...] | None = None) -> Array:
    """A literal as an array of `dtype`, rounded to it (bfloat16 held as float32).

    Edges: a single number with a shape fills it; `()` with a shape of no elements is that shape;
    an integral float is an integer. Errors: LiteralError for a ragged literal, a finite number
    that the dtype cannot hold, a fraction in an integer dtype, a bool among numbers.
    """
    leaves, own_shape = flatten(value)
    _check_leaves(leaves, dtype)
    if shape is not None and own_shape != shape:
        leaves = _refit(leaves, own_shape, shape)
    array: Array
    if dtype == "string":
        array = np.empty(len(leaves), dtype=object)
        array[:] = leaves
    elif family(dtype) == "integer":
        array = _integers(leaves, dtype)
    elif dtype == "bool":
        array = np.array(leaves, dtype=np.bool_)
    else:
        array = _rounded(leaves, dtype)
    return array.reshape(own_shape if shape is None else shape)


def literal_of(array: Array) -> Nested:
    """An array as nested tuples of Python numbers, `()` if it is empty; undone by array_of."""
    return _tuples(array.tolist()) if array.size else ()


def flatten(value: Nested) -> tuple[list[Scalar], tuple[int, ...]]:
    """The leaves of a literal in C order, and its shape. Errors: LiteralError if it is ragged."""
    shape = shape_of(value)
    if shape is None:
        raise LiteralError("the rows of the literal differ in length")
    return leaves(value), shape


def leaf_family(elements: Sequence[Scalar]) -> Family:
    """The widest family among the leaves of a literal: bool, integer, float, complex or string.

    Errors: LiteralError where bools, strings and numbers are mixed. No leaves: float.
    """
    types = {type(leaf) for leaf in elements}
    single: Family | None = "bool" if bool in types else "string" if str in types else None
    if single and len(types) > 1:
        raise LiteralError(f"a {single} among other values")
    if single:
        return single
    return "complex" if complex in types else "integer" if types == {int} else "float"


def _check_leaves(leaves: Sequence[Scalar], dtype: str) -> None:
    if dtype not in DTYPES:
        raise LiteralError(f"unknown dtype {clean(repr(dtype), 60)}")
    found = leaf_family(leaves)
    if leaves and found not in HOLDS[family(dtype)]:
        raise LiteralError(f"a {found} literal cannot be {dtype}")


def _refit(
    leaves: list[Scalar], own_shape: tuple[int, ...], shape: tuple[int, ...]
) -> list[Scalar]:
    size = math.prod(shape)
    if own_shape == () and size <= MAX_ELEMENTS:
        return leaves * size
    if not leaves and not size:
        return leaves
    raise LiteralError(f"the literal has shape {own_shape}, declared is {shape}")


def _integers(leaves: Sequence[Scalar], dtype: str) -> Array:
    bounds = np.iinfo(WIRE[dtype])
    numbers = cast("Sequence[float]", leaves)
    for leaf in numbers:
        if isinstance(leaf, float) and not leaf.is_integer():
            raise LiteralError(f"{leaf} is no {dtype}")
        if not bounds.min <= leaf <= bounds.max:
            raise LiteralError(f"{int(leaf)} is beyond {dtype}")
    return np.array([int(leaf) for leaf in numbers], dtype=WIRE[dtype])


def _rounded(leaves: Sequence[Scalar], dtype: str) -> Array:
    try:
        exact = np.array(leaves, dtype="<c16" if family(dtype) == "complex" else "<f8")
    except OverflowError as error:
        raise LiteralError(f"a number of the literal is beyond {dtype}") from error
    with np.errstate(all="ignore"):
        if dtype == "bfloat16":
            rounded = widened(bfloat16_bits(exact.astype(np.float32)))
        else:
            rounded = exact.astype(WIRE[dtype])
    finite = np.isfinite(rounded)
    if not finite.all() and np.isfinite(exact[~finite]).any():
        raise LiteralError(f"a number of the literal is beyond {dtype}")
    return rounded


def bfloat16_bits(array: Array) -> Array:
    """The 16 bits of each float32 rounded to bfloat16, ties to even; nan stays nan."""
    bits = np.ascontiguousarray(array).view(np.uint32)
    half = np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    with np.errstate(over="ignore"):  # a nan whose bits are all ones
        rounded = np.where(np.isnan(array), bits, bits + half)
    return np.asarray((rounded >> np.uint32(16)).astype("<u2"))


def widened(bits: Array) -> Array:
    """The float32 values of bfloat16 bits, without loss."""
    return np.left_shift(bits.astype(np.uint32), np.uint32(16)).view(np.float32)


def _tuples(value: Any) -> Nested:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value
