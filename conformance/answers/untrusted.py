"""JSON that somebody else wrote, a worker or a record: bounded in depth, checked part by part."""

from __future__ import annotations

import json
import math
import sys
from typing import Any

MAX_DEPTH = 100
SHORT = 16
"""Texts up to this length are shared: kinds and dtypes stand in every observation."""


def parse_json(text: str | bytes) -> Any:
    """The value of a JSON text, its short texts shared with those of every other one.

    Errors: ValueError for what is no JSON, or is nested deeper than 100 levels.
    """
    try:
        value = json.loads(text, object_pairs_hook=_shared)
    except RecursionError as error:
        raise ValueError(f"nested deeper than {MAX_DEPTH} levels") from error
    level, depth = [value], 0
    while level := [inner for outer in level for inner in _inside(outer)]:
        depth += 1
        if depth > MAX_DEPTH:
            raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
    return value


def _shared(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return {sys.intern(key): _intern(value) for key, value in pairs}


def _intern(value: Any) -> Any:
    return sys.intern(value) if type(value) is str and len(value) <= SHORT else value


def _inside(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def mapping(value: Any) -> dict[str, Any]:
    """An object. Errors: TypeError for anything else."""
    if not isinstance(value, dict):
        raise TypeError(f"expected an object, got {type(value).__name__}")
    return value


def text(value: Any) -> str:
    """A text. Errors: TypeError for anything else."""
    if not isinstance(value, str):
        raise TypeError(f"expected a text, got {type(value).__name__}")
    return value


def texts(value: Any) -> tuple[str, ...]:
    """A list of texts. Errors: TypeError for anything else."""
    if not isinstance(value, list):
        raise TypeError(f"expected a list, got {type(value).__name__}")
    return tuple(map(text, value))


def duration(value: Any) -> float:
    """A length of time. Errors: TypeError for no number, ValueError for nan, inf and -1."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise TypeError(f"expected seconds, got {type(value).__name__}")
    if not 0 <= value < sys.maxsize or math.isnan(value):
        raise ValueError("expected seconds, got a number that is no length of time")
    return float(value)
