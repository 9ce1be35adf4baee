"""Control flow as functions: in eager execution, plain Python control flow.

Only what was executed is recorded: an untaken branch is unconnected (contract part 1, lines 52-53;
in a TensorFlow graph it is zero).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from reference_impl import nest
from reference_impl.graph import running_graph
from reference_impl.ops.passing import stop_gradient
from reference_impl.ops.shape import stack, unstack
from reference_impl.tensor import convert_to_tensor


def cond(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any]) -> Any:
    """Return `true_fn()` or `false_fn()`."""
    return true_fn() if bool(pred) else false_fn()


def switch_case(branch_index: Any, branch_fns: Sequence[Callable[[], Any]]) -> Any:
    """Return the result of one branch; an index without a branch takes the last."""
    chosen = int(branch_index)
    return branch_fns[chosen if 0 <= chosen < len(branch_fns) else -1]()


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Sequence[Any],
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    maximum_iterations: Any = None,
) -> Any:
    """Return the loop variables after running `body` while `cond` holds.

    **Edges**: in a function, `back_prop=False` leaves the results unconnected.
    **Errors**: a body that returns another structure is a TypeError or ValueError; a list for a
    tuple only where `maximum_iterations` is given, and in a function not even there.
    """
    in_function = running_graph() is not None
    values = nest.map_structure(convert_to_tensor, loop_vars)
    iterations = 0
    while (maximum_iterations is None or iterations < int(maximum_iterations)) and cond(*values):
        values = body(*values)
        if in_function:
            values = nest.pack_sequence_as(loop_vars, nest.flatten(values))
        elif maximum_iterations is None:
            nest.assert_same_structure(list(loop_vars), list(values))
        else:
            nest.assert_same_structure(loop_vars, values)
        iterations += 1
    values = nest.map_structure(convert_to_tensor, values)
    return values if back_prop or not in_function else nest.map_structure(stop_gradient, values)


def foldl(fn: Callable[..., Any], elems: Any, initializer: Any = None) -> Any:
    """Return fn(... fn(fn(initializer, row 0), row 1) ..., last row); default: row 0 begins."""
    return _steps(fn, elems, initializer)[-1]


def scan(fn: Callable[..., Any], elems: Any, initializer: Any = None) -> Any:
    """Return all steps of a fold, stacked, each at the place of its row."""
    steps = _steps(fn, elems, initializer)
    if initializer is not None:
        steps = steps[1:]
    return nest.map_structure(lambda *leaves: stack(leaves), *steps)


def _steps(fn: Callable[..., Any], elems: Any, initializer: Any) -> list[Any]:
    columns = [unstack(leaf) for leaf in nest.flatten(elems)]
    rows = [nest.pack_sequence_as(elems, row) for row in zip(*columns, strict=True)]
    steps = [rows.pop(0) if initializer is None else initializer]
    for row in rows:
        steps.append(fn(steps[-1], row))
    return steps
