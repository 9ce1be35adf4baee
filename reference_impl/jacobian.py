"""Jacobians: one walk of the tape for each element of the target.

`jacobian[i..., j...]` is the derivative of target element i... by source element j...; the rows of
a batch jacobian stay inside one example: `[b, i..., j...]`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from reference_impl import nest
from reference_impl.operators import OPERATORS
from reference_impl.tensor import IndexedSlices, Tensor, Variable, convert_to_tensor
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
    **Errors**: as `gradient`; a structure as target is an AttributeError; without pfor an ordinary
    tape is a RuntimeError.
    **Source**: TF 2.21 backprop.py `jacobian`; contract part 1, lines 123 to 137.
    """
    _refuse_used(self, "to compute")
    shape = tuple(target.shape)
    flat_sources = nest.flatten(sources)
    with nullcontext() if self.is_recording else self:
        flat = OPERATORS["reshape"](target, [-1])
    _refuse_loop(self, experimental_use_pfor, "jacobian")
    seeds = np.eye(flat.array.size, dtype=flat.array.dtype)
    rows = _query(self, flat, flat_sources, seeds, unconnected_gradients)
    stacked = [
        None if row[0] is None else _stack(row, (*shape, *source.shape))
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
    **Errors**: a rank below 2, or batches that differ, are a ValueError; `parallel_iterations` of
    an ordinary tape is a RuntimeError.
    **Source**: TF 2.21 backprop.py `batch_jacobian`; contract part 1, lines 126 to 129.
    """
    _refuse_used(self, "tocompute")  # sic: TensorFlow's text lacks the blank
    target_shape, source_shape = target.shape.with_rank_at_least(2), source.shape
    if target_shape[0] != source_shape.with_rank_at_least(2)[0]:
        raise ValueError(
            f"Need first dimension of target shape ({target_shape}) and "
            f"source shape ({source_shape}) to match."
        )
    batch = target_shape[0]
    row_size = target_shape.num_elements() // batch
    with nullcontext() if self.is_recording else self:
        flat = OPERATORS["reshape"](target, [batch, row_size])
    _refuse_loop(self, experimental_use_pfor, "batch_jacobian")
    if parallel_iterations is not None and not self.is_persistent:
        raise RuntimeError(
            "GradientTape must be created with persistent=True to compute the batch_jacobian with "
            "parallel_iterations."
        )
    columns = np.eye(row_size, dtype=flat.array.dtype)[:, np.newaxis, :].repeat(batch, axis=1)
    [rows] = _query(self, flat, [source], columns, unconnected_gradients)
    shape = (*target_shape, *source_shape[1:])
    if rows[0] is None:
        return Tensor(np.zeros(shape, dtype=flat.array.dtype))
    stacked = _stack(rows, (row_size, batch, -1 if row_size * batch else 0))
    return OPERATORS["reshape"](OPERATORS["transpose"](stacked, [1, 0, 2]), shape)


def _query(
    tape: GradientTape, flat: Tensor, sources: Sequence[Any], seeds: Any, unconnected: Any
) -> list[list[Any]]:
    """Return each source's cotangents, one per seed; without seeds, of one seed of zeros."""
    trace = tape.begin_query()
    fill = UnconnectedGradients.parse(unconnected).fill
    handles = [s.handle if isinstance(s, Variable) else s for s in sources]
    usable = seeds if len(seeds) else np.zeros((1, *flat.array.shape), flat.array.dtype)
    answers = [fill(trace.walk([flat], handles, [Tensor(seed)]), handles) for seed in usable]
    tape.end_query()
    return [[_dense(answer[i]) for answer in answers] for i in range(len(sources))]


def _dense(ct: Any) -> Any:
    return convert_to_tensor(ct) if isinstance(ct, IndexedSlices) else ct


def _stack(rows: list[Any], shape: tuple[int, ...]) -> Tensor:
    if 0 in shape:
        return Tensor(np.zeros(tuple(max(n, 0) for n in shape), rows[0].array.dtype))
    return OPERATORS["reshape"](OPERATORS["stack"](rows), shape)


def _refuse_used(tape: GradientTape, to_compute: str) -> None:
    if tape.is_used:
        raise RuntimeError(
            f"A non-persistent GradientTape can only be used {to_compute} one set of gradients "
            "(or jacobians)"
        )


def _refuse_loop(tape: GradientTape, use_pfor: bool, what: str) -> None:
    if not use_pfor and not tape.is_persistent:
        raise RuntimeError(
            f"GradientTape must be created with persistent=True to compute the {what} with eager "
            "execution enabled and with  experimental_use_pfor set to False."
        )
