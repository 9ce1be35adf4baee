"""The values of the catalogue: SciPy and NumPy say of each expression what the file says."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from conformance.corpus.catalogue import FOLDER, families
from conformance.corpus.rows import row_name
from tests.corpus import values

FILES = sorted((FOLDER / "values").glob("*.json"))


def known(family: str) -> dict[str, dict[str, Any]]:
    return dict(json.loads((FOLDER / "values" / f"{family}.json").read_text("utf-8")))


def test_each_expression_has_its_values_and_there_are_no_others() -> None:
    due = {
        family: {row_name(*call): [*call[0].dtypes] for call in found}
        for family in families()
        if (found := values.calls(family))
    }
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
