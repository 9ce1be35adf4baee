"""An answer: everything that a target gave for one cell, raw, before anyone judges it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Observation: TypeAlias = Mapping[str, Any]
"""What a target answered for one name, as it stands on the wire and in records.

    {"kind": "none"}
    {"kind": "tensor", "dtype": "float32", "shape": [2], "data": base64, "text": "[4.0, 108.0]"}
    {"kind": "tensor", "dtype": "string", "shape": [1], "data": [base64, ...], "text": "['a']"}
    {"kind": "indexed_slices", "values": tensor, "indices": tensor, "dense_shape": tensor | none}
    {"kind": "ragged", "values": tensor, "splits": [tensor, ...]}
    {"kind": "sparse", "indices": tensor, "values": tensor, "dense_shape": tensor}
    {"kind": "list" | "tuple", "items": [...]}       {"kind": "dict", "keys": [...], "items": [...]}
    {"kind": "scalar", "value": repr,
     "type": "bool" | "int" | "float" | "complex" | "str" | "dtype"}
    {"kind": "variable", "name": "x"}
    {"kind": "error", "type": "ValueError", "bases": [...], "message": "...", "phase": "run",
     "step": "g" | null}
    {"kind": "not_reached"}       an earlier statement ended the case
    {"kind": "not_observed"}      the mode lost it; neither None nor a pass; "raised": "OSError"
                                  where the target's tensor could not be read
    {"kind": "other", "type": "Foo"}

`data` is raw little-endian memory in C order, so every dtype, -0.0, nan and inf survive. `bases`
are the names of the class and of all its bases. `phase` is setup, define, trace or run.
"""

Outcome: TypeAlias = Literal[
    "answered", "crash", "timeout", "adapter_error", "unsupported", "not_applicable", "not_run"
]


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back from one cell: observations, or the reason why there are none."""

    outcome: Outcome
    observations: Mapping[str, Observation] = field(default_factory=dict)
    error: Observation | None = None
    warnings: tuple[str, ...] = ()
    detail: str = ""
    seconds: float = 0.0
