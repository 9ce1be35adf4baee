"""Elements: two arrays of one shape, the worst element where they differ, and the pattern."""

from __future__ import annotations

import numpy as np

from conformance.answers.due import Due
from conformance.answers.literals import Array
from conformance.answers.mismatch import Mismatch, MismatchClass
from conformance.answers.text import element_text
from conformance.answers.tolerances import Bounds, bound_of, bound_text, floor_of, magnitude
from conformance.corpus.language.literals import family


def mismatch_of(
    due: Due, got: Array, bounds: Bounds, within: str | float | None
) -> Mismatch | None:
    """The first class that applies, at its worst element; None where all elements agree."""
    if due.array.dtype == got.dtype and due.array.tobytes() == got.tobytes():
        return None  # nearly every right answer, told at a tenth of the cost
    if family(due.dtype) not in ("float", "complex"):
        off = np.asarray(due.array != got, dtype=bool)
        is_integer = family(due.dtype) == "integer"
        excess = np.abs(due.array.astype(np.float64) - got) if is_integer else off
        return _worst("value", due, got, off, excess) if off.any() else None
    with np.errstate(invalid="ignore"):  # a signalling nan
        expected, parts = _parts(due.array), _parts(got)
    off = (_classes(expected) != _classes(parts)).any(axis=0)
    if off.any():
        return _worst("non-finite", due, got, off, off)
    with np.errstate(all="ignore"):
        apart = np.where(np.isfinite(expected), parts - expected, 0.0)
        difference = np.asarray(np.hypot(apart[0], apart[1]))
        bound = bound_of(due.array, due.dtype, bounds, within)
        off = np.asarray(~(difference <= bound))
        excess = np.where(off, difference / np.maximum(bound, np.finfo(float).tiny), 0.0)
    if off.any():
        source = f"bound = {bound_text(due.array, due.dtype, bounds, within)}"
        return _worst("value", due, got, off, excess, difference, bound, source)
    off = ((expected == 0) & np.signbit(expected) & ~np.signbit(parts)).any(axis=0)
    return _worst("value", due, got, off, off, note="the sign of zero") if off.any() else None


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
    """The mismatch at the element of the largest excess."""
    index = tuple(int(i) for i in np.unravel_index(int(np.argmax(excess)), off.shape))
    notes = [f"{int(off.sum())} of {off.size} elements are off"] if off.size > 1 else []
    if kind == "value" and _all_zero(got) and not _all_zero(due.array):
        kind = "zero"
        notes.append("every element is exactly zero")
    elif bound is not None:
        notes.append(pattern(due.array, got, bound))
    limit = None if bound is None else float(bound[index])
    return Mismatch(
        kind,
        name="",
        path="",
        index=index,
        expected=element_text(due.array[index]),
        got=element_text(got[index]),
        difference=None if difference is None else float(difference[index]),
        bound=limit,
        floor=None if limit is None else floor_of(limit, float(magnitude(due.array)[index])),
        note="; ".join(filter(None, (*notes, note))),
    )


def _parts(array: Array) -> Array:
    """The real and imaginary parts as float64, on a leading axis."""
    return np.stack([array.real, array.imag]).astype(np.float64)


def _classes(parts: Array) -> Array:
    """0 for finite, and one number each for nan, inf and -inf."""
    return np.asarray(np.isnan(parts) * 1 + np.isposinf(parts) * 2 + np.isneginf(parts) * 3)


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
