"""Make conformance/corpus/catalogue/values: what calls answer, where the oracle cannot say it.

Run `python -m tests.corpus.values` where SciPy is installed. Each `value` of the catalogue is an
expression in NumPy and SciPy over the inputs of its call. It is evaluated in float64, or
complex128, at the regular points of all dtypes of the operation, rounded to the dtype first; and
at the edge points, with the gradients that are declared there.

Of the first call of an operation it also makes the jacobian by each input, and from that the
tangent: in float64 by imaginary steps, which lose nothing to rounding, where the expression is
analytic; else in float32 by quotients of differences, which are better than that.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from conformance.corpus.catalogue import (
    ARRIVES,
    FOLDER,
    Operation,
    Points,
    Variant,
    families,
    load_family,
)
from conformance.corpus.language.formula import rounded
from conformance.corpus.language.literals import COMPLEXES
from conformance.corpus.rows import points_of, regular_point, row_name

Values = dict[str, dict[str, Any]]
Moved = Callable[[complex], np.ndarray]
"""What a call answers when one element of its inputs is moved by a step."""
IMAGINARY, REAL = 1e-60, 1e-3
"""The steps."""


def evaluated(variant: Variant, dtype: str) -> np.ndarray:
    """What the call answers at the regular point of a dtype."""
    return _answer(variant, _inputs(variant, dtype))


def _inputs(variant: Variant, dtype: str) -> dict[str, np.ndarray]:
    point = regular_point(variant, dtype)
    return {given.name: _array(point[given.name], given.dtype or dtype) for given in variant.inputs}


def _answer(variant: Variant, inputs: dict[str, np.ndarray]) -> np.ndarray:
    return _evaluated(variant.value, inputs)


def _evaluated(expression: str, names: Mapping[str, np.ndarray]) -> np.ndarray:
    import scipy

    with np.errstate(all="ignore"):
        return np.asarray(eval(expression, {"np": np, "scipy": scipy, **names}))


def at_points(points: Points) -> dict[str, np.ndarray]:
    """What a call answers at edge points, and its gradients, whose zeros have no sign."""
    inputs = {name: _array(value, points.dtype) for name, value in points.at.items()}
    value = _evaluated(points.variant.value, inputs)
    weights = np.arange(1.0, value.size + 1).reshape(value.shape)
    gradient = {
        name: _evaluated(expression, {**inputs, ARRIVES: weights}) + 0.0
        for name, expression in (points.gradient or {}).items()
    }
    return {"value": value, **gradient}


def derivatives(operation: Operation, variant: Variant) -> Values:
    """The jacobians by the inputs that are connected, and the tangent, in the dtype that is due."""
    dtype, jacobians = "float32", _jacobians(variant, "float32", _by_quotients)
    if "float64" in operation.dtypes and (exact := _exact_jacobians(variant)):
        dtype, jacobians = "float64", exact
    inputs = _inputs(variant, dtype)
    tangent = sum(
        np.tensordot(found, tangent_at(inputs[name]), inputs[name].ndim)
        for name, found in jacobians.items()
    )
    return {
        "jacobian": {dtype: [written(found) for found in jacobians.values()]},
        "tangent": {dtype: written(np.asarray(tangent))},
    }


def _exact_jacobians(variant: Variant) -> dict[str, np.ndarray]:
    """The jacobians in float64; none where the expression is not analytic."""
    due = _jacobians(variant, "float64", _by_quotients)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", np.exceptions.ComplexWarning)
            found = _jacobians(variant, "float64", _by_an_imaginary_step)
    except (TypeError, np.exceptions.ComplexWarning):
        return {}
    return found if all(np.allclose(found[name], due[name], 1e-8, 1e-9) for name in due) else {}


def tangent_at(primal: np.ndarray) -> np.ndarray:
    """The tangent of an input in the tables: as in their programs."""
    return 0.5 * primal + 2.0


def _jacobians(
    variant: Variant, dtype: str, method: Callable[[Moved], np.ndarray]
) -> dict[str, np.ndarray]:
    """By the name of each connected input, the axes of the answer before those of the input."""
    inputs = _inputs(variant, dtype)
    found = {}
    for name in [given.name for given in variant.inputs if given.connected]:
        columns = [
            method(partial(_moved, variant, inputs, name, index))
            for index in np.ndindex(inputs[name].shape)
        ]
        stacked = np.stack(columns, axis=-1)
        found[name] = stacked.reshape(stacked.shape[:-1] + inputs[name].shape)
    return found


def _moved(
    variant: Variant, inputs: dict[str, np.ndarray], name: str, index: Any, step: complex
) -> np.ndarray:
    """What the call answers when one element of one input is moved."""
    moved = inputs[name].astype(type(step))
    moved[index] += step
    return _answer(variant, {**inputs, name: moved})


def _by_an_imaginary_step(answer: Moved) -> np.ndarray:
    return answer(IMAGINARY * 1j).imag / IMAGINARY + 0.0  # a zero has no sign


def _by_quotients(answer: Moved) -> np.ndarray:
    """Quotients with two steps, extrapolated; the same with halves of them must agree."""
    steps = [2 * REAL, REAL, REAL / 2]
    wide, middle, narrow = [(answer(step) - answer(-step)) / (2 * step) for step in steps]
    once, again = (4 * middle - wide) / 3, (4 * narrow - middle) / 3
    np.testing.assert_allclose(once, again, 1e-8, 1e-9)
    return (16 * again - once) / 15


def _array(value: Any, dtype: str) -> np.ndarray:
    if dtype in COMPLEXES:
        return np.array(value, dtype).astype("complex128")
    return np.array(rounded(value, dtype))


def written(array: np.ndarray) -> Any:
    """An array as case files write it: complex numbers are texts, whose zeros have no sign."""
    if array.dtype.kind != "c":
        return array.tolist()
    numbers = (array.ravel() + 0.0).tolist()
    texts = np.array([f"{number.real!r}{number.imag:+}j" for number in numbers])
    return texts.reshape(array.shape).tolist()


def dtype_of(array: np.ndarray, points: Points) -> str:
    """The dtype of a declared tensor: that of the points, where it is as complex as they are."""
    if array.dtype.kind == "c":
        return "complex128"
    return "float64" if points.dtype in COMPLEXES else points.dtype


def written_at(points: Points) -> dict[str, Any]:
    """What is declared of edge points, each a tensor as case files say it."""
    return {
        key: {"value": written(value), "shape": [*value.shape], "dtype": dtype_of(value, points)}
        for key, value in at_points(points).items()
    }


def values(family: str) -> Values:
    """By row and dtype, for all calls of a family that have an expression; and the derivatives.

    By edge points, what is declared there.
    """
    at_edges = {name: written_at(points) for name, points in declared(family).items()}
    return at_edges | {
        row_name(operation, variant): {
            **{dtype: written(evaluated(variant, dtype)) for dtype in operation.dtypes},
            **(derivatives(operation, variant) if variant is operation.variants[0] else {}),
        }
        for operation, variant in calls(family)
    }


def calls(family: str) -> list[tuple[Operation, Variant]]:
    """The calls of a family that have an expression."""
    return [
        (operation, variant)
        for operation in load_family(family).values()
        for variant in operation.variants
        if variant.value
    ]


def declared(family: str) -> dict[str, Points]:
    """The edge points of a family where a gradient is declared, by the names of their rows."""
    found = points_of(family).items()
    return {name: points for name, (_, points) in found if points.gradient is not None}


def text(found: Values) -> str:
    """A file: one line for each row and dtype, or derivative."""
    rows = [
        f" {json.dumps(name)}: {{\n"
        + ",\n".join(f"  {json.dumps(dtype)}: {json.dumps(value)}" for dtype, value in by.items())
        + "\n }"
        for name, by in found.items()
    ]
    return "{\n" + ",\n".join(rows) + "\n}\n"


if __name__ == "__main__":
    for name in families():
        if found := values(name):
            (FOLDER / "values" / f"{name}.json").write_text(text(found), encoding="utf-8")
