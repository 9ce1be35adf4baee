"""Datasets and queues: what passes through their state comes out unconnected.

**Source**: TensorFlow's autodiff guide, "Took gradients through a stateful object".
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np

from reference_impl import nest
from reference_impl.dtypes import as_dtype
from reference_impl.errors import InvalidArgumentError, OutOfRangeError
from reference_impl.tensor import Tensor, convert_to_tensor


class Dataset:
    """A sequence of structures of tensors, made anew by each iteration."""

    def __init__(self, elements: Callable[[], Iterator[Any]]) -> None:
        self._elements = elements

    @classmethod
    def from_tensors(cls, tensors: Any) -> Dataset:
        """Return the dataset of one element."""
        copied = _disconnected_all(tensors)
        return cls(lambda: iter([_disconnected_all(copied)]))

    @classmethod
    def from_tensor_slices(cls, tensors: Any) -> Dataset:
        """Return the dataset of the rows of each tensor."""
        copied = _disconnected_all(tensors)
        arrays = [leaf.array for leaf in nest.flatten(copied)]
        if len({len(array) for array in arrays}) != 1:
            raise ValueError("Dimensions of the components are not equal")

        def rows() -> Iterator[Any]:
            for parts in zip(*arrays, strict=True):
                yield nest.pack_sequence_as(copied, [Tensor(part) for part in parts])

        return cls(rows)

    def map(self, map_func: Callable[..., Any], **unused: Any) -> Dataset:
        """Return the dataset of the results of a function; a tuple is its arguments."""

        def mapped() -> Iterator[Any]:
            for element in self:
                yield map_func(*element) if isinstance(element, tuple) else map_func(element)

        return Dataset(lambda: map(_disconnected_all, mapped()))

    def batch(self, batch_size: int, drop_remainder: bool = False, **unused: Any) -> Dataset:
        """Return the dataset of so many elements stacked; the last batch may be smaller."""

        def batches() -> Iterator[Any]:
            elements = list(self)
            for start in range(0, len(elements), batch_size):
                block = elements[start : start + batch_size]
                if len(block) == batch_size or not drop_remainder:
                    yield nest.map_structure(_stacked, *block)

        return Dataset(batches)

    def __iter__(self) -> Iterator[Any]:
        return self._elements()


class FIFOQueue:
    """A queue of tensors, first in, first out; an element of several components is a list.

    **Errors**: InvalidArgumentError for another dtype; OutOfRangeError where TensorFlow would wait
    for ever: the queue is full, or empty.
    """

    def __init__(
        self, capacity: int, dtypes: Any, shapes: Any = None, names: Any = None, **unused: Any
    ) -> None:
        self._capacity = int(capacity)
        self._dtypes = [as_dtype(d) for d in (dtypes if isinstance(dtypes, list) else [dtypes])]
        self._elements: deque[list[Tensor]] = deque()

    def enqueue(self, vals: Any, name: str | None = None) -> None:
        """Put one element into the queue."""
        if len(self._elements) >= self._capacity:
            raise OutOfRangeError("the queue is full, and nobody else will take from it")
        parts = [_disconnected(leaf) for leaf in nest.flatten(vals)]
        if [part.dtype for part in parts] != self._dtypes:
            raise InvalidArgumentError(f"the queue takes {self._dtypes}", "QueueEnqueueV2")
        self._elements.append(parts)

    def dequeue(self, name: str | None = None) -> Any:
        """Take the oldest element out of the queue."""
        if not self._elements:
            raise OutOfRangeError("the queue is empty, and nobody else will fill it")
        parts = [_disconnected(part) for part in self._elements.popleft()]
        return parts if len(parts) > 1 else parts[0]

    def size(self, name: str | None = None) -> Tensor:
        """Return the number of elements."""
        return Tensor(np.asarray(len(self._elements), np.int32))


def _disconnected_all(structure: Any) -> Any:
    """Return new tensors in a structure of tuples and dicts; a list is one tensor."""
    if isinstance(structure, dict):
        return {key: _disconnected_all(child) for key, child in structure.items()}
    if isinstance(structure, tuple):
        return tuple(_disconnected_all(child) for child in structure)
    return _disconnected(structure)


def _disconnected(value: Any) -> Tensor:
    return Tensor(convert_to_tensor(value).array)


def _stacked(*leaves: Tensor) -> Tensor:
    return Tensor(np.stack([leaf.array for leaf in leaves]))


data = SimpleNamespace(Dataset=Dataset)
queue = SimpleNamespace(FIFOQueue=FIFOQueue)
