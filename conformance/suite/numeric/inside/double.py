"""The oracle in double precision: every narrower floating type becomes float64 or complex128."""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.dtypes import ALL, DType, complex128, float64
from reference_impl.tensor import Tensor

WIDE = {"f": float64, "c": complex128}


def widen() -> None:
    """Make `tf.float32` mean float64, wherever it was already imported, and widen all births.

    A difference quotient of float32 values has three digits; one of float64 values has twelve.
    """
    for dtype in ALL:
        wide = WIDE.get(dtype.numpy_dtype.kind)
        if wide is not None and wide is not dtype:
            for attribute in DType.__slots__:
                setattr(dtype, attribute, getattr(wide, attribute))
    born = Tensor.__init__

    def born_wide(self: Tensor, array: Any) -> None:
        born(self, array)
        self.array = widened(self.array)

    Tensor.__init__ = born_wide  # type: ignore[method-assign]


def widened(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array in the widest type of its kind."""
    wide = WIDE.get(array.dtype.kind)
    return array if wide is None else array.astype(wide.numpy_dtype, copy=False)
