"""Adding cotangents up: tensors, indexed slices, and mixtures of both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reference_impl.ops.arithmetic import add_n
from reference_impl.ops.shape import concat
from reference_impl.tensor import IndexedSlices


def add_cotangents(cts: Sequence[Any]) -> Any:
    """Return the sum of `cts`, None for none at all.

    Slices only: slices, with values and indices concatenated, so that repeated rows still add up.
    Slices and tensors: a tensor.
    **Source**: TF 2.21 backprop_util.py, `AggregateIndexedSlicesGradients`.
    """
    if len(cts) < 2:
        return cts[0] if cts else None
    if all(isinstance(ct, IndexedSlices) for ct in cts):
        values = concat([ct.values for ct in cts], axis=0)
        indices = concat([ct.indices for ct in cts], axis=0)
        return IndexedSlices(values, indices, cts[0].dense_shape)
    return add_n(cts)
