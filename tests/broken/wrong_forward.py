"""A target whose sine is one per cent too large, and whose gradient is consistent with that."""

from __future__ import annotations

from typing import Any

import reference_impl as tf


def sin(x: Any) -> Any:
    """One per cent more than the sine."""
    return 1.01 * tf.sin(x)


def __getattr__(name: str) -> Any:
    return getattr(tf, name)
