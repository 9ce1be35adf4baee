"""Who is listening: the thread's stack of recorders, and the record of one operation.

A recorder is a tape (`tape.py`) or a forward accumulator (`forward.py`). Every operation is
offered to each of them, outermost first.
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from reference_impl.tensor import Tensor, Variable

Vjp = Callable[..., Sequence[Any]]
"""Maps one cotangent per output to one cotangent, or None, per input."""


_key = operator.attrgetter("key")


class Record:
    """One executed operation: what went in, what came out, and how to pull a cotangent back.

    Inputs and outputs are named by `key`, which is never reused; the values that the rule needs
    live inside `vjp` and nowhere else, so that a tape keeps no more than it must.
    """

    __slots__ = ("input_keys", "op_type", "output_keys", "vjp")

    def __init__(
        self, op_type: str, inputs: Sequence[Any], outputs: Sequence[Tensor], vjp: Vjp
    ) -> None:
        self.op_type = op_type
        self.input_keys = tuple(map(_key, inputs))
        self.output_keys = tuple(map(_key, outputs))
        self.vjp = vjp


class Recorder(Protocol):
    """What a tape and a forward accumulator have in common."""

    def record(self, record: Record, inputs: Sequence[Any], outputs: Sequence[Tensor]) -> None:
        """See one executed operation."""

    def variable_accessed(self, variable: Variable) -> None:
        """See the reading of a trainable variable."""


class _Thread(threading.local):
    """Each thread has recorders of its own: a tape never sees another thread's operations."""

    def __init__(self) -> None:
        self.recorders: list[Recorder] = []
        self.watchers: list[VariableWatcher] = []
        self.stopped = False
        self.quiet = False


thread = _Thread()


def recorders() -> list[Recorder]:
    """Return the active recorders, outermost first."""
    return thread.recorders


def push(recorder: Recorder) -> None:
    """Make `recorder` the innermost one."""
    thread.recorders.append(recorder)


def remove(recorder: Recorder) -> None:
    """Take `recorder` off the stack, wherever it stands."""
    thread.recorders.remove(recorder)


def record_operation(
    op_type: str, inputs: Sequence[Any], outputs: Sequence[Tensor], vjp: Vjp
) -> None:
    """Offer an executed operation to every recorder, outermost first."""
    if thread.stopped or not thread.recorders:
        return
    record = Record(op_type, inputs, outputs, vjp)
    for recorder in thread.recorders:
        recorder.record(record, inputs, outputs)


def variable_accessed(variable: Variable) -> None:
    """Tell tapes and watchers that `variable` is being read; only trainable ones are watched."""
    if not variable.trainable:
        return
    for recorder in thread.recorders:
        recorder.variable_accessed(variable)
    for watcher in thread.watchers:
        watcher.variables.setdefault(variable.handle.key, variable)


@contextmanager
def stop_recording() -> Iterator[None]:
    """Hide what happens inside from all recorders of this thread (contract part 1, line 67)."""
    before = thread.stopped
    thread.stopped = True
    try:
        yield
    finally:
        thread.stopped = before


@contextmanager
def only(outer: list[Recorder]) -> Iterator[None]:
    """Let only the recorders `outer` see what happens inside."""
    before = thread.recorders
    thread.recorders = outer
    try:
        yield
    finally:
        thread.recorders = before


@contextmanager
def quietly() -> Iterator[None]:
    """Switch NumPy's warnings off once for a whole walk, instead of for each operation."""
    before = thread.quiet
    thread.quiet = True
    try:
        with np.errstate(all="ignore"):
            yield
    finally:
        thread.quiet = before


class VariableWatcher:
    """Collects the trainable variables read inside its context, each once."""

    def __init__(self) -> None:
        self.variables: dict[int, Variable] = {}

    def __enter__(self) -> VariableWatcher:
        thread.watchers.append(self)
        return self

    def __exit__(self, *exception: object) -> None:
        thread.watchers.remove(self)

    def watched_variables(self) -> tuple[Variable, ...]:
        """Return the variables in the order of first reading."""
        return tuple(self.variables.values())
