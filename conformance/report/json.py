"""A Report as one JSON document, for programs: the model as it is (docs/schemas/report.json)."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from conformance.report.model import Report, Score

VERSION = 2
"""Raised when a key changes its meaning or goes; a new key does not raise it."""
DERIVED = {Score: ("passed", "supported", "rate"), Report: ("exit_code",)}
"""What is written beside a type's own fields."""


def write(report: Report) -> str:
    """The document as text: ASCII, so that no terminal obeys what a target wrote.

    A number that JSON does not have is a string: "nan", "inf", "-inf".
    """
    return json.dumps({"report": VERSION, **_plain(report)}, indent=1, allow_nan=False) + "\n"


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if is_dataclass(value):
        names = [*(field.name for field in fields(value)), *DERIVED.get(type(value), ())]
        return {name: _plain(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [_plain(item) for item in value]
    return str(value)
