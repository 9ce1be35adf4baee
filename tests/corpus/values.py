"""Make conformance/corpus/catalogue/values: what calls answer, where the oracle cannot say it.

Run `python -m tests.corpus.values` where SciPy is installed. Each `value` of the catalogue is an
expression in NumPy and SciPy over the inputs of its call. It is evaluated in float64, or
complex128, at the regular points of all dtypes of the operation, rounded to the dtype first.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from conformance.corpus.catalogue import FOLDER, Operation, Variant, families, load_family
from conformance.corpus.language.formula import rounded
from conformance.corpus.language.literals import COMPLEXES
from conformance.corpus.rows import regular_point, row_name

Values = dict[str, dict[str, Any]]


def evaluated(variant: Variant, dtype: str) -> np.ndarray:
    """What the call answers at the regular point of a dtype."""
    import scipy

    point = regular_point(variant, dtype)
    inputs = {
        given.name: _array(point[given.name], given.dtype or dtype) for given in variant.inputs
    }
    return np.asarray(eval(variant.value, {"np": np, "scipy": scipy, **inputs}))


def _array(value: Any, dtype: str) -> np.ndarray:
    if dtype in COMPLEXES:
        return np.array(value, dtype).astype("complex128")
    return np.array(rounded(value, dtype))


def written(array: np.ndarray) -> Any:
    """An array as case files write it: complex numbers are texts."""
    if array.dtype.kind != "c":
        return array.tolist()
    texts = np.array([f"{number.real!r}{number.imag:+}j" for number in array.ravel().tolist()])
    return texts.reshape(array.shape).tolist()


def values(family: str) -> Values:
    """By row and dtype, for all calls of a family that have an expression."""
    return {
        row_name(operation, variant): {
            dtype: written(evaluated(variant, dtype)) for dtype in operation.dtypes
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


def text(found: Values) -> str:
    """A file: one line for each row and dtype."""
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
