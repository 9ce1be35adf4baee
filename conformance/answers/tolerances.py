"""Tolerances: every bound of the project is in this file, with the reason beside it.

    |got - expected| <= K * eps(dtype) * S        S = max |finite expected| of that tensor

S is never floored at 1, so a tensor of small gradients is held to its own size, and a tensor whose
expectation is all zero is exact. Integers, bools and strings are exact. A complex element is
compared by the modulus of its difference, with the eps of its component.

Sign of zero: an expected literal -0.0 demands the sign, an expected 0.0 accepts either, and
between two witnesses (oracle or record against target) the sign of zero is not compared.
Dtypes: exact. Denormals are out of contract (TensorFlow flushes them, numpy does not).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from conformance.answers.literals import Array, LiteralError, array_of, flatten, leaf_family
from conformance.answers.text import element_text
from conformance.answers.values import Slices, Structure, Tensor, Value
from conformance.corpus.language.case import (
    Expectation,
    ExpectedAnyOf,
    ExpectedSlices,
    ExpectedStructure,
    ExpectedTensor,
)
from conformance.corpus.language.literals import family

K_SHORT = 16.0
"""Single operations: correct gradients were measured within 5 eps S of the truth (METHODS 3.2)."""

K_LONG = 64.0
"""XLA reorders sums (17 eps S measured), and a chain of 12 operations reaches 13 eps S."""

SHORT_PROGRAM = 5
"""The largest number of operations that is held to K_SHORT."""

K_NARROW = 16.0
"""16-bit dtypes are never given more: 5 eps S was measured, and 64 eps(bfloat16) is a half."""

EPS = {
    "float16": 2.0**-10,
    "bfloat16": 2.0**-7,
    "float32": 2.0**-23,
    "float64": 2.0**-52,
    "complex64": 2.0**-23,
    "complex128": 2.0**-52,
}

LARGEST_FLOOR = {
    "float16": 2.0**-4,  # an element down to a quarter of the largest, at K = 16
    "bfloat16": 2.0**-2,  # an element down to half of the largest, at K = 16
    "float32": 1e-3,
    "float64": 1e-6,
    "complex64": 1e-3,
    "complex128": 1e-6,
}
"""The coarsest detection floor that a case may have on an element, unless it is `within`."""

PYTHON_NUMBER = {"float": "float32", "complex": "complex64"}
"""A Python float has no dtype; most are read from a float32 tensor, so it has that precision."""


@dataclass(frozen=True)
class Bounds:
    """How many eps of the largest expected element a correct answer may be off."""

    k: float = K_SHORT

    def k_of(self, dtype: str) -> float:
        """K for a dtype: the 16-bit ones are never given more than K_NARROW."""
        return min(self.k, K_NARROW) if dtype in ("float16", "bfloat16") else self.k


def bounds_for(mode: str, op_count: int, k: float | None = None) -> Bounds:
    """The bounds of a cell; `k` is what the catalogue publishes for the program's operations.

    K = k or 16; at least 64 under XLA and for a program of more than five operations.
    """
    base = K_SHORT if k is None else k
    is_long = mode == "xla" or op_count > SHORT_PROGRAM
    return Bounds(max(base, K_LONG) if is_long else base)


def bound_of(
    expected: Array, dtype: str, bounds: Bounds, within: str | float | None = None
) -> Array:
    """The largest admitted |got - expected| for each element, as float64.

    None: K eps S. "exact": 0. "element": K eps |element|. A relative error r: the smaller of K eps
    S and r |element|, so that it can only be tighter. Errors: LiteralError for another `within`.
    """
    size = magnitude(expected)
    if within == "exact" or family(dtype) not in ("float", "complex"):
        return np.zeros(size.shape)
    unit = bounds.k_of(dtype) * EPS[dtype]
    if within == "element":
        return np.asarray(unit * size)
    usual = np.full(size.shape, unit * scale_of(size))
    if within is None:
        return usual
    if isinstance(within, str) or not 0.0 <= within < 1.0:
        raise LiteralError(f"within is exact, element or a relative error, not {within!r}")
    return np.asarray(np.minimum(usual, within * size))


def magnitude(array: Array) -> Array:
    """|element| as float64; a part that is not finite counts as zero; never overflows to inf."""
    if array.dtype.kind not in "fc":
        return np.zeros(array.shape)
    parts = [array.real, array.imag] if array.dtype.kind == "c" else [array]
    finite = [np.where(np.isfinite(part), part, 0.0).astype(np.float64) for part in parts]
    with np.errstate(over="ignore"):
        size = np.abs(finite[0]) if len(finite) == 1 else np.hypot(*finite)
    return np.asarray(np.minimum(size, np.finfo(np.float64).max))


def scale_of(size: Array) -> float:
    """S: the largest of the magnitudes, 0.0 where there are none."""
    return float(size.max()) if size.size else 0.0


def floor_of(bound: float, size: float) -> float | None:
    """The detection floor: the smallest relative error of an element that is still caught.

    None for a zero element under a bound: there the absolute bound is what can be stated.
    """
    if bound == 0.0:
        return 0.0
    return None if size == 0.0 else bound / size


def bound_text(expected: Array, dtype: str, bounds: Bounds, within: str | float | None) -> str:
    """Where a bound comes from: `16 x eps(float32) x 1200.0, the largest expected`."""
    if within == "exact" or family(dtype) not in ("float", "complex"):
        return "exact"
    unit = f"{bounds.k_of(dtype):g} x eps({dtype})"
    if within == "element":
        return f"{unit} x |expected|"
    largest = scale_of(magnitude(expected))
    usual = f"{unit} x {largest:g}, the largest expected" if largest else "exact: all expected is 0"
    return usual if within is None else f"within {within:g} x |expected|, and {usual}"


# ----- is a case too coarse? -----


@dataclass(frozen=True)
class Coarse:
    """An element of an expectation whose smallest caught error is too large."""

    path: str
    index: tuple[int, ...]
    element: str
    floor: float
    allowed: float

    def __str__(self) -> str:
        where = f"{self.path} element {self.index}" if self.index else self.path or "the value"
        return (
            f"{where} ({self.element}): a relative error below {self.floor:.1e} would pass"
            f" (at most {self.allowed:.1e}); write within: element"
        )


def coarse_elements(
    expected: Expectation, bounds: Bounds, oracle: Value | None = None
) -> tuple[Coarse, ...]:
    """The coarsest element of each tensor of an expectation whose floor exceeds LARGEST_FLOOR.

    A literal without dtype takes the dtype of `oracle` at the same place, or float32 or complex64.
    Zero elements have no relative error and never count. Errors: LiteralError.
    """
    found = (_coarsest(*place, bounds) for place in _tensors(expected, oracle, ""))
    return tuple(coarse for coarse in found if coarse is not None)


def detection_floor(
    expected: Expectation, bounds: Bounds, oracle: Value | None = None
) -> float | None:
    """The smallest relative error that is caught on every non-zero element of an expectation.

    0.0 where every comparison is exact, None where no number is compared. Errors: as
    coarse_elements.
    """
    found = [
        float(floors.max())
        for tensor, told, _ in _tensors(expected, oracle, "")
        for floors in [_floors(tensor, told, bounds)[1]]
        if floors.size
    ]
    return max(found) if found else None


def child_of(told: Value | None, key: int | str) -> Value | None:
    """What a witness says at an item of a structure, or None where it says nothing there."""
    return told.at(key) if isinstance(told, Structure) else None


def _tensors(
    expected: Expectation, told: Value | None, path: str
) -> Iterator[tuple[ExpectedTensor, Value | None, str]]:
    if isinstance(expected, ExpectedTensor):
        yield expected, told, path
    elif isinstance(expected, ExpectedSlices):
        rows = told.values if isinstance(told, Slices) else None
        yield expected.values, rows, f"{path}.values"
    elif isinstance(expected, ExpectedAnyOf):
        for option in expected.options:
            yield from _tensors(option, told, path)
    elif isinstance(expected, ExpectedStructure):
        for position, item in enumerate(expected.items):
            key: int | str = expected.keys[position] if expected.keys else position
            yield from _tensors(item, child_of(told, key), f"{path}[{key!r}]")


def _coarsest(
    expected: ExpectedTensor, told: Value | None, path: str, bounds: Bounds
) -> Coarse | None:
    dtype = _dtype_due(expected, told)
    if dtype not in EPS or expected.within == "element":
        return None
    array, floors = _floors(expected, told, bounds)
    if not floors.size or floors.max() <= LARGEST_FLOOR[dtype]:
        return None
    index = tuple(int(i) for i in np.unravel_index(int(floors.argmax()), floors.shape))
    element = element_text(array[index])
    return Coarse(path, index, element, float(floors[index]), LARGEST_FLOOR[dtype])


def _floors(expected: ExpectedTensor, told: Value | None, bounds: Bounds) -> tuple[Array, Array]:
    """A literal as an array, and each element's floor: bound / |element|, 0 for zeros."""
    dtype = _dtype_due(expected, told)
    if dtype not in EPS:
        return np.zeros(()), np.zeros(())
    array = array_of(expected.value, dtype, expected.shape)
    size = magnitude(array)
    bound = bound_of(array, dtype, bounds, expected.within)
    with np.errstate(over="ignore"):
        floors = np.divide(bound, size, out=np.zeros(size.shape), where=size > 0)
    return array, np.asarray(floors)


def _dtype_due(expected: ExpectedTensor, told: Value | None) -> str:
    if expected.dtype:
        return expected.dtype
    if isinstance(told, Tensor) and not told.is_python:
        return told.dtype
    return PYTHON_NUMBER.get(leaf_family(flatten(expected.value)[0]), "")
