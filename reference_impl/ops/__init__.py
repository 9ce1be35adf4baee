"""The operations. Importing this package attaches to tensors and variables what is made of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reference_impl.broadcasting import sum_to_shape
from reference_impl.ops import arithmetic, indexing, linalg, nondifferentiable, piecewise
from reference_impl.tensor import Operators, Variable

_BINARY: dict[str, Any] = {
    "add": arithmetic.add,
    "sub": arithmetic.subtract,
    "mul": arithmetic.multiply,
    "truediv": arithmetic.divide,
    "floordiv": arithmetic.floordiv,
    "mod": arithmetic.floormod,
    "pow": arithmetic.pow,
    "matmul": linalg.matmul,
}
_COMPARISONS: dict[str, Any] = {
    "lt": nondifferentiable.less,
    "le": nondifferentiable.less_equal,
    "gt": nondifferentiable.greater,
    "ge": nondifferentiable.greater_equal,
}


def _method(operation: Any, *, swapped: bool = False) -> Callable[[Any, Any], Any]:
    call = operation.__call__  # a bound method is called faster than an object
    return (lambda x, y: call(y, x)) if swapped else (lambda x, y: call(x, y))


_METHODS: dict[str, Callable[..., Any]] = {
    **{f"__{name}__": _method(operation) for name, operation in _BINARY.items()},
    **{f"__r{name}__": _method(operation, swapped=True) for name, operation in _BINARY.items()},
    **{f"__{name}__": _method(operation) for name, operation in _COMPARISONS.items()},
    "__eq__": lambda x, y: False if y is None else nondifferentiable.equal(x, y),
    "__ne__": lambda x, y: True if y is None else nondifferentiable.not_equal(x, y),
    "__neg__": lambda x: arithmetic.negative(x),
    "__abs__": lambda x: piecewise.abs(x),
    "__getitem__": lambda x, index: indexing.strided_slice(x, index),
    "sum_to_shape": lambda ct, shape: (
        ct if ct.array.shape == shape else sum_to_shape(ct, shape=shape)
    ),
}
_OF_VARIABLES = {"gather_nd": _method(indexing.gather_nd), "sparse_read": _method(indexing.gather)}
for _owner, _methods in ((Operators, _METHODS), (Variable, _OF_VARIABLES)):
    for _name, _function in _methods.items():
        setattr(_owner, _name, _function)
