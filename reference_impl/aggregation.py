"""Adding cotangents up: tensors, indexed slices, and mixtures of both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reference_impl.operators import OPERATORS
from reference_impl.tensor import IndexedSlices


def add_cotangents(cts: Sequence[Any]) -> Any:
    """Return the sum of `cts`, None for none at all.

    Slices only: slices, with values and indices concatenated, so that repeated rows still add up.
    Slices and tensors: a tensor.
    **Source**: TF 2.21 backprop_util.py, `AggregateIndexedSlicesGradients`.
    """
    if not cts:
        return None
    if len(cts) == 1:
        return cts[0]
    if all(isinstance(ct, IndexedSlices) for ct in cts):
        return IndexedSlices(
            OPERATORS["concat"]([ct.values for ct in cts], 0),
            OPERATORS["concat"]([ct.indices for ct in cts], 0),
            cts[0].dense_shape,
        )
    return OPERATORS["add_n"](cts)
