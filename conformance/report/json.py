"""A Report as one JSON document, for programs: the model as it is (docs/schemas/report.json)."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

from conformance.report.model import Report, Score

VERSION = 2
"""Raised when a key changes its meaning or goes; a new key does not raise it."""
DERIVED = {Score: ("passed", "supported", "rate"), Report: ("exit_code",)}
"""What is written beside a type's own fields."""


def write(report: Report) -> str:
    """The document as text: ASCII, so that no terminal obeys what a target wrote.

    Each key stands on a line, and each item of a list at the top, such as a cell. A number that
    JSON does not have is a string: "nan", "inf", "-inf".
    """
    names = _names(Report)
    parts = {"report": str(VERSION)} | {name: _text(getattr(report, name)) for name in names}
    return "{\n" + ",\n".join(f'"{name}": {text}' for name, text in parts.items()) + "\n}\n"


def _text(value: Any) -> str:
    """A value of the report, the items of a sequence on lines of their own."""
    if isinstance(value, Sequence) and not isinstance(value, str) and value:
        return "[\n" + ",\n".join(map(_encoded, value)) + "\n]"
    return _encoded(value)


def _encoded(value: Any) -> str:
    """A value in one line, which the encoder in C writes: it knows no indentation."""
    return json.dumps(_plain(value), allow_nan=False)


@cache
def _names(kind: type) -> tuple[str, ...]:
    """What is written of a dataclass."""
    return (*(field.name for field in fields(kind)), *DERIVED.get(kind, ()))


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    kind: type = type(value)
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if is_dataclass(value):
        return {name: _plain(getattr(value, name)) for name in _names(kind)}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [_plain(item) for item in value]
    return str(value)
