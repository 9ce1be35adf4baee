"""JSON that every reader takes: ASCII, so that no terminal obeys what a target wrote."""

from __future__ import annotations

import json
import math
from typing import Any


def dumped(document: dict[str, Any]) -> str:
    """A document as text; a number that JSON does not have is a string: "nan", "inf", "-inf"."""
    return json.dumps(_finite(document), indent=1, allow_nan=False) + "\n"


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
