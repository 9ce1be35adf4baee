"""Who is listening: the thread's stack of recorders, and the record of one operation.

A recorder is a tape (`tape.py`) or a forward accumulator (`forward.py`), among others. Every
operation is offered to each of them, outermost first.
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from reference_impl.tensor import Variable

Values = Sequence[Any]
Vjp = Callable[..., Values]
"""Maps one cotangent per output to one per input: a value, None, or a function that makes it."""

_key = operator.attrgetter("key")


class Record:
    """One executed operation: what went in, what came out, and how to pull a cotangent back.

    Inputs and outputs are named by `key`, which is never reused; the values that the rule needs
    live inside `vjp` and nowhere else, so that a tape keeps no more than it must.
    """

    __slots__ = ("input_keys", "op_type", "output_keys", "vjp")

    def __init__(self, op_type: str, inputs: Values, outputs: Values, vjp: Vjp) -> None:
        self.op_type = op_type
        self.input_keys = [*map(_key, inputs)]
        self.output_keys = [*map(_key, outputs)]
        self.vjp = vjp


class Recorder(Protocol):
    """What a tape and a forward accumulator have in common."""

    def record(self, record: Record, inputs: Values, outputs: Values) -> None:
        """See one executed operation."""

    def variable_accessed(self, variable: Variable) -> None:
        """See the reading of, or the assignment to, a trainable variable."""


class quietly:
    """A context without NumPy's warnings: they are switched off once, not for each operation."""

    def __enter__(self) -> None:
        self._before, thread.quiet = thread.quiet, True
        self._warnings = np.errstate(all="ignore")
        self._warnings.__enter__()

    def __exit__(self, *exception: Any) -> None:
        self._warnings.__exit__(None, None, None)
        thread.quiet = self._before


class _Thread(threading.local):
    """Each thread has recorders of its own: a tape never sees another thread's operations."""

    def __init__(self) -> None:
        self.recorders: list[Recorder] = []
        self.own = self.recorders  # but inside `only`
        self.stopped = self.quiet = False
        self.hush = quietly()


thread = _Thread()


def push(recorder: Recorder) -> None:
    """Make `recorder` the innermost one; NumPy's warnings are off until the last one is gone."""
    if thread.recorders is thread.own and not thread.own:
        thread.hush.__enter__()
    thread.recorders.append(recorder)


def remove(recorder: Recorder) -> None:
    """Take `recorder` off the stack, wherever it stands."""
    thread.recorders.remove(recorder)
    if thread.recorders is thread.own and not thread.own:
        thread.hush.__exit__()


def record_operation(op_type: str, inputs: Values, outputs: Values, vjp: Vjp) -> None:
    """Offer an executed operation to every recorder, outermost first."""
    if thread.stopped or not thread.recorders:
        return
    record = Record(op_type, inputs, outputs, vjp)
    for recorder in thread.recorders:
        recorder.record(record, inputs, outputs)


def variable_accessed(variable: Variable) -> None:
    """Tell every recorder that `variable` is used; only trainable ones are watched."""
    if variable.trainable:
        for recorder in thread.recorders:
            recorder.variable_accessed(variable)


def stop_recording() -> AbstractContextManager[None]:
    """Hide operations from all recorders of this thread (contract part 1, line 67)."""
    return _changed(stopped=True)


def only(outer: list[Recorder]) -> AbstractContextManager[None]:
    """Let only the recorders `outer` see what happens inside."""
    return _changed(recorders=outer)


@contextmanager
def _changed(**inside: Any) -> Iterator[None]:
    before = {name: getattr(thread, name) for name in inside}
    vars(thread).update(inside)
    try:
        yield
    finally:
        vars(thread).update(before)
