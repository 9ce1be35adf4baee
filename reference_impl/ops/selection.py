"""Selection by a condition: the operation that branches of a rule are made of.

**Source**: TF 2.21 `math_grad.py` `_SelectGradV2`; contract part 1, line 107.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.arrays import Array, as_indices
from reference_impl.rules import ANY, primitive, vjp_of
from reference_impl.tensor import Tensor

Cts = tuple[Tensor | None, ...]


@primitive("SelectV2", ANY, condition=as_indices)
def _select(x: Array, y: Array, *, condition: Array) -> Array:
    return np.where(condition, x, y)


@vjp_of(_select, broadcasts=True)
def select_vjp(ct: Tensor, _out: Tensor, x: Tensor, y: Tensor, *, condition: Array) -> Cts:
    """Ct goes to the branch that was taken, zero to the other.

    **Edges**: selected, not multiplied by a mask, so an infinite ct leaves no nan behind.
    """
    zero = Tensor(np.zeros((), ct.array.dtype))
    return where(condition, ct, zero), where(condition, zero, ct)


def where(condition: Any, x: Any, y: Any) -> Tensor:
    """Return x where the condition holds and y elsewhere."""
    return _select(x, y, condition=condition)
