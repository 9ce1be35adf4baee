"""TensorFlow with its registry of gradients wrapped: it tells what rules are called, or breaks one.

What it tells is logged, so that it comes with the answer of the cell: a warning is one line of JSON
behind `PREFIX`. `breaks`, the last line of a program, names the rule that is broken meanwhile.
"""

from __future__ import annotations

import functools
import json
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import tensorflow as tf
from tensorflow.python import pywrap_tfe
from tensorflow.python.eager import forwardprop, imperative_grad
from tensorflow.python.framework import op_def_registry, ops
from tensorflow.python.ops import gradients_util
from tensorflow.python.platform import tf_logging

from conformance.suite.rules.inside.mistakes import (
    MISTAKES,
    Grads,
    Rule,
    broadcast_shapes,
    is_float,
    leaves,
)

PREFIX = "rule: "
"""What marks a warning as ours."""
PER_LINE = 40
"""Names in one warning."""
PLAIN = ("bool", "int", "float", "string", "list(int)", "list(float)", "list(string)")
"""Types of attributes that change what an operation computes; the others are its signature."""
ORDER = "_order_of_gradient"
"""The attribute of a tensor that says of which order of gradient it is a result."""

_logger = logging.getLogger("tensorflow")


@dataclass
class _State:
    """What is broken, the orders of the queries that are running, and what was told already."""

    broken: tuple[str, str] = ("", "")
    orders: list[int] = field(default_factory=list)
    told_names: bool = False


_state = _State()


def breaks(rule: str, mistake: str) -> None:
    """From now on the rule makes the mistake, and no other does."""
    _state.broken = (rule, mistake)


def _tell(**facts: Any) -> None:
    """Tell a fact once in each cell, as TensorFlow counts: the worker empties its counters."""
    line = json.dumps(facts)
    if not tf_logging._GetNextLogCountPerToken((PREFIX, line)):
        _logger.warning("%s%s", PREFIX, line)


# ----- the rules -----


def _wrapped(name: str, rule: Rule) -> Rule:
    @functools.wraps(rule)
    def called(operation: Any, *grads: Any) -> Any:
        broken, mistake = _state.broken
        if not broken:
            _tell_call(name, operation, grads)
        if broken != name:
            return rule(operation, *grads)
        right = _Right(rule, operation, grads)
        try:
            wrong = MISTAKES[mistake](right, operation, grads)
        except Exception:
            if not right.answers:  # it raises, mistake or not
                _tell(differs=False)
            raise
        differs = _differs(mistake, wrong, right)
        if differs is not None:
            _tell(differs=differs)
        return wrong

    return called


class _Right:
    """A rule whose right answer is asked for once: what a mistake leaves alone stays the same."""

    def __init__(self, rule: Rule, operation: Any, grads: Grads) -> None:
        self.rule = rule
        self.operation = operation
        self.grads = grads
        self.answers: list[Any] = []

    def __call__(self, operation: Any, *grads: Any) -> Any:
        pairs = zip((operation, *grads), (self.operation, *self.grads), strict=True)
        if any(one is not other for one, other in pairs):
            return self.rule(operation, *grads)
        if not self.answers:
            self.answers.append(self.rule(operation, *grads))
        return self.answers[0]

    def answer(self) -> Any:
        """The right answer."""
        return self(self.operation, *self.grads)


def _differs(mistake: str, wrong: Any, right: _Right) -> bool | None:
    """Whether a mistake shows in the bits of an answer; nobody knows in a graph, without values.

    The cut shows in what the answer depends on. What a mistake leaves alone differs nowhere.
    """
    if mistake == "second_cut":
        return _depends(right)
    if not tf.executing_eagerly():
        same = right.answers and all(
            one is other for one, other in zip(leaves(wrong), leaves(right.answer()), strict=True)
        )
        return False if same else None
    pairs = zip(leaves(wrong), leaves(right.answer()), strict=True)
    return any(_bits(one) != _bits(other) for one, other in pairs)


def _bits(value: Any) -> Any:
    """What tells two gradients apart; what has no values is its own."""
    if isinstance(value, tf.IndexedSlices):
        return _bits(value.values), _bits(value.indices)
    if not hasattr(value, "numpy") or value.dtype in (tf.variant, tf.resource):
        return value if value is None else id(value)
    return value.shape.as_list(), value.dtype.name, value.numpy().tobytes()


def _depends(right: _Right) -> bool:
    """Whether a rule's answer has a derivative by what it was called with."""
    operation, grads = right.operation, right.grads
    values = [*grads, *(operation.inputs or ()), *(operation.outputs or ())]
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch([value for value in values if is_float(value)])
        found = [value for value in leaves(right.rule(operation, *grads)) if is_float(value)]
        return any(pywrap_tfe.TFE_Py_TapeSetPossibleGradientTypes([value]) for value in found)


# ----- what is told of a call -----


def _tell_call(name: str, operation: Any, grads: Grads) -> None:
    if not _state.told_names:
        _state.told_names = True
        for start in range(0, len(RULES), PER_LINE):
            _tell(registered=RULES[start : start + PER_LINE])
    inputs = [value for value in operation.inputs or () if is_float(value)]
    outputs = [value for value in operation.outputs or () if is_float(value)]
    floats = [*inputs, *outputs, *filter(is_float, grads)]
    _tell(
        rule=name,
        order=_order_of(inputs + outputs),
        dtypes=sorted({value.dtype.name for value in floats}),
        ranks=sorted({value.shape.rank for value in floats if value.shape.rank is not None}),
        attributes=list(_attributes_of(operation)),
        broadcasts=bool(broadcast_shapes(operation, grads)),
    )


def _attributes_of(operation: Any) -> Iterator[str]:
    declared = op_def_registry.get(operation.type)
    for attribute in declared.attr if declared else ():
        if attribute.type in PLAIN and not attribute.name.startswith("_"):
            try:
                value = operation.get_attr(attribute.name)
            except (KeyError, ValueError):  # an eager operation does not tell its defaults
                continue
            yield f"{attribute.name}={_plain(value)}"[:60]


def _plain(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return f"[{', '.join(map(_plain, value))}]" if isinstance(value, list) else str(value)


# ----- the order of a gradient -----


def _order_of(values: Any) -> int:
    """The order of the running query, which is above that of every gradient that it meets."""
    met = 1 + max((getattr(value, ORDER, 0) for value in values), default=0)
    if not _state.orders:
        return met
    _state.orders[-1] = max(_state.orders[-1], met)
    return _state.orders[-1]


def _query(asked: Callable[..., Any], target: int) -> Callable[..., Any]:
    """A query that marks its answers with its order; `target` is the position of its argument."""

    @functools.wraps(asked)
    def query(*arguments: Any, **options: Any) -> Any:
        _state.orders.append(1)
        try:
            _order_of(leaves(arguments[target]))
            answers = asked(*arguments, **options)
            for answer in leaves(answers):
                gradient = answer.values if isinstance(answer, tf.IndexedSlices) else answer
                if is_float(gradient):
                    setattr(gradient, ORDER, _state.orders[-1])
            return answers
        finally:
            _state.orders.pop()

    return query


def _traced_anew(*arguments: Any, **options: Any) -> Any:
    """Forward mode traces a rule once for a process: here for each call, so that each is seen."""
    forwardprop._jvp_function_cache.clear()
    forwardprop._TRACE_COUNT.clear()
    return forwardprop._jvp_dispatch(*arguments, **options)


def _wrap(registry: dict[str, dict[str, Any]]) -> list[str]:
    """Wrap every rule of the registry; their names."""
    rules = {name: entry for name, entry in registry.items() if entry["type"] is not None}
    for name, entry in rules.items():
        entry["type"] = _wrapped(name, entry["type"])
    return sorted(rules)


RULES = _wrap(ops.gradient_registry._registry)
"""The names of the registered gradients."""
imperative_grad.imperative_grad = _query(imperative_grad.imperative_grad, target=1)
gradients_util._GradientsHelper = _query(gradients_util._GradientsHelper, target=0)
pywrap_tfe.TFE_Py_RegisterJVPFunction(_traced_anew)
tf.breaks_rule = breaks
