"""TensorArray: a list of tensors, each written once; what is read is what was written."""

from __future__ import annotations

from typing import Any

from reference_impl.arrays import whole_numbers
from reference_impl.dtypes import as_dtype
from reference_impl.errors import InvalidArgumentError
from reference_impl.ops.shape import concat, stack, unstack
from reference_impl.tensor import Tensor, convert_to_tensor


class TensorArray:
    """Elements of one dtype; every writing returns the array itself.

    **Source**: TF 2.21 tensor_array_ops.py `_EagerTensorArray`; contract part 1, line 194.
    """

    def __init__(self, dtype: Any, size: Any, element_shape: Any = None) -> None:
        self._dtype = as_dtype(dtype)
        self._elements: list[Any] = [None] * int(size)

    def write(self, index: Any, value: Any) -> TensorArray:
        """Put a tensor at an index. **Errors**: another shape or dtype than the others."""
        x = convert_to_tensor(value, dtype_hint=self._dtype)
        if x.dtype != self._dtype:
            raise InvalidArgumentError(f"TensorArray dtype is {self._dtype}, but got {x.dtype}")
        if any(other is not None and other.shape != x.shape for other in self._elements):
            raise ValueError(f"Incompatible shape for value {x.shape}")
        self._elements[int(index)] = x
        return self

    def read(self, index: Any) -> Tensor:
        """Return the tensor at an index."""
        return self._elements[int(index)]  # type: ignore[no-any-return]

    def scatter(self, indices: Any, value: Any) -> TensorArray:
        """Put the rows of a tensor at indices."""
        for index, row in zip(whole_numbers(indices), unstack(value), strict=True):
            self.write(index, row)
        return self

    def gather(self, indices: Any) -> Tensor:
        """Return the tensors at indices, stacked."""
        return stack([self.read(index) for index in whole_numbers(indices)])

    def stack(self) -> Tensor:
        """Return all tensors, stacked."""
        return stack(self._elements)

    def concat(self) -> Tensor:
        """Return all tensors, one after the other along the first axis."""
        return concat(self._elements, 0)
