"""Ragged and sparse tensors: composites of a tensor of values and tensors of positions.

Only the values are differentiable. A ragged tensor is a source or target by its values; a sparse
tensor can be watched, but only its `values` can be asked for.
**Source**: TF 2.21 ragged_tensor.py, sparse_tensor.py; contract part 1, lines 32 to 37.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from reference_impl import dtypes, nest
from reference_impl.errors import InvalidArgumentError
from reference_impl.operators import Operators
from reference_impl.tensor import CompositeTensor, Tensor, convert_to_tensor
from reference_impl.tensor_shape import TensorShape


class RaggedTensor(CompositeTensor, Operators):
    """Rows of different lengths: row i is `flat_values[row_splits[i]:row_splits[i + 1]]`.

    Every elementwise operation applies to its values; see `map_flat_values`. One level of rows.
    """

    def __init__(self, flat_values: Tensor, row_splits: Tensor) -> None:
        self.flat_values = flat_values
        self.row_splits = row_splits

    @classmethod
    def from_row_splits(cls, values: Any, row_splits: Any, **unused: Any) -> RaggedTensor:
        """Return the ragged tensor; splits begin at 0, never fall, and end at the last value."""
        flat = convert_to_tensor(values)
        splits = np.asarray(row_splits, np.int64)
        if splits.size == 0 or splits[0] != 0 or np.any(np.diff(splits) < 0):
            raise InvalidArgumentError("Arguments to from_row_splits do not form a valid partition")
        if splits[-1] != len(flat):
            raise InvalidArgumentError("Arguments to from_row_splits do not cover all the values")
        return cls(flat, Tensor(splits))

    @classmethod
    def from_row_lengths(cls, values: Any, row_lengths: Any, **unused: Any) -> RaggedTensor:
        """Return the ragged tensor whose rows have these lengths."""
        lengths = np.asarray(row_lengths, np.int64)
        return cls.from_row_splits(values, np.concatenate([[0], np.cumsum(lengths)]))

    @property
    def components(self) -> tuple[Tensor, ...]:
        """The values and the splits."""
        return (self.flat_values, self.row_splits)

    @property
    def gradient_component(self) -> Tensor:
        """The values."""
        return self.flat_values

    def with_gradient_component(self, ct: Any) -> RaggedTensor:
        """Return a ragged tensor of the same rows around the gradient of the values."""
        return self.with_flat_values(convert_to_tensor(ct))

    @property
    def values(self) -> Tensor:
        """The values of all rows, one after the other."""
        return self.flat_values

    @property
    def dtype(self) -> dtypes.DType:
        """The element type of the values."""
        return self.flat_values.dtype

    def with_flat_values(self, new_values: Any) -> RaggedTensor:
        """Return other values in the same rows."""
        return RaggedTensor(convert_to_tensor(new_values), self.row_splits)

    def with_values(self, new_values: Any) -> RaggedTensor:
        """Return other values in the same rows."""
        return self.with_flat_values(new_values)

    def row_lengths(self) -> Tensor:
        """Return the number of elements of each row."""
        return Tensor(np.diff(self.row_splits.array))

    def to_list(self) -> list[Any]:
        """Return the rows as nested Python lists."""
        rows = np.split(self.flat_values.array, self.row_splits.array[1:-1])
        return [row.tolist() for row in rows]

    def elementwise(self, op: Callable[..., Any], inputs: Sequence[Any], options: Any) -> Any:
        """Apply an operation to the values."""
        return map_flat_values(op, *inputs, **options)

    def __truediv__(self, other: Any) -> Any:
        return map_flat_values(Tensor.__truediv__, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return map_flat_values(Tensor.__rtruediv__, self, other)

    def __repr__(self) -> str:
        return f"<tf.RaggedTensor {self.to_list()}>"


def map_flat_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> RaggedTensor:
    """Return a ragged tensor of `op` applied to the values of the ragged arguments.

    **Errors**: ragged arguments with different rows are an InvalidArgumentError.
    """
    ragged = [x for x in args if isinstance(x, RaggedTensor)]
    for other in ragged[1:]:
        if not np.array_equal(other.row_splits.array, ragged[0].row_splits.array):
            raise InvalidArgumentError("Inputs must have identical ragged splits")
    flat = [x.flat_values if isinstance(x, RaggedTensor) else x for x in args]
    return ragged[0].with_flat_values(op(*flat, **kwargs))


def _ragged_constant(pylist: Any, dtype: Any = None, **unused: Any) -> RaggedTensor:
    """Return a ragged tensor of a list of rows."""
    flat = convert_to_tensor(nest.flatten(pylist), dtype=dtype or None)
    return RaggedTensor.from_row_lengths(flat, [len(row) for row in pylist])


ragged = SimpleNamespace(constant=_ragged_constant, map_flat_values=map_flat_values)


class SparseTensor(CompositeTensor):
    """Values at index vectors of a tensor that is zero elsewhere."""

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        self.indices = convert_to_tensor(indices, dtype=dtypes.int64)
        self.values = convert_to_tensor(values)
        self.dense_shape = convert_to_tensor(dense_shape, dtype=dtypes.int64)

    @property
    def components(self) -> tuple[Tensor, ...]:
        """The indices, the values and the shape."""
        return (self.indices, self.values, self.dense_shape)

    @property
    def dtype(self) -> dtypes.DType:
        """The element type of the values."""
        return self.values.dtype

    @property
    def shape(self) -> TensorShape:
        """The dense shape."""
        return TensorShape(self.dense_shape.array)
