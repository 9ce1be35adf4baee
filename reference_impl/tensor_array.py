"""TensorArray: a list of tensors, each written once; what is read is what was written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from reference_impl.dtypes import as_dtype
from reference_impl.errors import InvalidArgumentError, OutOfRangeError
from reference_impl.ops.shape import concat, stack, unstack
from reference_impl.tensor import Tensor, convert_to_tensor


class TensorArray:
    """Elements of one dtype; every writing returns the array itself.

    **Edges**: an element that was not written is zeros of `element_shape`.
    **Errors**: a second writing is an InvalidArgumentError, an index outside an OutOfRangeError.
    **Source**: TF 2.21 tensor_array_ops.py `_EagerTensorArray`; contract part 1, line 194.
    """

    def __init__(
        self,
        dtype: Any,
        size: Any = 0,
        dynamic_size: bool = False,
        element_shape: Any = None,
        **unused: Any,
    ) -> None:
        self._dtype = as_dtype(dtype)
        self._element_shape = element_shape
        self._grows = bool(dynamic_size)
        self._elements: list[Tensor | None] = [None] * int(size)

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """Put a tensor at an index."""
        place = int(index)
        if place < 0 or (place >= len(self._elements) and not self._grows):
            raise OutOfRangeError(
                f"Tried to write to index {place} but array is not resizeable and size is: "
                f"{len(self._elements)}"
            )
        self._elements += [None] * (place + 1 - len(self._elements))
        if self._elements[place] is not None:
            raise InvalidArgumentError(
                f"Could not write to TensorArray index {place} because it has already been read."
            )
        self._elements[place] = convert_to_tensor(value, dtype=self._dtype)
        return self

    def read(self, index: Any, name: str | None = None) -> Tensor:
        """Return the tensor at an index."""
        place = int(index)
        if not 0 <= place < len(self._elements):
            raise OutOfRangeError(f"Tried to read from index {place} but array size is: {self}")
        element = self._elements[place]
        return self._zeros() if element is None else element

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        """Put the rows of a tensor at indices."""
        for index, row in zip(_ints(indices), unstack(value), strict=True):
            self.write(index, row)
        return self

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """Fill the array with the rows of a tensor."""
        self._elements = list(unstack(value))
        return self

    def gather(self, indices: Any, name: str | None = None) -> Tensor:
        """Return the tensors at indices, stacked."""
        return stack([self.read(index) for index in _ints(indices)])

    def stack(self, name: str | None = None) -> Tensor:
        """Return all tensors, stacked."""
        return self.gather(range(len(self._elements)))

    def concat(self, name: str | None = None) -> Tensor:
        """Return all tensors, joined along their first axis."""
        return concat([self.read(index) for index in range(len(self._elements))], 0)

    def size(self, name: str | None = None) -> Tensor:
        """Return the number of elements."""
        return Tensor(np.asarray(len(self._elements), np.int32))

    def _zeros(self) -> Tensor:
        written = (x.array.shape for x in self._elements if x is not None)
        shape = tuple(self._element_shape) if self._element_shape is not None else next(written, ())
        return Tensor(np.zeros(shape, self._dtype.numpy_dtype))


def _ints(indices: Any) -> Sequence[int]:
    return [int(i) for i in np.ravel(np.asarray(indices))]
