"""Selection by a condition: the operation that branches of a rule are made of.

**Source**: TF 2.21 `math_grad.py` `_SelectGradV2`; contract part 1, line 107.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.arrays import Array
from reference_impl.rules import ANY, primitive, vjp_of
from reference_impl.tensor import Tensor, convert_to_tensor

Cts = tuple[Tensor | None, ...]


@primitive("SelectV2", ANY)
def _select(x: Array, y: Array, *, condition: Array) -> Array:
    return np.where(condition, x, y)


@vjp_of(_select, broadcasts=True)
def select_vjp(ct: Tensor, _out: Tensor, x: Tensor, y: Tensor, *, condition: Array) -> Cts:
    """Ct goes to the branch that was taken, zero to the other.

    **Edges**: selected, not multiplied by a mask, so an infinite ct leaves no nan behind.
    """
    zero = Tensor(np.zeros((), ct.array.dtype))
    return where(condition, ct, zero), where(condition, zero, ct)


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """Return x where the condition holds and y elsewhere; without x and y, the true positions."""
    mask = convert_to_tensor(condition).array
    if x is None and y is None:
        return Tensor(np.argwhere(mask).astype(np.int64))
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    return _select(x, y, condition=mask)
