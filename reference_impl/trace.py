"""What a tape has seen, and the walk back through it: points 1 to 3 of the law in `tape.py`."""

from __future__ import annotations

from itertools import chain, repeat
from typing import Any

import numpy as np

from reference_impl import recording
from reference_impl.aggregation import add_cotangents
from reference_impl.dtypes import DIFFERENTIABLE_KINDS
from reference_impl.recording import Record, Values
from reference_impl.tensor import Tensor, Variable


class Trace:
    """What one tape has seen: the records in order, and the keys of all that is tracked."""

    def __init__(self, watch_accessed_variables: bool) -> None:
        self.watch_accessed_variables = watch_accessed_variables
        self.records: list[Record] = []
        self.producer: dict[int, Record | None] = {}  # None: watched, not produced
        self.variables: dict[int, Variable] = {}

    def watch(self, key: int) -> None:
        """Track a tensor, or the handle of a variable."""
        self.producer.setdefault(key, None)

    def watch_variable(self, variable: Variable) -> None:
        """Track a variable, and list it among the watched ones."""
        self.variables.setdefault(variable.handle.key, variable)
        self.watch(variable.handle.key)

    def variable_accessed(self, variable: Variable) -> None:
        """See the use of a trainable variable."""
        if self.watch_accessed_variables:
            self.watch_variable(variable)

    def watched_variables(self) -> tuple[Variable, ...]:
        """Return the watched variables in the order of their construction."""
        return tuple(self.variables[key] for key in sorted(self.variables))

    def record(self, record: Record, inputs: Values, outputs: Values) -> None:
        """Append the record if a differentiable input is tracked (the law, 1)."""
        for x in inputs:
            if x.key in self.producer and x.array.dtype.kind in DIFFERENTIABLE_KINDS:
                self.records.append(record)
                for key in record.output_keys:
                    self.producer[key] = record
                return

    def walk(self, targets: Values, sources: Values, seeds: Values = ()) -> list[Any]:
        """Return the cotangent of the targets at each source, None where nothing arrives."""
        source_keys = {source.key for source in sources}
        cotangents: dict[int, list[Any]] = {}
        for target, seed in zip(targets, chain(seeds, repeat(None)), strict=False):
            if seed is None and (target.key in source_keys or self.producer.get(target.key)):
                seed = _ones_like(target)
            if seed is not None:
                cotangents.setdefault(target.key, []).append(seed)
        with recording.quietly():
            for record in reversed(self.records):
                cts, arrived = [], False
                for key in record.output_keys:
                    ct = None
                    if key in cotangents and self.producer[key] is record:  # no later one's
                        ct, arrived = add_cotangents(cotangents.pop(key)), True
                        if key in source_keys:
                            cotangents[key] = [ct]
                    cts.append(ct)
                if arrived:
                    for key, ct in zip(record.input_keys, record.vjp(*cts), strict=True):
                        if ct is not None and key in self.producer:  # else nobody tracks it
                            cotangents.setdefault(key, []).append(ct() if callable(ct) else ct)
            return [add_cotangents(cotangents.get(source.key, [])) for source in sources]


def _ones_like(target: Any) -> Tensor | None:
    return None if target.array.dtype.kind == "O" else Tensor(np.ones_like(target.array))
