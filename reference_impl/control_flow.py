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
from reference_impl.tensor import Tensor, convert_to_tensor


def cond(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """Return `true_fn()` or `false_fn()`."""
    if true_fn is None or false_fn is None:
        raise TypeError("cond(): 'true_fn' and 'false_fn' are both required")
    return true_fn() if bool(pred) else false_fn()


def switch_case(
    branch_index: Any,
    branch_fns: Any,
    default: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """Return the result of one branch; an index without a branch takes the default, or the last."""
    if not hasattr(branch_index, "dtype"):
        raise TypeError(f"'branch_index' must be a Tensor, got {type(branch_index)}")
    numbered = _numbered(branch_fns)
    chosen = numbered.get(int(branch_index))
    return (chosen or default or numbered[max(numbered)])()


def _numbered(branch_fns: Any) -> dict[int, Callable[[], Any]]:
    if isinstance(branch_fns, dict):
        return dict(branch_fns)
    if all(callable(branch) for branch in branch_fns):
        return dict(enumerate(branch_fns))
    return {int(number): branch for number, branch in branch_fns}


def case(
    pred_fn_pairs: Any,
    default: Callable[[], Any] | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str = "case",
) -> Any:
    """Return the result of the first branch whose predicate holds, else of the default."""
    pairs = pred_fn_pairs.items() if isinstance(pred_fn_pairs, dict) else pred_fn_pairs
    for pred, branch in pairs:
        if bool(pred.deref() if hasattr(pred, "deref") else pred):
            return branch()
    if default is None:
        raise ValueError("case(): no predicate holds and there is no default")
    return default()


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Sequence[Any],
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    maximum_iterations: Any = None,
    name: str | None = None,
) -> Any:
    """Return the loop variables after running `body` while `cond` holds.

    **Edges**: in a function, `back_prop=False` leaves the results unconnected.
    **Errors**: a body that returns another structure is a TypeError or ValueError; a list for a
    tuple only where `maximum_iterations` is given, and in a function not even there.
    """
    in_function = running_graph() is not None
    values = nest.map_structure(_converted, loop_vars)
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
    values = nest.map_structure(_converted, values)
    return values if back_prop or not in_function else nest.map_structure(stop_gradient, values)


def _converted(value: Any) -> Tensor:
    return convert_to_tensor(value)


def foldl(fn: Callable[..., Any], elems: Any, initializer: Any = None, **unused: Any) -> Any:
    """Return fn(... fn(fn(initializer, row 0), row 1) ..., last row); default: row 0 begins."""
    return _steps(fn, _rows(elems), initializer)[-1]


def foldr(fn: Callable[..., Any], elems: Any, initializer: Any = None, **unused: Any) -> Any:
    """Return the fold that begins with the last row."""
    return _steps(fn, _rows(elems)[::-1], initializer)[-1]


def scan(
    fn: Callable[..., Any],
    elems: Any,
    initializer: Any = None,
    reverse: bool = False,
    **unused: Any,
) -> Any:
    """Return all steps of a fold, stacked, each at the place of its row."""
    rows = _rows(elems)
    steps = _steps(fn, rows[::-1] if reverse else rows, initializer)
    steps = steps[len(steps) - len(rows) :]
    return _stacked(steps[::-1] if reverse else steps)


def _steps(fn: Callable[..., Any], rows: list[Any], initializer: Any) -> list[Any]:
    if initializer is None:
        first, *rows = rows
    else:
        first = nest.map_structure(_converted, initializer)
    steps = [first]
    for row in rows:
        steps.append(fn(steps[-1], row))
    return steps


def map_fn(fn: Callable[..., Any], elems: Any, **unused: Any) -> Any:
    """Return the results for all rows, stacked."""
    return _stacked([fn(row) for row in _rows(elems)])


def _rows(elems: Any) -> list[Any]:
    """Return a structure of tensors as the list of its rows."""
    columns = [unstack(leaf) for leaf in nest.flatten(elems)]
    return [nest.pack_sequence_as(elems, row) for row in zip(*columns, strict=True)]


def _stacked(rows: Sequence[Any]) -> Any:
    return nest.map_structure(lambda *leaves: stack(leaves), *rows)
