"""Difference quotients with an error estimate, and the points where there are none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from conformance.suite.numeric.inside.declared import Array, NotFollowed
from conformance.suite.numeric.inside.notebook import Values

Line = Callable[[float], Values]
"""Everything that moves, by its key, when one source has gone this far along a direction."""
Measure = Callable[[Values], Array]
"""What is differentiated, as a real vector."""

STEP = 1e-3
SHRINKING = (1.0, 0.125, 1e-2, 1e-3)
"""Steps that are tried, relative to the element: a smaller one where a larger leaves the domain."""
GOOD = 1e-9
"""The relative error at which no smaller step is tried."""
LEAST_BEND = 1e-11
"""The relative second difference below which a bend is rounding."""


@dataclass(frozen=True)
class Quotient:
    """The derivative of a measure along a line, and the error that it may have."""

    value: Array
    error: Array

    @property
    def quality(self) -> float:
        """The error relative to the largest derivative."""
        size = float(np.abs(self.value).max(initial=0.0))
        return float(np.abs(self.error).max(initial=0.0)) / (size or 1.0)


def quotient(line: Line, measure: Measure, size: float, rounding: Array) -> Quotient:
    """The derivative of `measure` along `line` at 0, around an element of magnitude `size`.

    The best of a few steps; `rounding` is the error of the measure itself. Errors: NotFollowed at
    a kink or the edge of the domain.
    """
    best: Quotient | None = None
    reason = NotFollowed("the edge of a domain")
    for step in _steps(size):
        try:
            found = _with_step(line, measure, step, rounding)
        except NotFollowed as kink:
            reason = kink
            continue
        if found is not None and (best is None or found.quality < best.quality):
            best = found
        if best is not None and best.quality <= GOOD:
            break
    if best is None:
        raise reason
    return best


def _steps(size: float) -> Iterator[float]:
    largest = STEP * max(1.0, size)
    yield from (largest * factor for factor in SHRINKING)
    if 0.0 < size < 1.0:
        yield from (STEP * size, 0.1 * STEP * size)


def _with_step(line: Line, measure: Measure, step: float, rounding: Array) -> Quotient | None:
    """Two five-point quotients and Richardson's combination; None where a value is not finite."""
    points = {n: line(n * step) for n in (-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0)}
    if not all(np.isfinite(array).all() for point in points.values() for array in _real(point)):
        return None
    _refuse_kinks(points)
    at = {n: measure(point) for n, point in points.items()}
    wide = _five_points(at, 1.0, step)
    fine = _five_points(at, 0.5, step)
    value = fine + (fine - wide) / 15.0
    return Quotient(value, np.abs(fine - wide) + rounding / step)


def _real(point: Values) -> Iterator[Array]:
    return (array for array in point.values() if array.dtype.kind in "fc")


def _five_points(at: Mapping[float, Array], n: float, step: float) -> Array:
    near, far = at[n] - at[-n], at[2 * n] - at[-2 * n]
    return np.asarray((8.0 * near - far) / (12.0 * n * step))


def _refuse_kinks(points: Mapping[float, Values]) -> None:
    """At half the step, a smooth value bends a quarter as much, one with a kink half as much.

    Every value on the way is looked at: kinks that cancel in the target have answers that do not.
    """
    for key, middle in points[0.0].items():
        if middle.dtype.kind not in "fc":
            continue
        wide = np.abs(points[1.0][key] + points[-1.0][key] - 2.0 * middle)
        fine = np.abs(points[0.5][key] + points[-0.5][key] - 2.0 * middle)
        size = np.maximum(np.abs(points[1.0][key]), np.abs(points[-1.0][key]))
        if np.any((wide > LEAST_BEND * np.maximum(size, 1e-300)) & (wide < 3.0 * fine)):
            raise NotFollowed("a kink at this point")
