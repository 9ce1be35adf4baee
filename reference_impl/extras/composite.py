"""Ragged and sparse tensors: composites of a tensor of values and tensors of positions.

Its `components` are watched with a composite, its `gradient_component` stands for it as a target or
source, and `elementwise` applies an operation to it. Only the values are differentiable; a sparse
tensor can be watched, but only its `values` can be asked for.
**Source**: TF 2.21 ragged_tensor.py, sparse_tensor.py; contract part 1, lines 32 to 37.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from reference_impl import dtypes
from reference_impl.tensor import Operators, Tensor, convert_to_tensor


class RaggedTensor(Operators):
    """Rows of different lengths: row i is `flat_values[row_splits[i]:row_splits[i + 1]]`.

    Every elementwise operation applies to its values. One level of rows.
    """

    def __init__(self, flat_values: Tensor, row_splits: Tensor) -> None:
        self.flat_values = self.values = flat_values
        self.row_splits = row_splits
        self.components = (flat_values, row_splits)

    @classmethod
    def from_row_splits(cls, values: Any, row_splits: Any) -> RaggedTensor:
        """Return the ragged tensor; splits begin at 0, never fall, and end at the last value."""
        return cls(convert_to_tensor(values), Tensor(np.asarray(row_splits, np.int64)))

    @classmethod
    def from_row_lengths(cls, values: Any, row_lengths: Any) -> RaggedTensor:
        """Return the ragged tensor whose rows have these lengths."""
        return cls.from_row_splits(values, np.concatenate([[0], np.cumsum(row_lengths)]))

    @property
    def gradient_component(self) -> Tensor:
        """The values."""
        return self.flat_values

    def with_gradient(self, ct: Any) -> RaggedTensor:
        """Return a ragged tensor of the same rows around the gradient of the values."""
        return self.with_flat_values(convert_to_tensor(ct))

    def with_flat_values(self, new_values: Any) -> RaggedTensor:
        """Return other values in the same rows."""
        return RaggedTensor(new_values, self.row_splits)

    def elementwise(self, op: Callable[..., Any], inputs: Sequence[Any], options: Any) -> Any:
        """Apply an operation to the values of all ragged inputs, which have the same rows."""
        flat = [x.flat_values if isinstance(x, RaggedTensor) else x for x in inputs]
        return self.with_flat_values(op(*flat, **options))


class SparseTensor:
    """Values at index vectors of a tensor that is zero elsewhere."""

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        self.indices = convert_to_tensor(indices, dtype=dtypes.int64)
        self.values = convert_to_tensor(values)
        self.dense_shape = convert_to_tensor(dense_shape, dtype=dtypes.int64)
        self.components = (self.indices, self.values, self.dense_shape)

    @property
    def gradient_component(self) -> Tensor:
        """**Errors**: ValueError: nothing stands for it."""
        raise ValueError("Type SparseTensor is not supported as a gradient source or target.")
