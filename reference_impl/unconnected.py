"""What `gradient` returns for a source that no path reaches: None, or zeros on request."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

import numpy as np

from reference_impl.tensor import Tensor


class UnconnectedGradients(enum.Enum):
    """NONE: unconnected is None. ZERO: it is zeros of the source's own shape and dtype."""

    NONE = "none"
    ZERO = "zero"

    @classmethod
    def _missing_(cls, value: object) -> Any:
        raise ValueError(f"Unknown value for unconnected_gradients: {value!r}")

    def fill(self, results: Sequence[Any], sources: Sequence[Any]) -> list[Any]:
        """Return `results`, with zeros for None if ZERO is asked for."""
        if self is UnconnectedGradients.NONE:
            return list(results)
        return [
            zeros_like(source) if result is None else result
            for result, source in zip(results, sources, strict=True)
        ]


def zeros_like(source: Any) -> Tensor:
    """Return zeros of the shape and dtype of a tensor or handle; empty strings for strings."""
    if source.array.dtype.kind == "O":
        return Tensor(np.full(source.array.shape, b"", dtype=object))
    return Tensor(np.zeros_like(source.array))
