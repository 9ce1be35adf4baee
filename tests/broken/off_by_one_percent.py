"""A target whose forward is right and whose gradients are one per cent too large."""

from __future__ import annotations

from typing import Any

import reference_impl as tf
from tests.broken import oracle_but

GradientTape = oracle_but.tape(
    lambda found: tf.nest.map_structure(lambda g: None if g is None else 1.01 * g, found)
)


def __getattr__(name: str) -> Any:
    return getattr(tf, name)
