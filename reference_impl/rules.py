"""The table of operations and their rules.

`@primitive("TypeName")` turns a function of NumPy arrays into a recorded operation of tensors.
Its inputs are positional and share one dtype; what cannot carry a gradient (axes, indices,
conditions) is keyword-only. `@vjp_of(operation)` registers the rule below it:

    def maximum_vjp(ct, out, x, y) -> (ct_x, ct_y)

A rule receives the cotangent of the output, the output, the inputs and the keywords; it returns
one cotangent, or None, for each input. It calls recorded operations only, so that its own
cotangents can be differentiated. A parameter that begins with an underscore is one that the rule
does not need: the record does not keep its value alive.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar, cast

import numpy as np

from reference_impl import recording
from reference_impl.arrays import Array
from reference_impl.broadcasting import sum_to_shape
from reference_impl.errors import InvalidArgumentError, missing_gradient
from reference_impl.recording import thread
from reference_impl.tensor import (
    CompositeTensor,
    Handle,
    IndexedSlices,
    Tensor,
    Variable,
    convert_to_tensor,
)

Out = TypeVar("Out")
Rule = Callable[..., Sequence[Any]]

NUMBERS = "fciu"
FLOATING = "fc"
REAL = "f"
BOOLEANS = "b"
ANY = ""


_RECORDABLE = frozenset({Tensor, Handle})


class Primitive(Generic[Out]):
    """One recorded operation: its TensorFlow type name, its forward function, its rule."""

    def __init__(self, op_type: str, forward: Callable[..., Any], kinds: str) -> None:
        self.op_type = op_type
        self.forward = forward
        self.kinds = kinds
        self.rule: Rule | None = None
        self.broadcasts = False
        self.keeps_slices = False
        self.unused_is_none: tuple[int, ...] = ()
        self.differentiable = True
        self.needs_out = True
        self.needs_inputs: tuple[bool, ...] = ()
        self.needs_all_inputs = True
        self.input_names, self.attribute_names, self.variadic = _signature(forward)
        functools.update_wrapper(self, forward)

    def __call__(self, *inputs: Any, **attributes: Any) -> Out:
        """Run the operation on anything that converts to tensors, and record it."""
        if attributes and not attributes.keys() <= self.attribute_names:
            inputs, attributes = self._bind(inputs, attributes)
        for x in inputs:
            if type(x) not in _RECORDABLE:
                for y in inputs:
                    if isinstance(y, CompositeTensor) and y.elementwise is not None:
                        return cast(Out, y.elementwise(self, inputs, attributes))
                inputs = to_tensors(inputs)
                break
        arrays = [x.array for x in inputs]
        if arrays and not self._accepts(arrays):
            raise self._dtype_error(inputs)
        try:  # poles give inf and nan without a warning, as in TensorFlow
            if thread.quiet:
                result = self.forward(*arrays, **attributes)
            else:
                with np.errstate(all="ignore"):
                    result = self.forward(*arrays, **attributes)
        except ValueError as error:
            raise self._refusal(arrays, error) from error
        several = type(result) is tuple
        outputs: Any = tuple([Tensor(y) for y in result]) if several else (Tensor(result),)
        if thread.recorders and not thread.stopped:
            self._record(inputs, outputs, attributes)
        return outputs if several else outputs[0]  # type: ignore[no-any-return]

    def _record(
        self, inputs: Sequence[Any], outputs: Sequence[Tensor], attributes: dict[str, Any]
    ) -> None:
        """Offer the executed operation to the recorders, with what its rule will need."""
        kept_inputs, kept_outputs = inputs, outputs if self.needs_out else (None,)
        if not self.needs_all_inputs:
            kept_inputs = [
                x if needed else None for x, needed in zip(inputs, self.needs_inputs, strict=True)
            ]
        out_shape = outputs[0].array.shape
        vjp = functools.partial(pull_back, self, kept_inputs, kept_outputs, out_shape, attributes)
        recording.record_operation(self.op_type, inputs, outputs, vjp)

    def _refusal(self, arrays: list[Array], error: ValueError) -> InvalidArgumentError:
        if len(arrays) == 2 and self.broadcasts:
            x, y = (str(list(a.shape)).replace(" ", "") for a in arrays)
            return InvalidArgumentError(f"Incompatible shapes: {x} vs. {y}", self.op_type)
        return InvalidArgumentError(str(error), self.op_type)

    def _accepts(self, arrays: list[Array]) -> bool:
        """True if all inputs have one dtype, and it is one that the operation takes."""
        dtype = arrays[0].dtype
        for array in arrays:
            if array.dtype is not dtype and array.dtype != dtype:
                return False
        return not self.kinds or dtype.kind in self.kinds

    def _dtype_error(self, inputs: Sequence[Tensor]) -> InvalidArgumentError:
        expected = inputs[0].dtype
        for position, x in enumerate(inputs):
            if x.dtype != expected:
                return InvalidArgumentError(
                    f"cannot compute {self.op_type} as input #{position}(zero-based) was expected "
                    f"to be a {expected.long_name} tensor but is a {x.dtype.long_name} tensor",
                    self.op_type,
                )
        return InvalidArgumentError(
            f"Value for attr 'T' of {expected.long_name} is not in the list of allowed values",
            self.op_type,
        )

    def _bind(
        self, inputs: tuple[Any, ...], attributes: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Accept inputs by keyword, and the `name` that every TensorFlow function takes."""
        attributes.pop("name", None)
        named = {n: attributes.pop(n) for n in self.input_names if n in attributes}
        for unexpected in attributes.keys() - self.attribute_names:
            raise TypeError(
                f"{self.forward.__name__}() got an unexpected keyword argument '{unexpected}'"
            )
        if not named:
            return inputs, attributes
        bound = inspect.signature(self.forward).bind(*inputs, **named, **attributes)
        return bound.args, attributes

    def __repr__(self) -> str:
        return f"<primitive {self.op_type}>"


PRIMITIVES: dict[str, Primitive[Any]] = {}
"""Every operation by its TensorFlow type name; the rules are what a coverage report counts."""


def primitive(
    op_type: str, kinds: str = NUMBERS
) -> Callable[[Callable[..., Array]], Primitive[Tensor]]:
    """Register a function of arrays with one result as the operation `op_type`.

    kinds: the NumPy kinds that its inputs may have; empty for all.
    """
    return lambda forward: _register(Primitive[Tensor](op_type, forward, kinds))


def primitive_with_outputs(
    op_type: str, kinds: str = NUMBERS
) -> Callable[[Callable[..., tuple[Array, ...]]], Primitive[tuple[Tensor, ...]]]:
    """Register a function of arrays with several results as the operation `op_type`."""
    return lambda forward: _register(Primitive[tuple[Tensor, ...]](op_type, forward, kinds))


def vjp_of(
    op: Primitive[Any],
    *,
    broadcasts: bool = False,
    keeps_slices: bool = False,
    unused_is_none: tuple[int, ...] = (),
) -> Callable[[Rule], Rule]:
    """Register a rule for `op`.

    broadcasts: the inputs broadcast, so each cotangent is summed to its input's shape.
    keeps_slices: the rule passes `IndexedSlices` on; otherwise it is given dense cotangents.
    unused_is_none: the outputs whose cotangent is None if they are not used; others get zeros.
    **Errors**: a rule whose parameters do not fit the operation is refused here, at import.
    """

    def register(rule: Rule) -> Rule:
        names, attribute_names, variadic = _signature(rule)
        expected = 2 + len(op.input_names)
        if (len(names), attribute_names, variadic) != (expected, op.attribute_names, op.variadic):
            raise TypeError(
                f"{rule.__name__}{inspect.signature(rule)} does not fit {op.op_type}: a rule takes "
                f"(ct, out), then the operation's own {inspect.signature(op.forward)}"
            )
        op.rule, op.broadcasts, op.keeps_slices = rule, broadcasts, keeps_slices
        op.unused_is_none = unused_is_none
        op.needs_out = not names[1].startswith("_")
        op.needs_inputs = tuple(not name.startswith("_") for name in names[2:])
        op.needs_all_inputs = all(op.needs_inputs)
        return rule

    return register


def not_differentiable(op: Primitive[Any]) -> None:
    """Declare that `op` has no derivative by design: its inputs are unconnected to its output."""
    op.differentiable = False


def pull_back(
    op: Primitive[Any],
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    out_shape: tuple[int, ...],
    attributes: dict[str, Any],
    *cts: Any,
) -> Sequence[Any]:
    """Return one cotangent, or None, per input of an executed operation.

    cts: one cotangent per output; None for an output that nothing depends on.
    **Errors**: an operation without a rule is a LookupError.
    """
    if not op.differentiable:
        return [None] * len(inputs)
    if op.rule is None:
        raise missing_gradient(op.op_type)
    if len(outputs) == 1:
        ct = cts[0] if op.keeps_slices else _dense(cts[0])
        cts_in = op.rule(ct, outputs[0], *inputs, **attributes)
    else:
        given = zeros_for_unused(cts, outputs, op.unused_is_none)
        cts_in = op.rule(given, outputs, *inputs, **attributes)
    if op.broadcasts:
        return [
            None if ct_x is None else sum_to_shape(ct_x, x.array.shape, out_shape)
            for ct_x, x in zip(cts_in, inputs, strict=True)
        ]
    return cts_in


def _dense(ct: Any) -> Any:
    return convert_to_tensor(ct) if type(ct) is IndexedSlices else ct


def zeros_for_unused(
    cts: Sequence[Any], outputs: Sequence[Tensor], unused_is_none: tuple[int, ...] = ()
) -> list[Any]:
    """Return `cts` with zeros, of the output's shape and dtype, where an output was not used."""
    return [
        Tensor(np.zeros_like(out.array)) if ct is None and i not in unused_is_none else _dense(ct)
        for i, (ct, out) in enumerate(zip(cts, outputs, strict=True))
    ]


def _register(op: Primitive[Out]) -> Primitive[Out]:
    if op.op_type in PRIMITIVES:
        raise KeyError(f"two operations of type {op.op_type}")
    PRIMITIVES[op.op_type] = op
    return op


def _signature(function: Callable[..., Any]) -> tuple[tuple[str, ...], frozenset[str], bool]:
    """Return the names of inputs, the names of keywords, and whether inputs are variadic."""
    parameters = inspect.signature(function).parameters.values()
    inputs = tuple(p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD)
    keywords = frozenset(p.name for p in parameters if p.kind is p.KEYWORD_ONLY)
    return inputs, keywords, any(p.kind is p.VAR_POSITIONAL for p in parameters)


def to_tensors(inputs: Sequence[Any]) -> tuple[Tensor, ...]:
    """Convert the inputs; Python values adopt the dtype of the first tensor among them."""
    for x in inputs:
        if type(x) is not Tensor:
            break
    else:
        return tuple(inputs)
    known = next(
        (x.dtype for x in inputs if isinstance(x, (Tensor, Variable, IndexedSlices))), None
    )
    return tuple(convert_to_tensor(x, dtype_hint=known) for x in inputs)
