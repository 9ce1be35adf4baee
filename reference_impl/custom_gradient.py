"""Functions that bring their own gradient: custom_gradient, grad_pass_through, recompute_grad.

`f(*x)` returns `(y, grad_fn)`. On the tape, `y` depends on `x` and on the trainable variables that
`f` read, by `grad_fn` alone; what `f` did inside is replaced. Keyword arguments are no inputs: in
eager execution the declared gradient is silently bypassed for them (contract part 0b, 8).
**Source**: TF 2.21 custom_gradient.py (seeds/001); contract part 1, sections 12 and 13.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from reference_impl import nest, recording
from reference_impl.ops.passing import identity
from reference_impl.query import component_of, like_sources
from reference_impl.rules import zeros_for_unused
from reference_impl.tensor import Variable, convert_to_tensor, dense


class Bind:
    """A decorated function that, found on an instance, is bound to it like a method."""

    def __init__(self, f: Callable[..., Any], decorator: Callable[..., Any]) -> None:
        self._f = f
        self._decorator = decorator
        _make_decorator(f, self)

    def __get__(self, instance: Any, owner: Any) -> Any:
        if instance is None:
            return self
        return Bind(self._f.__get__(instance, owner), self._decorator)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the decorator with the function and its arguments."""
        return self._decorator(self._f, args, kwargs)


def custom_gradient(f: Callable[..., Any] | None = None) -> Any:
    """Decorate `f`, which returns `(y, grad_fn)`, so that `grad_fn` is the gradient of `y`.

    grad_fn: takes one cotangent per flattened output (zeros for an unused one); returns one
    cotangent or None per flattened argument. If `f` reads trainable variables that are not its
    arguments, `grad_fn` also takes `variables` and returns `(argument_cts, variable_cts)`.
    **Errors**: TypeError if variables were read and `grad_fn` has no `variables`; at gradient
    time ValueError for a wrong number of cotangents.
    """
    if f is None:
        return custom_gradient
    return Bind(f, _call_with_gradient)


def _call_with_gradient(f: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    arguments = nest.flatten(args)
    with _VariableWatcher() as watcher:
        result, grad_fn = f(*args, **kwargs)
    given = {id(x) for x in arguments + nest.flatten(kwargs)}
    variables = [v for v in watcher.variables.values() if id(v) not in given]
    if variables and not _takes_variables(grad_fn):
        raise TypeError(
            "@tf.custom_gradient grad_fn must accept keyword argument 'variables', "
            f"since function uses variables: {variables}"
        )
    results = nest.flatten(result)
    outputs = [identity(component_of(y)) for y in results]
    inputs = [convert_to_tensor(component_of(x)) for x in [*arguments, *variables]]

    def vjp(*cts: Any) -> Sequence[Any]:
        given = like_sources(results, zeros_for_unused(cts, outputs))
        return _declared_cotangents(grad_fn, given, variables, len(arguments))

    recording.record_operation(getattr(f, "__name__", "custom"), inputs, outputs, vjp)
    return like_sources(result, outputs)


def _declared_cotangents(
    grad_fn: Callable[..., Any], cts: Sequence[Any], variables: list[Variable], argument_count: int
) -> list[Any]:
    """Call `grad_fn` and check that it answers for every argument and every variable."""
    variable_cts: list[Any] = []
    if variables:
        argument_cts, variable_cts = grad_fn(*cts, variables=variables)
        if len(variable_cts) != len(variables):
            raise ValueError(
                "Must return gradient for each variable from @custom_gradient grad_fn."
            )
    else:
        argument_cts = grad_fn(*cts)
    flat = [component_of(ct) for ct in nest.flatten(argument_cts)]
    if len(flat) != argument_count:
        raise ValueError(
            f"custom_gradient function expected to return {argument_count} "
            f"gradients, but returned {len(flat)} instead."
        )
    return [*flat, *variable_cts]


class _VariableWatcher:
    """A recorder that collects the trainable variables used inside its context, in order."""

    def __init__(self) -> None:
        self.variables: dict[int, Variable] = {}

    def __enter__(self) -> _VariableWatcher:
        recording.push(self)
        return self

    def __exit__(self, *exception: object) -> None:
        recording.remove(self)

    def record(self, *operation: object) -> None:
        """Do nothing: operations are the business of the tapes outside."""

    def variable_accessed(self, variable: Variable) -> None:
        """Keep the variable."""
        self.variables.setdefault(variable.handle.key, variable)


def _takes_variables(grad_fn: Callable[..., Any]) -> bool:
    parameters = inspect.signature(grad_fn).parameters
    return "variables" in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def _make_decorator(f: Any, decorated: Any) -> Any:
    """Give `decorated` the name and text of `f`, and `f` itself as `__wrapped__`."""
    return functools.update_wrapper(decorated, f, updated=())


def grad_pass_through(f: Callable[..., Any]) -> Any:
    """Return a function with the values of `f` and the gradient of the identity.

    **Edges**: variables that `f` reads get None; `f` must have as many results as arguments.
    """

    @custom_gradient
    def passed_through(*args: Any, **kwargs: Any) -> Any:
        def identity_vjp(*cts: Any, variables: Any = None) -> Any:
            return cts if variables is None else (cts, [None] * len(variables))

        return f(*args, **kwargs), identity_vjp

    return _make_decorator(f, passed_through)


def recompute_grad(f: Callable[..., Any]) -> Any:
    """Return a function that records only its inputs, and runs `f` again for its gradient.

    **Edges**: unconnected arguments get zeros, tensors that `f` closes over None; variables may be
    both given and closed over, and are read again, as assigned since (contract part 0b, 11).
    **Errors**: NotImplementedError when the gradient itself is transposed (forward mode).
    """
    return Bind(f, _recomputed)


def _recomputed(f: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    values = [identity(x) if isinstance(x, Variable) else x for x in nest.flatten(args)]
    return custom_gradient(functools.partial(_checkpointed, f, args))(*values, **kwargs)


def _checkpointed(f: Callable[..., Any], args: Any, *values: Any, **kwargs: Any) -> Any:
    from reference_impl.tape import GradientTape

    with recording.stop_recording():
        result = f(*args, **kwargs)

    def recomputed_vjp(*cts: Any, variables: Any = None) -> Any:
        @custom_gradient
        def first_order(*cts: Any) -> Any:
            copies = nest.map_structure(identity, args)
            with GradientTape() as tape:
                tape.watch(copies)
                again = f(*copies, **kwargs)
            sources = [*copies, *(variables or [])]
            found = tape.gradient(again, sources, cts, unconnected_gradients="zero")
            grads = nest.map_structure(dense, found)

            def transposed(*unused: Any, **unused_variables: Any) -> Any:
                raise NotImplementedError(
                    f"recompute_grad tried to transpose grad of {f.__name__}. "
                    "Consider not using recompute_grad in forward modeautodiff"  # sic
                )

            return (grads[: len(copies)], grads[len(copies) :]), transposed

        argument_cts, variable_cts = first_order(*cts)
        return argument_cts if variables is None else (argument_cts, variable_cts)

    return result, recomputed_vjp
