"""Explanations: what a wrong gradient looks like as a whole, in words, from its values alone."""

from __future__ import annotations

import numpy as np

from conformance.answers.values import Array

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
