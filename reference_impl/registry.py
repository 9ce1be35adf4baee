"""Registering gradients by operation type: `RegisterGradient`, `no_gradient`.

Only a type that has nothing registered can be registered; that it exists is not checked.
**Source**: TF 2.21 framework/ops.py; contract part 0b, lines 16 to 19.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

from reference_impl.errors import no_gradient_defined
from reference_impl.recording import Vjp
from reference_impl.rules import PRIMITIVES, not_differentiable, zeros_for_unused
from reference_impl.tensor import Tensor

_named: dict[str, Callable[..., Any] | None] = {}
"""What was registered for names that no operation of the oracle has; None: `no_gradient`."""


def no_gradient(op_type: str) -> None:
    """Declare operations of this type non-differentiable: a LookupError becomes None.

    **Errors**: KeyError if the type has a gradient; TypeError if `op_type` is not a string.
    """
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    _claim(op_type, None)
    if op_type in PRIMITIVES:
        not_differentiable(PRIMITIVES[op_type])


class RegisterGradient:
    """A decorator that registers `f(op, *cts)` as the gradient of an operation type.

    `op` has `inputs`, `outputs`, `type` and `get_attr`, as in TensorFlow.
    **Errors**: KeyError if the type has a gradient; TypeError if `op_type` is not a string.
    """

    def __init__(self, op_type: str) -> None:
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """Register the function, and return it."""
        _claim(self._op_type, f)
        if self._op_type in PRIMITIVES:
            PRIMITIVES[self._op_type].rule = _rule_of(self._op_type, f)
        return f


def _claim(op_type: str, f: Callable[..., Any] | None) -> None:
    op = PRIMITIVES.get(op_type)
    if op_type in _named or (op is not None and (op.rule or not op.differentiable)):
        raise KeyError(f"Registering two gradient with name '{op_type}'!")
    if op is None:
        _named[op_type] = f


def declared_vjp(name: str, op_type: str, inputs: Sequence[Any], outputs: Sequence[Tensor]) -> Vjp:
    """Return the gradient registered under `name` as the vjp of one executed operation.

    **Errors**: a name under which nothing is registered is a LookupError when it is asked for.
    """

    def vjp(*cts: Any) -> Sequence[Any]:
        if name not in _named:
            raise no_gradient_defined(op_type)
        f = _named[name]
        if f is None:
            return [None] * len(inputs)
        given = zeros_for_unused(cts, outputs)
        out = outputs[0] if len(outputs) == 1 else outputs
        return _rule_of(op_type, f)(given, out, *inputs)  # type: ignore[no-any-return]

    return vjp


def _rule_of(op_type: str, f: Callable[..., Any]) -> Callable[..., Any]:
    def registered_vjp(ct: Any, out: Any, *inputs: Any, **attributes: Any) -> Any:
        outputs = list(out) if isinstance(out, (list, tuple)) else [out]
        op = SimpleNamespace(
            inputs=inputs, outputs=outputs, type=op_type, get_attr=attributes.__getitem__
        )
        cts = ct if isinstance(ct, (list, tuple)) else [ct]
        cts_in = f(op, *cts)
        return cts_in if isinstance(cts_in, (list, tuple)) else [cts_in]

    return registered_vjp
