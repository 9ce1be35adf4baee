"""`TensorShape`: a tuple of sizes with TensorFlow's questions."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any


class TensorShape(tuple[int, ...]):
    """The fully defined shape of a tensor; equal to the tuple or list of its sizes."""

    __slots__ = ()

    def __new__(cls, dims: Iterable[int]) -> TensorShape:
        """Return the shape with these sizes."""
        return super().__new__(cls, (int(dim) for dim in dims))

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self)

    @property
    def ndims(self) -> int:
        """The number of axes."""
        return len(self)

    def as_list(self) -> list[int]:
        """Return the sizes as a list."""
        return list(self)

    def num_elements(self) -> int:
        """Return the product of the sizes, 1 for a scalar."""
        return math.prod(self)

    def is_fully_defined(self) -> bool:
        """Return True: an eager tensor has no unknown size."""
        return True

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """Return the shape itself; a lower rank is a ValueError."""
        if len(self) < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (tuple, list)) and tuple(self) == tuple(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return tuple.__hash__(self)

    def __getitem__(self, index: Any) -> Any:
        part = tuple.__getitem__(self, index)
        return TensorShape(part) if isinstance(index, slice) else part

    def __add__(self, other: Iterable[int]) -> TensorShape:  # type: ignore[override]
        return TensorShape((*self, *other))

    def __str__(self) -> str:
        return str(tuple(self))

    def __repr__(self) -> str:
        return f"TensorShape({list(self)})"
