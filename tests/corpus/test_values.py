"""The values of the catalogue: SciPy and NumPy say of each expression what the file says."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from conformance.corpus.catalogue import (
    FOLDER,
    Operation,
    OperationInput,
    Points,
    Variant,
    families,
)
from conformance.corpus.rows import row_name
from tests.corpus import values

FILES = sorted((FOLDER / "values").glob("*.json"))


def known(family: str) -> dict[str, dict[str, Any]]:
    return dict(json.loads((FOLDER / "values" / f"{family}.json").read_text("utf-8")))


def derivatives_of(operation: Operation, variant: Variant) -> list[str]:
    return ["jacobian", "tangent"] if variant is operation.variants[0] else []


def test_each_expression_has_its_values_and_there_are_no_others() -> None:
    due = {
        family: {row_name(*call): [*call[0].dtypes, *derivatives_of(*call)] for call in found}
        for family in families()
        if (found := values.calls(family))
    }
    for family in families():
        for name, points in values.declared(family).items():
            due.setdefault(family, {})[name] = ["value", *(points.gradient or {})]
    said = {
        path.stem: {name: [*by_dtype] for name, by_dtype in known(path.stem).items()}
        for path in FILES
    }
    assert said == due
    assert sum(map(len, due.values())) > 40


@pytest.mark.parametrize("family", [path.stem for path in FILES])
def test_the_values_are_those_of_the_expressions(family: str) -> None:
    """Where they are not: `python -m tests.corpus.values`."""
    pytest.importorskip("scipy")
    found = known(family)
    for operation, variant in values.calls(family):
        for dtype in operation.dtypes:
            value = np.array(found[row_name(operation, variant)][dtype])
            due = values.evaluated(variant, dtype)
            np.testing.assert_allclose(value.astype(due.dtype), due, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("family", [path.stem for path in FILES])
def test_the_jacobians_and_tangents_are_those_of_the_expressions(family: str) -> None:
    """Where they are not: `python -m tests.corpus.values`."""
    pytest.importorskip("scipy")
    found = known(family)
    for operation, variant in values.calls(family):
        if variant is operation.variants[0]:
            due, said = values.derivatives(operation, variant), found[row_name(operation, variant)]
            ((dtype, jacobian),) = due["jacobian"].items()
            pairs = [*zip(said["jacobian"][dtype], jacobian, strict=True)]
            pairs.append((said["tangent"][dtype], due["tangent"][dtype]))
            rtol = 1e-13 if dtype == "float64" else 1e-9
            for pair in pairs:
                one, other = (np.array(numbers).astype(complex) for numbers in pair)
                np.testing.assert_allclose(one, other, rtol=rtol, atol=rtol)


def differences(found: Any, points: Points) -> list[str]:
    """What a file says otherwise of edge points than the expressions do, signs of zero included."""
    due = values.at_points(points)
    return [key for key, value in due.items() if not _same(found[key], value, points)]


def _same(said: Any, due: np.ndarray, points: Points) -> bool:
    value = np.array(said["value"]).astype(due.dtype)
    if (said["shape"], said["dtype"]) != ([*due.shape], values.dtype_of(due, points)):
        return False
    if value.size != due.size:
        return False
    value = value.reshape(due.shape)
    if due.dtype.kind == "c":
        due = due + 0.0  # the zeros of complex numbers are written without a sign
    signs = np.signbit(value.real) == np.signbit(due.real)
    near = np.isclose(value, due, rtol=1e-13, atol=0.0, equal_nan=True)
    return bool(np.all(near & (signs | np.isnan(due))))


@pytest.mark.parametrize("family", [path.stem for path in FILES])
def test_the_edge_points_are_as_the_expressions_say(family: str) -> None:
    """Where they are not: `python -m tests.corpus.values`."""
    pytest.importorskip("scipy")
    found = known(family)
    for name, points in values.declared(family).items():
        assert differences(found[name], points) == []


@pytest.mark.parametrize(
    ("key", "wrong"),
    [("value", [0.0, 0.0]), ("value", [1.0, -0.0]), ("shape", [1, 2]), ("dtype", "float32")],
)
def test_a_wrong_value_is_seen(key: str, wrong: Any) -> None:
    line = Variant("line", "x", (OperationInput("x"),), "x")
    points = Points(line, "float64", {"x": (-0.0, math.nan)}, {"x": "w * x"}, "")
    found = values.written_at(points)
    assert differences(found, points) == []
    found["value"][key] = wrong
    assert differences(found, points) == ["value"]
    assert found["x"]["value"][0] == 0.0  # without a sign
    assert math.copysign(1.0, found["x"]["value"][0]) == 1.0
