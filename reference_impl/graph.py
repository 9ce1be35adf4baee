"""tf.function, and what works only inside one: symbolic gradients and overriding maps.

A function runs eagerly. While it runs, a `Graph` keeps every operation, watched or not, so that
`tf.gradients` can answer what a tape would have answered that watched `xs` from the beginning.
**Source**: TF 2.21 gradients_impl.py, gradients_util.py, framework/ops.py; contract s27, s28.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from reference_impl import nest, recording
from reference_impl.errors import no_gradient_defined
from reference_impl.ops.shape import reshape, stack
from reference_impl.query import trackable
from reference_impl.recording import Record
from reference_impl.registry import declared_vjp
from reference_impl.rules import PRIMITIVES
from reference_impl.tensor import Tensor, Variable, convert_to_tensor
from reference_impl.trace import Trace
from reference_impl.unconnected import UnconnectedGradients


class Graph:
    """The operations of one running function; a recorder like a tape."""

    def __init__(self) -> None:
        self._executed: list[tuple[Record, Sequence[Any], Sequence[Tensor]]] = []
        self._overrides: dict[str, str] = {}

    def record(self, record: Record, inputs: Sequence[Any], outputs: Sequence[Tensor]) -> None:
        """Keep the operation; an overridden one is recorded once more, by the tapes outside too."""
        name = self._overrides.get(record.op_type)
        if name is not None:
            vjp = declared_vjp(name, record.op_type, inputs, outputs)
            record = Record(record.op_type, inputs, outputs, vjp)
            for outer in self._outside():
                outer.record(record, inputs, outputs)
        self._executed.append((record, inputs, outputs))

    def variable_accessed(self, variable: Variable) -> None:
        """Do nothing: a graph watches nothing."""

    def trace_from(self, sources: Sequence[Any], stopped: Sequence[Any] = ()) -> Trace:
        """Return what a tape has seen that watched `sources`, with no way back past `stopped`."""
        trace = Trace(watch_accessed_variables=False)
        for source in sources:
            trace.watch(source.key)
        for record, inputs, outputs in self._executed:
            trace.record(record, inputs, outputs)
        trace.producer.update({tensor.key: None for tensor in stopped})
        return trace

    @contextmanager
    def gradient_override_map(self, op_type_map: dict[str, str]) -> Iterator[None]:
        """Give the operations built inside, by type, the gradients registered under other names."""
        before = self._overrides
        self._overrides = {**before, **op_type_map}
        try:
            yield
        finally:
            self._overrides = before

    @contextmanager
    def running(self) -> Iterator[None]:
        """Record what happens inside."""
        recording.push(self)
        try:
            yield
        finally:
            recording.remove(self)

    def _outside(self) -> list[recording.Recorder]:
        recorders = recording.thread.recorders
        return recorders[: recorders.index(self)] if self in recorders else []


def running_graph() -> Graph | None:
    """Return the graph of the innermost function that is running."""
    return next((r for r in reversed(recording.thread.recorders) if isinstance(r, Graph)), None)


def get_default_graph() -> Graph:
    """Return the graph of the running function; outside, one that nobody asks."""
    return running_graph() or Graph()


def function(func: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Return `func` as a function with a graph of its own; a decorator, with or without options.

    **Errors**: under a tape, an operation without a rule between what is watched and the results
    is a LookupError at the call, whatever is differentiated later (contract part 0b, 4).
    """
    if func is None:
        return functools.partial(function, **options)

    @functools.wraps(func, updated=())
    def called(*args: Any, **kwargs: Any) -> Any:
        tapes = [(r, len(r.records)) for r in recording.thread.recorders if isinstance(r, Trace)]
        with Graph().running():
            results = func(*args, **kwargs)
        for trace, before in tapes:
            refuse_missing_rules(trace.records[before:], nest.flatten(results))
        return results

    called.python_function = func  # type: ignore[attr-defined]
    return called


def refuse_missing_rules(records: Sequence[Record], targets: Sequence[Any]) -> None:
    """Raise LookupError if the targets depend on an operation that has no rule."""
    reached = {target.key for target in targets if isinstance(target, Tensor)}
    for record in reversed(records):
        if reached.isdisjoint(record.output_keys):
            continue
        op = PRIMITIVES.get(record.op_type)
        if op is not None and op.rule is None and op.differentiable:
            raise no_gradient_defined(record.op_type)
        if op is None or op.differentiable:
            reached.update(record.input_keys)


class AggregationMethod:
    """How a graph may add gradients up; here all are one sum."""

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    gate_gradients: bool = False,
    aggregation_method: Any = None,
    stop_gradients: Any = None,
    unconnected_gradients: Any = UnconnectedGradients.NONE,
) -> list[Any]:
    """Return d sum(ys * grad_ys) / d x for each x, always as a list.

    stop_gradients: what counts as constant, so that the derivatives are partial.
    **Errors**: RuntimeError outside a function; ValueError for another number of `grad_ys` or an
    unknown `unconnected_gradients`; TypeError for a complex y without its own; LookupError where a
    rule is missing.
    """
    graph = running_graph()
    if graph is None:
        raise RuntimeError(
            "tf.gradients is not supported when eager execution is enabled. "
            "Use tf.GradientTape instead."
        )
    unconnected = UnconnectedGradients(unconnected_gradients)
    targets = [trackable(y) for y in _as_list(ys)]
    sources = [trackable(x) for x in _as_list(xs)]
    seeds = _seeds(grad_ys, targets)
    stopped = [trackable(x) for x in _as_list([] if stop_gradients is None else stop_gradients)]
    trace = graph.trace_from(sources, stopped)
    refuse_missing_rules(trace.records, targets)
    return unconnected.fill(trace.walk(targets, sources, seeds), sources)


def _seeds(grad_ys: Any, targets: Sequence[Any]) -> list[Any]:
    given = [None] * len(targets) if grad_ys is None else _as_list(grad_ys)
    if len(given) != len(targets):
        raise ValueError(f"Length mismatch. Passed {len(given)} grad_ys for {len(targets)} ys")
    for seed, y in zip(given, targets, strict=True):
        if seed is None and y.array.dtype.kind == "c":
            raise TypeError(
                f"Gradients of complex tensors ({y}) must set grad_ys (y.dtype = {y.dtype!r})"
            )
    return [
        None if seed is None else convert_to_tensor(seed, dtype_hint=y.dtype)
        for seed, y in zip(given, targets, strict=True)
    ]


def hessians(ys: Any, xs: Any, name: str = "hessians", **options: Any) -> list[Tensor]:
    """Return for each x the second derivatives of sum(ys), of shape x.shape + x.shape.

    **Errors**: as `gradients`; a first derivative that does not depend on x is a ValueError.
    """
    results = []
    for x, slope in zip(_as_list(xs), gradients(ys, xs, **options), strict=True):
        flat = reshape(slope, [-1])
        rows = [gradients(flat[i], x, **options)[0] for i in range(len(flat))]
        results.append(reshape(stack(rows), (*x.shape, *x.shape)))
    return results


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]
