"""GradientTape.

The law:
  1. A tape records an operation when one of its differentiable inputs is tracked; watching makes
     an input tracked, recording makes the outputs tracked.
  2. `gradient` gives each target a cotangent: its output gradient, or ones. A source that is a
     target receives it, watched or not.
  3. Backwards through the records, the cotangents of an output add up, and the operation's rule
     pulls their sum back to its inputs. What arrives at a source is its gradient (`trace.py`).
  4. A source where nothing arrives is unconnected: None, which is not zero.
  5. The walk is itself made of recorded operations: an outer tape differentiates it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from reference_impl import nest, query, recording
from reference_impl.jacobian import batch_jacobian, jacobian
from reference_impl.tensor import Variable
from reference_impl.trace import Trace
from reference_impl.unconnected import UnconnectedGradients


class GradientTape:
    """Records operations, and differentiates targets with respect to sources.

    persistent: allow any number of gradients; otherwise the first one releases everything.
    watch_accessed_variables: watch every trainable variable that is read while recording.
    **Source**: TF 2.21 backprop.py; contract part 1, sections 1 to 9.
    """

    jacobian = jacobian
    batch_jacobian = batch_jacobian

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self.trace: Any = None  # a Trace, between the first entering and the end of use
        self.persistent = persistent
        self._watch_accessed_variables = watch_accessed_variables
        self._watched_variables: tuple[Variable, ...] = ()
        self.recording = False

    def __enter__(self) -> GradientTape:
        self._push()
        return self

    def __exit__(self, *exception: object) -> None:
        if self.recording:
            self._pop()

    def _push(self) -> None:
        if self.recording:
            raise ValueError(
                "Tape is still recording, This can happen if you try to "
                "re-enter an already-active tape."
            )
        if self.trace is None:
            self.trace = Trace(self._watch_accessed_variables)
        recording.push(self.trace)
        self.recording = True

    def _pop(self) -> None:
        if not self.recording:
            raise ValueError("Tape is not recording.")
        recording.remove(self.trace)
        self.recording = False

    def watch(self, tensor: Any) -> None:
        """Track every tensor and variable of a structure from now on.

        **Edges**: a dtype that is not floating is watched in vain, with a logged warning.
        **Errors**: anything but a tensor or variable is a ValueError.
        """
        for leaf in query.watchable(tensor):
            if isinstance(leaf, Variable):
                self.trace.watch_variable(leaf)
            else:
                self.trace.watch(leaf.key)

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Record nothing inside; other tapes go on.

        **Errors**: a tape that has nothing to stop raises RuntimeError, an exited one ValueError.
        """
        if self.trace is None:
            raise RuntimeError("Trying to stop recording a tape which is not recording.")
        self._pop()
        try:
            yield
        finally:
            self._push()

    def reset(self) -> None:
        """Forget all records and all that is watched; go on recording."""
        self._pop()
        self.trace = None
        self._push()

    def watched_variables(self) -> tuple[Variable, ...]:
        """Return the watched variables in the order of their construction, also after use."""
        if self.trace is not None:
            self._watched_variables = self.trace.watched_variables()
        return self._watched_variables

    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
    ) -> Any:
        """Return d sum(target * output_gradients) / d source, in the structure of `sources`.

        Each result has its source's shape and dtype, or is `IndexedSlices`, or None (ZERO: zeros).
        **Errors**: RuntimeError if an ordinary tape was used; TypeError for a target of None;
        ValueError for an unknown `unconnected_gradients`; LookupError where a rule is missing.
        """
        trace = self.begin_query()
        targets = query.targets_of(target)
        handles = [query.trackable(source) for source in nest.flatten(sources)]
        seeds = query.seeds_of(output_gradients, targets)
        unconnected = UnconnectedGradients(unconnected_gradients)
        results = unconnected.fill(trace.walk(targets, handles, seeds), handles)
        self.end_query()
        return query.like_sources(sources, results)

    def begin_query(self) -> Trace:
        """Return the trace; an ordinary tape stops recording, a persistent one goes on."""
        trace: Trace = query.unused(self.trace, "to compute")
        if self.recording and self.persistent:
            query.warn_of_recording()
        elif self.recording:
            self._pop()
        return trace

    def end_query(self) -> None:
        """Release an ordinary tape's records; a persistent tape keeps them until it dies."""
        if not self.persistent:
            self._watched_variables = self.watched_variables()
            self.trace = None
