"""Declared gradients: an operation that is what its author says of its derivative, true or not.

Run again, it is the linear function whose true derivative is the declared one: with that stand-in
difference quotients are right wherever the tape is. A declared gradient that is not linear in the
upstream (one that clips it) belongs to no function; where it was asked once, the stand-in moves
along what was asked as far as the answer says.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from reference_impl import recording
from reference_impl.tensor import Tensor, convert_to_tensor

Array = np.ndarray[Any, Any]
Seed = tuple[int, int, Any]
"""A real direction of the outputs: which output, which element, 1 or the imaginary 1."""

MAX_SEEDS = 128
"""The most elements that the outputs of a declared gradient may have."""


class NotFollowed(Exception):
    """Why an answer cannot be checked: a few words, the same for all such answers."""


class Declared:
    """The declared gradient of one executed operation, and the values around which it holds."""

    def __init__(
        self, vjp: recording.Vjp, inputs: Sequence[Array], outputs: Sequence[Array]
    ) -> None:
        self.vjp = vjp
        self.inputs = inputs
        self.outputs = outputs
        self.heard: list[tuple[Sequence[Any], Sequence[Any]]] = []
        self.listening = self._listening()

    def _listening(self) -> Callable[..., Any]:
        """The way to pull back, which remembers what it was asked and what it answered."""

        def vjp(*cts: Any) -> Sequence[Any]:
            answers = self.vjp(*cts)
            self.heard.append((cts, answers))
            return answers

        return functools.wraps(self.vjp)(vjp)

    def outputs_at(self, arrays: Sequence[Array]) -> list[Array]:
        """The outputs for other inputs. Errors: NotFollowed."""
        moves = [
            _flat(new) - _flat(old) if old.dtype.kind in "fc" else np.zeros(old.size)
            for new, old in zip(arrays, self.inputs, strict=True)
        ]
        outputs = [_flat(y) for y in self.outputs]
        if self.slopes is None:
            self._move_along(outputs, moves)
        else:
            for (position, index, unit), cts in zip(self._seeds, self.slopes, strict=True):
                outputs[position][index] += unit * _dot(cts, moves)
        return [y.reshape(old.shape) for y, old in zip(outputs, self.outputs, strict=True)]

    def _move_along(self, outputs: list[Array], moves: list[Array]) -> None:
        """Move the outputs along the only upstream that was asked."""
        if len(self.heard) != 1:
            raise NotFollowed("a declared gradient that is not linear, asked more than once")
        upstream = _flattened(self.heard[0][0], self.outputs)
        answers = _flattened(self.heard[0][1], self.inputs)
        length = _dot(upstream, upstream)
        for y, ct in zip(outputs, upstream, strict=True):
            if length and y.dtype.kind in "fc":
                y += ct * (_dot(answers, moves) / length)

    @cached_property
    def _seeds(self) -> list[Seed]:
        return [
            (position, index, unit)
            for position, y in enumerate(self.outputs)
            for unit in {"f": (1.0,), "c": (1.0, 1j)}.get(y.dtype.kind, ())
            for index in range(y.size)
        ]

    @cached_property
    def slopes(self) -> list[list[Array]] | None:
        """For each seed the declared cotangent of each input; None if they do not add up."""
        seeds = self._seeds
        if len(seeds) > MAX_SEEDS:
            raise NotFollowed("a declared gradient of many outputs")
        found = [self._pull_back([(seed, 1.0)]) for seed in seeds]
        together = self._pull_back([(seed, 2.0 + n) for n, seed in enumerate(seeds)])
        for position, total in enumerate(together):
            parts = sum(((2.0 + n) * cts[position] for n, cts in enumerate(found)), 0.0 * total)
            if not np.allclose(parts, total, rtol=1e-9, atol=0.0, equal_nan=True):
                return None
        return found

    def _pull_back(self, seeds: Sequence[tuple[Seed, float]]) -> list[Array]:
        cts = [np.zeros_like(_flat(y)) for y in self.outputs]
        for (position, index, unit), weight in seeds:
            cts[position][index] += unit * weight
        shaped = [Tensor(ct.reshape(y.shape)) for ct, y in zip(cts, self.outputs, strict=True)]
        with recording.only([]):
            try:
                answers = self.vjp(*shaped)
            except Exception as error:  # a program's own function may raise anything
                raise NotFollowed("a declared gradient that raises") from error
        return _flattened(answers, self.inputs)


def _flattened(cts: Sequence[Any], like: Sequence[Array]) -> list[Array]:
    """Cotangents of these values as vectors, zeros for None. Errors: NotFollowed."""
    found = [None if ct is None else convert_to_tensor(ct).array for ct in cts]
    if any(ct is not None and ct.shape != x.shape for ct, x in zip(found, like, strict=True)):
        raise NotFollowed("a declared gradient of another shape")
    return [
        np.zeros(x.size) if ct is None or x.dtype.kind not in "fc" else _flat(ct)
        for ct, x in zip(found, like, strict=True)
    ]


def _flat(array: Array) -> Array:
    return np.array(array).reshape(-1)


def _dot(cts: Sequence[Array], moves: Sequence[Array]) -> Any:
    """How far a linear function with these cotangents moves."""
    return sum(np.real(np.vdot(ct, move)) for ct, move in zip(cts, moves, strict=True))
