"""The table of operations and their rules.

`@primitive("TypeName")` turns a function of NumPy arrays into a recorded operation of tensors, and
`@vjp_of(operation)` registers the rule below it:

    @primitive("Cumsum", axis=int, reverse=bool)
    def cumsum(x, *, axis=0, reverse=False) -> array

    @vjp_of(cumsum)
    def cumsum_vjp(ct, out, x, *, axis, reverse) -> (ct_x,)

Inputs are positional and share one dtype. Attributes, which cannot carry a gradient, are keywords;
a converter makes of what a caller gives what the function takes. Callers may give them by position
too, behind the inputs; a list of inputs (`*values`) is one argument. A rule takes the cotangent of
the output, the output, the inputs and the attributes that it names, and calls recorded operations
only, so that it can be differentiated. The record does not keep the value of a parameter with an
underscore. A function in place of a cotangent makes it, and is called for a tracked input only.
"""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast

import numpy as np

from reference_impl import recording
from reference_impl.arrays import Array
from reference_impl.errors import InvalidArgumentError, missing_gradient
from reference_impl.recording import Values, thread
from reference_impl.tensor import IndexedSlices, Tensor, Variable, convert_to_tensor, dense

Out = TypeVar("Out")
Rule = Callable[..., Values]
Converter = Callable[[Any], Any]
Inputs = tuple[Any, ...]
Attributes = dict[str, Any]

NUMBERS, ORDERED, FLOATING, REAL, BOOLEANS, ANY = "fciu", "fiu", "fc", "f", "b", ""
"""What an operation takes: the kinds of NumPy's types."""

_array = operator.attrgetter("array")


class Primitive(Generic[Out]):
    """One recorded operation: its TensorFlow type name, its forward function, its rule."""

    def __init__(self, op_type: str, forward: Any, kinds: str, converters: Attributes) -> None:
        self.op_type = op_type
        self.forward = forward
        self.kinds = kinds
        self.input_names, attributes, self.variadic = _signature(forward)
        self.attribute_names = dict.fromkeys(attributes)
        self.defaults = {n: d for n, d in attributes.items() if d is not inspect.Parameter.empty}
        self.converters = tuple(converters.items())
        self.is_plain = not (attributes or self.variadic)
        self.rule: Rule | None = None
        self.rule_attributes: tuple[str, ...] | None = None  # None: all of them
        self.broadcasts = False
        self.keeps_slices = False
        self.unused_is_none: tuple[int, ...] = ()
        self.differentiable = True
        self.needs_out = True
        self.unneeded_inputs: tuple[int, ...] = ()
        functools.update_wrapper(self, forward)

    def __call__(self, *inputs: Any, **attributes: Any) -> Out:
        """Run the operation on anything that converts to tensors, and record it."""
        if attributes or not self.is_plain:
            inputs, attributes = self._bind(inputs, attributes)
        try:
            arrays = [*map(_array, inputs)]
        except AttributeError:  # neither tensors nor handles
            for x in inputs:
                if hasattr(x, "elementwise"):  # a composite knows how to apply an operation
                    return cast(Out, x.elementwise(self, inputs, attributes))
            inputs = to_tensors(inputs)
            arrays = [*map(_array, inputs)]
        dtype = arrays[0].dtype
        for array in arrays:
            if array.dtype is not dtype and array.dtype != dtype:
                raise self._dtype_error(inputs)
        if self.kinds and dtype.kind not in self.kinds:
            raise self._dtype_error(inputs)
        try:  # poles give inf and nan without a warning, as in TensorFlow
            if thread.quiet:
                result = self.forward(*arrays, **attributes)
            else:
                with np.errstate(all="ignore"):
                    result = self.forward(*arrays, **attributes)
        except (ValueError, IndexError) as error:
            raise self._refusal(arrays, error) from error
        several = type(result) is tuple
        outputs: Any = [Tensor(y) for y in result] if several else (Tensor(result),)
        if thread.recorders:
            self._record(inputs, outputs, attributes)
        return outputs if several else outputs[0]  # type: ignore[no-any-return]

    def _bind(self, given: Inputs, named: Attributes) -> tuple[Inputs, Attributes]:
        """Sort arguments into inputs and converted attributes; a `name` is taken, and ignored."""
        count, attributes = len(self.input_names), named
        if len(given) != count or named.keys() != self.attribute_names.keys():
            attributes = {**self.defaults, **named}
            attributes.update(zip(self.attribute_names, given[count:], strict=False))
            attributes.pop("name", None)
            given = given[:count]
            given += tuple([attributes.pop(n) for n in self.input_names if n in attributes])
            if len(given) != count or attributes.keys() != self.attribute_names.keys():
                takes = ", ".join([*self.input_names, *self.attribute_names])
                raise TypeError(f"{self.forward.__name__}() takes {takes}")
        for name, convert in self.converters:
            attributes[name] = convert(attributes[name])
        if self.variadic:
            given = tuple(given[0]) if isinstance(given[0], (list, tuple)) else given
            if not given:
                raise ValueError(f"{self.forward.__name__}() takes at least one tensor")
        return given, attributes

    def _record(self, inputs: Values, outputs: Values, attributes: Attributes) -> None:
        """Offer the executed operation to the recorders, with what its rule will need."""
        kept_inputs, kept_outputs = [*inputs], outputs if self.needs_out else (None,)
        for position in self.unneeded_inputs:
            kept_inputs[position] = None
        vjp = functools.partial(pull_back, self, kept_inputs, kept_outputs, attributes)
        recording.record_operation(self.op_type, inputs, outputs, vjp)

    def _refusal(self, arrays: list[Array], error: Exception) -> InvalidArgumentError:
        if len(arrays) == 2 and self.broadcasts:
            x, y = (str(list(a.shape)).replace(" ", "") for a in arrays)
            return InvalidArgumentError(f"Incompatible shapes: {x} vs. {y}", self.op_type)
        return InvalidArgumentError(str(error), self.op_type)

    def _dtype_error(self, inputs: Values) -> InvalidArgumentError:
        names = [x.dtype.long_name for x in inputs]
        message = f"Value for attr 'T' of {names[0]} is not in the list of allowed values"
        for position, name in enumerate(names):
            if name != names[0]:
                message = (
                    f"cannot compute {self.op_type} as input #{position}(zero-based) was expected "
                    f"to be a {names[0]} tensor but is a {name} tensor"
                )
        return InvalidArgumentError(message, self.op_type)


PRIMITIVES: dict[str, Primitive[Any]] = {}
"""Every operation by its TensorFlow type name; the rules are what a coverage report counts."""


def primitive(
    op_type: str, kinds: str = NUMBERS, **converters: Converter
) -> Callable[[Callable[..., Array]], Primitive[Tensor]]:
    """Register a function of arrays with one result as the operation `op_type`.

    kinds: the NumPy kinds that its inputs may have; empty for all.
    converters: by attribute, what makes a TensorFlow argument what the function takes.
    """
    return lambda forward: _register(Primitive[Tensor](op_type, forward, kinds, converters))


def primitive_with_outputs(
    op_type: str, kinds: str = NUMBERS, **converters: Converter
) -> Callable[[Callable[..., tuple[Array, ...]]], Primitive[list[Tensor]]]:
    """Register a function of arrays with several results as the operation `op_type`."""
    return lambda forward: _register(Primitive[list[Tensor]](op_type, forward, kinds, converters))


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
        names, attributes, variadic = _signature(rule)
        expected = 2 + len(op.input_names) - op.variadic
        fits = (len(names) - variadic, variadic) == (expected, op.variadic)
        if not fits or attributes.keys() - set(op.attribute_names):
            raise TypeError(
                f"{rule.__name__}{inspect.signature(rule)} does not fit {op.op_type}: a rule takes "
                f"(ct, out), then the operation's own {inspect.signature(op.forward)}"
            )
        op.rule, op.broadcasts, op.keeps_slices = rule, broadcasts, keeps_slices
        names_all = len(attributes) == len(op.attribute_names)
        op.rule_attributes = None if names_all else tuple(attributes)
        op.unused_is_none = unused_is_none
        op.needs_out = not names[1].startswith("_")
        op.unneeded_inputs = tuple(i for i, n in enumerate(names[2:]) if n.startswith("_"))
        return rule

    return register


def not_differentiable(op: Primitive[Out]) -> Primitive[Out]:
    """Declare that `op` has no derivative by design: its inputs are unconnected to its output."""
    op.differentiable = False
    return op


def pull_back(
    op: Primitive[Any], inputs: Values, outputs: Values, attributes: Attributes, *cts: Any
) -> Values:
    """Return one cotangent, or None, per input of an executed operation.

    cts: one cotangent per output; None for an output that nothing depends on.
    **Errors**: an operation without a rule is a LookupError.
    """
    if op.rule is None:
        if op.differentiable:
            raise missing_gradient(op.op_type)
        return [None] * len(inputs)
    if op.rule_attributes is not None:
        attributes = {name: attributes[name] for name in op.rule_attributes}
    if len(outputs) == 1:
        ct = cts[0] if op.keeps_slices else dense(cts[0])
        cts_in = op.rule(ct, outputs[0], *inputs, **attributes)
    else:
        given = zeros_for_unused(cts, outputs, op.unused_is_none)
        cts_in = op.rule(given, outputs, *inputs, **attributes)
    if not op.broadcasts:
        return cts_in
    return [
        ct if ct is None else ct.sum_to_shape(x.array.shape)
        for ct, x in zip(cts_in, inputs, strict=True)
    ]


def zeros_for_unused(cts: Values, outputs: Values, unused_is_none: Inputs = ()) -> list[Any]:
    """Return `cts` with zeros, of the output's shape and dtype, where an output was not used."""
    return [
        Tensor(np.zeros_like(out.array)) if ct is None and i not in unused_is_none else dense(ct)
        for i, (ct, out) in enumerate(zip(cts, outputs, strict=True))
    ]


def _register(op: Primitive[Out]) -> Primitive[Out]:
    if op.op_type in PRIMITIVES:
        raise KeyError(f"two operations of type {op.op_type}")
    PRIMITIVES[op.op_type] = op
    return op


def _signature(function: Callable[..., Any]) -> tuple[tuple[str, ...], dict[str, Any], bool]:
    """Return the names of inputs, the defaults of attributes, and whether inputs are a list."""
    parameters = inspect.signature(function).parameters.values()
    inputs = tuple(p.name for p in parameters if p.kind is not p.KEYWORD_ONLY)
    attributes = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}
    return inputs, attributes, any(p.kind is p.VAR_POSITIONAL for p in parameters)


def to_tensors(inputs: Values) -> tuple[Tensor, ...]:
    """Convert the inputs; Python values adopt the dtype of the first tensor among them."""
    typed = (x.dtype for x in inputs if isinstance(x, (Tensor, Variable, IndexedSlices)))
    known = next(typed, None)
    return tuple([convert_to_tensor(x, dtype_hint=known) for x in inputs])
