"""Datasets and queues: what passes through their state comes out unconnected.

**Source**: TensorFlow's autodiff guide, "Took gradients through a stateful object".
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from reference_impl.tensor import Tensor, convert_to_tensor


class Dataset:
    """The rows of a tensor, made anew by each iteration."""

    def __init__(self, rows: Any) -> None:
        self._rows = rows

    @classmethod
    def from_tensor_slices(cls, tensors: Any) -> Dataset:
        """Return the dataset of the rows of a tensor."""
        return cls(convert_to_tensor(tensors).array)

    def __iter__(self) -> Iterator[Tensor]:
        return map(Tensor, self._rows)


class FIFOQueue:
    """A queue of tensors, first in, first out."""

    def __init__(self, capacity: int, dtypes: Any, shapes: Any = None) -> None:
        self._elements: deque[Any] = deque(maxlen=capacity)

    def enqueue(self, vals: Any) -> None:
        """Put one element into the queue."""
        self._elements.append(convert_to_tensor(vals).array)

    def dequeue(self) -> Tensor:
        """Take the oldest element out of the queue."""
        return Tensor(self._elements.popleft())


data = SimpleNamespace(Dataset=Dataset)
queue = SimpleNamespace(FIFOQueue=FIFOQueue)
