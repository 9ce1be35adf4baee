"""Jacobians: one walk of the tape for each element of the target.

`jacobian[i..., j...]` is the derivative of target element i... by source element j...; the rows of
a batch jacobian stay inside one example: `[b, i..., j...]`.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from reference_impl import nest, query
from reference_impl.graph import running_graph
from reference_impl.ops.shape import reshape, stack, transpose
from reference_impl.recording import Values
from reference_impl.tensor import Tensor, dense
from reference_impl.unconnected import UnconnectedGradients

if TYPE_CHECKING:
    from reference_impl.tape import GradientTape


def jacobian(
    self: GradientTape,
    target: Any,
    sources: Any,
    unconnected_gradients: Any = UnconnectedGradients.NONE,
    parallel_iterations: int | None = None,
    experimental_use_pfor: bool = True,
) -> Any:
    """Return d target / d source for one tensor `target`, in the structure of `sources`.

    Shapes: target.shape + source.shape. Slices are made dense; unconnected is None (or zeros).
    **Errors**: as `gradient`; a structure as target is an AttributeError; an ordinary tape without
    pfor is a RuntimeError, but not in a function.
    **Source**: TF 2.21 backprop.py `jacobian`; contract part 1, lines 123 to 137.
    """
    query.unused(self.trace, "to compute")
    shape, flat_sources = tuple(target.shape), nest.flatten(sources)
    with nullcontext() if self.recording else self:
        flat = reshape(target, [-1])
    if not (self.persistent or experimental_use_pfor or running_graph()):
        raise query.needs_persistent("jacobian")
    seeds = np.eye(flat.array.size, dtype=flat.array.dtype)
    rows = _rows(self, flat, flat_sources, seeds, unconnected_gradients)
    stacked = [
        None if row is None else reshape(row, (*shape, *source.shape))
        for row, source in zip(rows, flat_sources, strict=True)
    ]
    return nest.pack_sequence_as(sources, stacked)


def batch_jacobian(
    self: GradientTape,
    target: Any,
    source: Any,
    unconnected_gradients: Any = UnconnectedGradients.NONE,
    parallel_iterations: int | None = None,
    experimental_use_pfor: bool = True,
) -> Tensor:
    """Return d target[b] / d source[b], stacked: shape [b, target..., source...].

    **Edges**: unconnected is zeros, whatever is asked for. If examples do depend on each other,
    the result is summed over the batch of the target: check with `jacobian`.
    **Errors**: a rank below 2, or batches that differ, are a ValueError; an ordinary tape is a
    RuntimeError without pfor, as for `jacobian`, and with pfor and `parallel_iterations`.
    **Source**: TF 2.21 backprop.py `batch_jacobian`; contract part 1, lines 126 to 129.
    """
    query.unused(self.trace, "tocompute")  # sic: TensorFlow's text lacks the blank
    batch, *inner = target.shape.with_rank_at_least(2)
    if source.shape.with_rank_at_least(2)[0] != batch:
        raise ValueError(
            f"Need first dimension of target shape ({target.shape}) and "
            f"source shape ({source.shape}) to match."
        )
    row_size = int(np.prod(inner))
    with nullcontext() if self.recording else self:
        flat = reshape(target, [batch, row_size])
    if not (self.persistent or experimental_use_pfor or running_graph()):
        raise query.needs_persistent("batch_jacobian")
    if experimental_use_pfor and parallel_iterations is not None and not self.persistent:
        raise query.needs_persistent("batch_jacobian", "parallel_iterations")
    columns = np.eye(row_size, dtype=flat.array.dtype)[:, np.newaxis, :].repeat(batch, axis=1)
    [rows] = _rows(self, flat, [source], columns, unconnected_gradients)
    shape = (*target.shape, *source.shape[1:])
    if rows is None:
        return Tensor(np.zeros(shape, dtype=flat.array.dtype))
    return reshape(transpose(rows, [1, 0, *range(2, rows.ndim)]), shape)


def _rows(tape: GradientTape, flat: Tensor, sources: Values, seeds: Any, option: Any) -> list[Any]:
    """Return each source's cotangents, one per seed, stacked; None for an unconnected source.

    Without seeds, a seed of zeros shows what is connected.
    """
    trace = tape.begin_query()
    fill = UnconnectedGradients(option).fill
    handles = [query.trackable(source) for source in sources]
    asked = seeds if len(seeds) else np.zeros((1, *flat.array.shape), flat.array.dtype)
    answers = [fill(trace.walk([flat], handles, [Tensor(seed)]), handles) for seed in asked]
    tape.end_query()
    return [
        None if cts[0] is None else stack([dense(ct) for ct in cts])[: len(seeds)]
        for cts in zip(*answers, strict=True)
    ]
