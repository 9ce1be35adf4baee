"""A target whose gradients are other ones in every process."""

from __future__ import annotations

import os
from typing import Any

import reference_impl as tf


class GradientTape(tf.GradientTape):
    """Answers its process's number."""

    def gradient(self, *args: Any, **kwargs: Any) -> Any:
        """A number that no other process has."""
        return tf.constant(float(os.getpid()))


def __getattr__(name: str) -> Any:
    return getattr(tf, name)
