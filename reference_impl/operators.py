"""Python's operators on tensors and variables: each is a recorded operation of `ops`.

`ops` fills the table `OPERATORS` when it is imported; before that there is nothing to apply.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reference_impl.tensor import Tensor

OPERATORS: dict[str, Callable[..., Tensor]] = {}


class Operators:
    """The operators that `Tensor` and `Variable` share; comparisons are elementwise."""

    __slots__ = ()
    __array_priority__ = 100  # numpy_array * tensor is the tensor's business

    def __add__(self, other: Any) -> Tensor:
        return OPERATORS["add"](self, other)

    def __radd__(self, other: Any) -> Tensor:
        return OPERATORS["add"](other, self)

    def __sub__(self, other: Any) -> Tensor:
        return OPERATORS["subtract"](self, other)

    def __rsub__(self, other: Any) -> Tensor:
        return OPERATORS["subtract"](other, self)

    def __mul__(self, other: Any) -> Tensor:
        return OPERATORS["multiply"](self, other)

    def __rmul__(self, other: Any) -> Tensor:
        return OPERATORS["multiply"](other, self)

    def __truediv__(self, other: Any) -> Tensor:
        return OPERATORS["divide"](self, other)

    def __rtruediv__(self, other: Any) -> Tensor:
        return OPERATORS["divide"](other, self)

    def __floordiv__(self, other: Any) -> Tensor:
        return OPERATORS["floordiv"](self, other)

    def __rfloordiv__(self, other: Any) -> Tensor:
        return OPERATORS["floordiv"](other, self)

    def __mod__(self, other: Any) -> Tensor:
        return OPERATORS["floormod"](self, other)

    def __rmod__(self, other: Any) -> Tensor:
        return OPERATORS["floormod"](other, self)

    def __pow__(self, other: Any) -> Tensor:
        return OPERATORS["pow"](self, other)

    def __rpow__(self, other: Any) -> Tensor:
        return OPERATORS["pow"](other, self)

    def __matmul__(self, other: Any) -> Tensor:
        return OPERATORS["matmul"](self, other)

    def __rmatmul__(self, other: Any) -> Tensor:
        return OPERATORS["matmul"](other, self)

    def __neg__(self) -> Tensor:
        return OPERATORS["negative"](self)

    def __abs__(self) -> Tensor:
        return OPERATORS["abs"](self)

    def __invert__(self) -> Tensor:
        return OPERATORS["logical_not"](self)

    def __and__(self, other: Any) -> Tensor:
        return OPERATORS["logical_and"](self, other)

    def __or__(self, other: Any) -> Tensor:
        return OPERATORS["logical_or"](self, other)

    def __xor__(self, other: Any) -> Tensor:
        return OPERATORS["logical_xor"](self, other)

    def __lt__(self, other: Any) -> Tensor:
        return OPERATORS["less"](self, other)

    def __le__(self, other: Any) -> Tensor:
        return OPERATORS["less_equal"](self, other)

    def __gt__(self, other: Any) -> Tensor:
        return OPERATORS["greater"](self, other)

    def __ge__(self, other: Any) -> Tensor:
        return OPERATORS["greater_equal"](self, other)

    def __eq__(self, other: Any) -> Any:
        return False if other is None else OPERATORS["equal"](self, other)

    def __ne__(self, other: Any) -> Any:
        return True if other is None else OPERATORS["not_equal"](self, other)

    def __getitem__(self, index: Any) -> Tensor:
        return OPERATORS["strided_slice"](self, index)
