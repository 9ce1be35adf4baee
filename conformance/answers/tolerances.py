"""Tolerances: every bound of the project is in this file, with the reason beside it.

    |got - expected| <= K * eps(dtype) * S        S = max |finite expected| of that tensor

S is never floored at 1, so a tensor of small gradients is held to its own size. An expected zero is
exact. Integers, bools and strings are exact. The real and the imaginary parts of a complex tensor
are compared like two tensors, each with an S of its own and the eps of its component: an error in
one part cannot hide behind the size of the other.

A case may say that elements come of cancellation, and how large the terms are that cancel. A right
answer is then off by the rounding of the terms: S is at least their size, and a zero has the bound
of every other element. That is also for a part of a complex number which cancels while the other
does not: complex arithmetic rounds relative to the modulus, which is the size of the terms.

Sign of zero: an expected literal -0.0 demands the sign, an expected 0.0 accepts either, and
between two witnesses (oracle or record against target) the sign of zero is not compared.
Dtypes: exact. Denormals are out of contract (TensorFlow flushes them, numpy does not).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from conformance.answers.answer import Derivative, Slices, Tensor, Value, item_of
from conformance.answers.literals import Array, LiteralError, array_of, flatten, leaf_family
from conformance.answers.text import element_text
from conformance.corpus.language.case import (
    Cancellation,
    Expectation,
    ExpectedAnyOf,
    ExpectedSlices,
    ExpectedStructure,
    ExpectedTensor,
)
from conformance.corpus.language.literals import EPS, NARROW, family

K_SHORT = 16.0
"""Single operations: correct gradients were measured within 5 eps S of the truth (METHODS 3.2)."""

K_LONG = 64.0
"""XLA reorders sums (17 eps S measured), and a chain of 12 operations reaches 13 eps S."""

SHORT_PROGRAM = 5
"""The largest number of operations that is held to K_SHORT."""

K_NARROW = 16.0
"""16-bit dtypes are never given more: 5 eps S was measured, and 64 eps(bfloat16) is a half."""

LARGEST_FLOOR = {
    "float16": 0.02,  # 16 eps is 1.6 %
    "bfloat16": 0.02,  # 16 eps is 13 %: a case has a representable answer, and says `exact`
    "float32": 1e-3,
    "float64": 1e-6,
    "complex64": 1e-3,
    "complex128": 1e-6,
}
"""The coarsest detection floor that a case may have on an element."""

DERIVATIVE_SHARE = {
    ("float64", 1): 1e-8,
    ("float64", 2): 1e-7,
    ("float32", 1): 3e-4,
    ("float32", 2): 3e-4,
}
"""What a gradient may be off its derivative, of the largest element, by the dtype in which that was
estimated and its order: OPERATIONS.md found 2.4e-11, 9e-10, 3.2e-5 and 2.8e-5 at worst, and 8e-2 by
the rules that are wrong. Twice the steps that do not agree to this have met a kink."""

DERIVATIVE_32 = 1e-5
"""The same for a gradient in float32: 7e-7 was found at worst."""

DERIVATIVE_K = 4.0
"""The same in eps for a gradient of 16 bits, whose inputs are rounded before they are displaced."""

PYTHON_NUMBER = {"float": "float32", "complex": "complex64"}
"""A Python float has no dtype; most are read from a float32 tensor, so it has that precision."""


@dataclass(frozen=True)
class Bounds:
    """How many eps of the largest expected element a correct answer may be off."""

    k: float = K_SHORT

    def k_of(self, dtype: str) -> float:
        """K for a dtype: the 16-bit ones are never given more than K_NARROW."""
        return min(self.k, K_NARROW) if dtype in NARROW else self.k


def bounds_for(mode: str, op_count: int) -> Bounds:
    """The bounds of a cell: K is 64 under XLA and for a program of more than five operations."""
    return Bounds(K_LONG if mode == "xla" or op_count > SHORT_PROGRAM else K_SHORT)


def bound_of(
    expected: Array,
    dtype: str,
    bounds: Bounds,
    within: str | float | None = None,
    cancels: Cancellation | None = None,
) -> tuple[Array, str]:
    """The largest admitted |got - expected| for each part, and where it comes from.

    None: K eps S, and 0 for a zero that does not come of cancellation. "exact": 0. "element":
    K eps |part|. A relative error r: the smaller of K eps S and r |part|, so that it can only be
    tighter. Errors: LiteralError for another `within`.
    """
    size = magnitudes(expected)
    if within == "exact" or family(dtype) not in ("float", "complex"):
        return np.zeros(size.shape), "exact"
    k = bounds.k_of(dtype)
    unit, text = k * EPS[dtype], f"{k:g} x eps({dtype})"
    if within == "element":
        return unit * size, f"{text} x |expected|"
    terms, elements = cancels.terms if cancels else 0.0, tuple(range(1, size.ndim))
    largest = size.max(axis=elements, initial=terms, keepdims=True)
    bound = np.where((size == 0.0) & (cancels is None), 0.0, unit * largest)
    text = f"{text} x {' and '.join(f'{one:g}' for one in largest.flat)}"
    if cancels:
        text = f"{text}, the largest expected or term that cancels ({cancels.reason})"
    else:
        text = f"{text}, the largest expected" if largest.any() else "exact: all expected is 0"
    if within is None:
        return bound, text
    if isinstance(within, str) or not 0.0 <= within < 1.0:
        raise LiteralError(f"within is exact, element or a relative error, not {within!r}")
    return np.minimum(bound, within * size), f"within {within:g} x |expected|, and {text}"


def derivative_bound(
    derivative: Derivative, source: str, dtype: str, order: int
) -> tuple[Array, str]:
    """The largest admitted |gradient - estimate| of each part, and where it is from.

    The estimate's own error is added, so that a zero is as near to it as can be known. A part of a
    complex gradient has the bound of its own largest element, but at least the rounding of both:
    no case says which parts cancel.
    """
    estimate, share = derivative.sources[source], DERIVATIVE_SHARE[derivative.dtype, order]
    if EPS[dtype] == EPS["float32"]:
        share = max(share, DERIVATIVE_32)
    elif EPS[dtype] > EPS["float32"]:
        share = max(share, DERIVATIVE_K * EPS[dtype])
    size = magnitudes(estimate.value.array)
    largest = size.max(axis=tuple(range(1, size.ndim)), initial=0.0, keepdims=True)
    own, rounding = estimate.error + derivative.rounding, K_LONG * EPS[dtype] * largest.max()
    sizes = " and ".join(f"{one:g}" for one in largest.flat)
    text = f"{share:g} x {sizes}, the largest, and the estimate's own error {own:.1e}"
    return np.maximum(share * largest, rounding if len(size) == 2 else 0.0) + own, text


def has_corner(derivative: Derivative, order: int) -> bool:
    """Whether the steps disagree: then there is a kink beside the point, and no derivative."""
    estimates = derivative.sources.values()
    sizes = (float(magnitudes(one.value.array).max(initial=0.0)) for one in estimates)
    share, largest = DERIVATIVE_SHARE[derivative.dtype, order], max(sizes, default=0.0)
    bound = share * largest + derivative.rounding
    return any(one.error > bound for one in estimates)


def parts_of(array: Array) -> Array:
    """The real parts and, of complex elements, the imaginary ones, as float64 on a leading axis."""
    parts = np.stack([array.real, array.imag]) if array.dtype.kind == "c" else array[None]
    return parts.astype(np.float64)


def magnitudes(array: Array) -> Array:
    """|part| as float64 on a leading axis; a part that is not finite counts as zero."""
    if array.dtype.kind not in "fc":
        return np.zeros((1, *array.shape))
    parts = parts_of(array)
    return np.where(np.isfinite(parts), np.abs(parts), 0.0)


def floor_of(bound: float, size: float) -> float | None:
    """The detection floor: the smallest relative error of an element that is still caught.

    None for a zero element under a bound: there the absolute bound is what can be stated.
    """
    if bound == 0.0:
        return 0.0
    return None if size == 0.0 else bound / size


# ----- is a case too coarse? -----


@dataclass(frozen=True)
class Floors:
    """A tensor of an expectation, and the smallest relative error caught at each element.

    That of a complex element is its part's that can be off the most. A zero has no relative error:
    its floor counts as 0.
    """

    path: str
    dtype: str
    array: Array
    floors: Array

    @property
    def largest(self) -> float:
        """The floor of the worst element."""
        return float(self.floors.max(initial=0.0))

    @property
    def is_coarse(self) -> bool:
        """Whether it exceeds LARGEST_FLOOR."""
        return self.largest > LARGEST_FLOOR.get(self.dtype, 0.0)

    def __str__(self) -> str:
        exact, element = "choose a representable answer, within: exact", "write within: element"
        remedy = exact if self.dtype in NARROW else element
        index = tuple(int(i) for i in np.unravel_index(int(self.floors.argmax()), self.array.shape))
        where = f"{self.path} element {index}" if index else self.path or "the value"
        return (
            f"{where} ({element_text(self.array[index])}): a relative error below"
            f" {self.largest:.1e} would pass (at most {LARGEST_FLOOR[self.dtype]:.1e}); {remedy}"
        )


def floors_of(
    expected: Expectation, bounds: Bounds, oracle: Value | None = None, path: str = ""
) -> Iterator[Floors]:
    """The detection floors of every tensor of an expectation.

    A literal without dtype takes the dtype of `oracle` at the same place, or float32 or complex64.
    Errors: LiteralError.
    """
    if isinstance(expected, ExpectedSlices):
        rows = oracle.values if isinstance(oracle, Slices) else None
        yield from floors_of(expected.values, bounds, rows, f"{path}.values")
    elif isinstance(expected, ExpectedAnyOf):
        for option in expected.options:
            yield from floors_of(option, bounds, oracle, path)
    elif isinstance(expected, ExpectedStructure):
        for position, item in enumerate(expected.items):
            key = expected.keys[position] if expected.keys else position
            yield from floors_of(item, bounds, item_of(oracle, key), f"{path}[{key!r}]")
    elif isinstance(expected, ExpectedTensor):
        oracle_dtype = oracle.dtype if isinstance(oracle, Tensor) else ""
        literal = PYTHON_NUMBER.get(leaf_family(flatten(expected.value)[0]), "")
        dtype = expected.dtype or oracle_dtype or literal
        array = array_of(expected.value, dtype, expected.shape) if dtype in EPS else np.zeros(())
        within = expected.within if dtype in EPS else "exact"
        if array.size:
            size = magnitudes(array)
            bound, _ = bound_of(array, dtype, bounds, within, expected.cancels)
            with np.errstate(over="ignore"):
                floors = np.divide(bound, size, out=np.zeros(size.shape), where=size > 0)
            yield Floors(path, dtype, array, np.asarray(floors.max(axis=0)))
