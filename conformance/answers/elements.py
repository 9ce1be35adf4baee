"""Elements: two arrays of one shape, the worst element where they differ, and the pattern."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from conformance.answers.due import Due
from conformance.answers.literals import Array
from conformance.answers.mismatch import Mismatch, MismatchClass
from conformance.answers.text import element_text
from conformance.answers.tolerances import Bounds, bound_of, bound_text, floor_of, magnitude
from conformance.corpus.language.literals import family


@dataclass(frozen=True, eq=False)
class Elements:
    """What is due and what was got, two arrays of one shape, element by element."""

    due: Due
    got: Array
    bounds: Bounds
    within: str | float | None

    def mismatch(self) -> Mismatch | None:
        """The first class that applies, at its worst element; None where all elements agree."""
        if family(self.due.dtype) not in ("float", "complex"):
            return self._exact()
        if self._identical():
            return None
        with np.errstate(invalid="ignore"):  # a signalling nan
            expected, got = _parts(self.due.array), _parts(self.got)
        off = np.asarray((_classes(expected) != _classes(got)).any(axis=0))
        if off.any():
            return self._at("non-finite", off, off.astype(float))
        return self._inexact(expected, got)

    def _identical(self) -> bool:
        """Whether all bits are equal: nearly every right answer, told at a tenth of the cost."""
        due, got = self.due.array, self.got
        return due.dtype == got.dtype and due.tobytes() == got.tobytes()

    def _exact(self) -> Mismatch | None:
        off = np.asarray(self.due.array != self.got, dtype=bool)
        if not off.any():
            return None
        excess = off.astype(np.float64)
        if family(self.due.dtype) == "integer":
            excess += np.abs(self.due.array.astype(np.float64) - self.got)
        return self._at("value", off, excess)

    def _inexact(self, expected: Array, got: Array) -> Mismatch | None:
        with np.errstate(all="ignore"):
            parts = np.where(np.isfinite(expected), got - expected, 0.0)
            difference = np.asarray(np.hypot(parts[0], parts[1]))
            bound = bound_of(self.due.array, self.due.dtype, self.bounds, self.within)
            off = np.asarray(~(difference <= bound))
            excess = np.where(off, difference / np.maximum(bound, np.finfo(float).tiny), 0.0)
        signs = ((expected == 0) & np.signbit(expected) & ~np.signbit(got)).any(axis=0)
        if off.any():
            return self._at("value", off, excess, difference, bound)
        if signs.any():
            return self._at(
                "value", np.asarray(signs), signs.astype(float), note="the sign of zero"
            )
        return None

    def _at(
        self,
        kind: MismatchClass,
        off: Array,
        excess: Array,
        difference: Array | None = None,
        bound: Array | None = None,
        note: str = "",
    ) -> Mismatch:
        index = tuple(int(i) for i in np.unravel_index(int(excess.argmax()), off.shape))
        due, got = self.due, self.got
        if kind == "value" and _all_zero(got) and not _all_zero(due.array):
            kind = "zero"
        return Mismatch(
            kind,
            name="",
            path="",
            index=index,
            expected=element_text(due.array[index]),
            got=element_text(got[index]),
            difference=None if difference is None else float(difference[index]),
            bound=None if bound is None else float(bound[index]),
            floor=None if bound is None else self._floor(float(bound[index]), index),
            note=self._note(kind, off, bound, note),
        )

    def _floor(self, bound: float, index: tuple[int, ...]) -> float | None:
        return floor_of(bound, float(magnitude(self.due.array)[index]))

    def _note(self, kind: str, off: Array, bound: Array | None, note: str) -> str:
        notes = [f"{int(off.sum())} of {off.size} elements are off"] if off.size > 1 else []
        if kind == "zero":
            notes.append("every element is exactly zero")
        elif bound is not None:
            notes.append(pattern(self.due.array, self.got, bound))
        if bound is not None:
            source = bound_text(self.due.array, self.due.dtype, self.bounds, self.within)
            notes.append(f"bound = {source}")
        return "; ".join(filter(None, (*notes, note)))


def _parts(array: Array) -> Array:
    """The real and imaginary parts as float64, on a leading axis."""
    if array.dtype.kind == "c":
        return np.stack([array.real, array.imag]).astype(np.float64)
    wide = array.astype(np.float64)
    return np.stack([wide, np.zeros_like(wide)])


def _classes(parts: Array) -> Array:
    """0 for finite, and one number each for nan, inf and -inf."""
    code = np.isnan(parts) * 1 + np.isposinf(parts) * 2 + np.isneginf(parts) * 3
    return np.asarray(code)


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
