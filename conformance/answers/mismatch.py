"""A mismatch: one fact that differs, with everything that a person needs to see why.

In a tensor that is the dtype that is not the due one, or the worst element and the pattern.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from conformance.answers.answer import Tensor, Value
from conformance.answers.literals import Array, LiteralError, array_of, flatten, leaf_family
from conformance.answers.text import element_text
from conformance.answers.tolerances import (
    PYTHON_NUMBER,
    Bounds,
    bound_of,
    floor_of,
    magnitudes,
    parts_of,
)
from conformance.corpus.language.case import Cancellation, ExpectedTensor
from conformance.corpus.language.literals import PYTHON_TYPES, family

MismatchClass: TypeAlias = Literal[
    "none", "zero", "slices", "structure", "dtype", "shape", "non-finite", "value", "error",
    "warning", "calls", "watched",
]  # fmt: skip
ORDER: tuple[MismatchClass, ...] = (
    "error", "structure", "none", "slices", "calls", "watched", "dtype", "shape", "non-finite",
    "zero", "value", "warning",
)  # fmt: skip
"""The order in which classes are looked for; the later the first one is, the closer the answer."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One fact that differs.

    `path` leads into the structure (`[0]['w']`), `index` to the worst element. `bound` is the
    largest admitted difference there, `floor` the smallest relative error that is still caught
    there (None where the element is zero, or where the class has no bound).
    """

    kind: MismatchClass
    name: str
    path: str
    expected: str
    got: str
    index: tuple[int, ...] | None = None
    difference: float | None = None
    bound: float | None = None
    floor: float | None = None
    note: str = ""

    @property
    def where(self) -> str:
        """`g[0]['w'] element (1, 2)`."""
        element = f" element {self.index}" if self.index else ""
        return f"{self.name}{self.path}{element}"


def lines(mismatch: Mismatch) -> list[str]:
    """A mismatch for a person.

    value: g[0] element (3,): got 2.1e-05, expected 2e-05
      difference 1e-06, bound 3.8e-11; relative errors from 1.9e-06 are caught here
      2 of 6 elements are off; bound = 16 x eps(float32) x |expected|
    """
    text = [
        f"{mismatch.kind}: {mismatch.where}: got {mismatch.got}, expected {mismatch.expected}",
    ]
    if mismatch.difference is not None and mismatch.bound is not None:
        caught = f"any difference above {mismatch.bound:.3g} is caught here"
        if mismatch.floor is not None:
            caught = f"relative errors from {mismatch.floor:.1e} are caught here"
        text.append(
            f"  difference {mismatch.difference:.3g}, bound {mismatch.bound:.3g};"
            f" {caught if mismatch.bound else 'exact'}"
        )
    if mismatch.note:
        text.append(f"  {mismatch.note}")
    return text


# ----- what is due of a tensor -----

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
LARGEST_INT64 = 2**63 - 1


@dataclass(frozen=True, eq=False)
class Due:
    """An expected array, and the dtype that bounds it.

    `text` is the dtype that a person is told, `note` where it comes from. Where the target's dtype
    is not the due one, `holds` is False, and the array may be anything.
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
) -> Due:
    """The array that is due where `got`, a value of the due kind, was answered.

    1. A declared dtype is exact, and so is the type of a Python scalar. A float of Python has the
       precision of a float32.
    2. Without one the dtype is that of `told`, the oracle's tensor.
    3. With neither, the target's dtype must be of the literal's family and, unless `dtypes` is
       None, be one of `dtypes` or TensorFlow's own choice.

    Errors: LiteralError where a declared dtype or the oracle's cannot hold the literal.
    """
    oracle = told.dtype if isinstance(told, Tensor) and told.kind == "tensor" else None
    dtype = expected.dtype or oracle
    if dtype is None:
        return _due_without_dtype(expected, got, dtypes)
    if dtype in PYTHON_TYPES:
        held, value = PYTHON_TYPES[dtype], expected.value
        is_large = held == "int64" and isinstance(value, int) and value > LARGEST_INT64
        array = array_of(value, "uint64" if is_large else held, expected.shape)
        return Due(array, PYTHON_NUMBER.get(family(held), held), got.dtype == dtype, dtype)
    array = array_of(expected.value, dtype, expected.shape)
    note = "" if expected.dtype else "the dtype is the oracle's"
    return Due(array, dtype, got.dtype == dtype, dtype, note)


def _due_without_dtype(expected: ExpectedTensor, got: Tensor, dtypes: frozenset[str] | None) -> Due:
    leaves, _ = flatten(expected.value)
    literal = leaf_family(leaves)
    usual = DEFAULT_DTYPES[literal]
    wrong = Due(np.zeros(()), "float32", False, f"a {literal} literal")
    if leaves and _rank(literal) != _rank(family(got.dtype)):
        return wrong
    if leaves and dtypes is not None and got.dtype not in usual | dtypes:
        note = f"a literal without dtype is {' or '.join(sorted(usual))} here"
        return replace(wrong, note=note)
    try:
        array = array_of(expected.value, got.dtype, expected.shape)
    except LiteralError as error:
        return replace(wrong, note=str(error))
    return Due(array, got.dtype, True, got.dtype)


def _rank(name: str) -> str:
    return name if name in ("bool", "string") else "number"


# ----- where it differs -----


def mismatch_of(
    due: Due,
    got: Array,
    bounds: Bounds,
    within: str | float | None = None,
    cancels: Cancellation | None = None,
) -> Mismatch | None:
    """The first class that applies, at its worst element; None where all elements agree."""
    if due.array.dtype == got.dtype and due.array.tobytes() == got.tobytes():
        return None  # nearly every right answer, told at a tenth of the cost
    if family(due.dtype) not in ("float", "complex"):
        off = np.asarray(due.array != got, dtype=bool)
        is_integer = family(due.dtype) == "integer"
        excess = np.abs(due.array.astype(np.float64) - got) if is_integer else off
        return _worst("value", due, got, off[None], excess[None]) if off.any() else None
    with np.errstate(invalid="ignore"):  # a signalling nan
        expected, parts = parts_of(due.array), parts_of(got)
    off = _classes(expected) != _classes(parts)
    if off.any():
        return _worst("non-finite", due, got, off, off)
    bound, source = bound_of(due.array, due.dtype, bounds, within, cancels)
    if found := _beyond(due, got, bound, f"bound = {source}"):
        return found
    off = (expected == 0) & np.signbit(expected) & ~np.signbit(parts)
    return _worst("value", due, got, off, off, note="the sign of zero") if off.any() else None


def mismatch_of_estimate(
    estimate: Array, got: Array, bound: Array, source: str, error: float
) -> Mismatch | None:
    """Where a gradient is not the derivative that was estimated; None where it is."""
    due = Due(estimate, "float64", True, "")
    with np.errstate(invalid="ignore"):
        off = ~np.isfinite(parts_of(got))
    if off.any():
        return _worst("non-finite", due, got, off, off)
    found = _beyond(due, got, np.broadcast_to(bound, off.shape), f"bound = {source}")
    if found is None or found.index is None:
        return None
    ratio = got[found.index] / estimate[found.index] if estimate[found.index] else np.inf
    note = f"the derivative is estimated with an error of {error:.1e}; got / estimate = {ratio:.9g}"
    return replace(found, note=f"{note}; {found.note}")


def _beyond(due: Due, got: Array, bound: Array, note: str) -> Mismatch | None:
    """The finite element that is farthest beyond its bound."""
    expected, parts = parts_of(due.array), parts_of(got)
    with np.errstate(all="ignore"):
        apart = np.where(np.isfinite(expected), np.abs(parts - expected), 0.0)
        off = ~(apart <= bound)
        if not off.any():
            return None
        excess = np.where(off, apart / np.maximum(bound, np.finfo(float).tiny), 0.0)
    return _worst("value", due, got, off, excess, apart, bound, note)


def _worst(
    kind: MismatchClass,
    due: Due,
    got: Array,
    off: Array,
    excess: Array,
    difference: Array | None = None,
    bound: Array | None = None,
    note: str = "",
) -> Mismatch:
    """The mismatch at the element of the largest excess; the parts are on the leading axis."""
    worst = tuple(int(i) for i in np.unravel_index(int(np.argmax(excess)), off.shape))
    index, elements = worst[1:], off.any(axis=0)
    notes = [f"{int(elements.sum())} of {elements.size} elements are off"] * (elements.size > 1)
    if len(off) == 2 and difference is not None:
        notes.append("it is the imaginary part" if worst[0] else "it is the real part")
    if kind == "value" and _all_zero(got) and not _all_zero(due.array):
        kind = "zero"
        notes.append("every element is exactly zero")
    elif bound is not None:
        notes.append(pattern(due.array, got, bound.max(axis=0)))
    limit = None if bound is None else float(bound[worst])
    return Mismatch(
        kind,
        name="",
        path="",
        index=index,
        expected=element_text(due.array[index]),
        got=element_text(got[index]),
        difference=None if difference is None else float(difference[worst]),
        bound=limit,
        floor=None if limit is None else floor_of(limit, float(magnitudes(due.array)[worst])),
        note="; ".join(filter(None, (*notes, note))),
    )


def _classes(parts: Array) -> Array:
    """0 for finite, and one number each for nan, inf and -inf."""
    return np.asarray(np.isnan(parts) * 1 + (parts == np.inf) * 2 + (parts == -np.inf) * 3)


def _all_zero(array: Array) -> bool:
    return array.dtype.kind in "iufc" and not np.any(array)


# ----- what a wrong gradient looks like as a whole -----

NICE_FACTORS = (2.0, 3.0, 4.0, 0.5, 0.25, 1 / 3)


def pattern(expected: Array, got: Array, bound: Array) -> str:
    """The simplest relation that turns `expected` into `got` within `bound`, or nothing.

    Edges: arrays with a nan or an inf, and those with other than float or complex elements, have
    no pattern; a factor of a single element is only named where it is a usual one.
    """
    if not (np.isfinite(expected).all() and np.isfinite(got).all()) or not expected.any():
        return ""
    wide, answered = (array.astype(np.result_type(array, np.float64)) for array in (expected, got))
    with np.errstate(all="ignore"):
        if _same(-wide, answered, bound):
            return "every element has the opposite sign"
        factor = _factor(wide, answered, bound)
        return f"got is {factor:.6g} x expected throughout" if factor else _order(wide, got, bound)


def _factor(expected: Array, got: Array, bound: Array) -> float | None:
    position = int(np.abs(expected).argmax())
    ratio = got.reshape(-1)[position] / expected.reshape(-1)[position]
    factor = float(ratio.real)
    if not np.isfinite(ratio) or abs(ratio.imag) > 1e-3 * abs(factor):
        return None
    nice = min(NICE_FACTORS, key=lambda candidate: abs(candidate - factor))
    if abs(nice - factor) < 1e-3 * nice:
        factor = nice
    elif np.count_nonzero(expected) < 2:
        return None
    return factor if factor and _same(factor * expected, got, bound * abs(factor)) else None


def _order(expected: Array, got: Array, bound: Array) -> str:
    if expected.ndim == 2 and expected.shape == expected.T.shape and _same(expected.T, got, bound):
        return "got is the transpose of expected"
    if expected.size > 1 and _same(np.sort(expected, None), np.sort(got, None), bound.max()):
        return "got has the expected elements in another order"
    return ""


def _same(expected: Array, got: Array, bound: Array | float) -> bool:
    return bool(np.all(np.abs(got - expected) <= bound))
