"""A target whose gradients are other ones in every process."""

from __future__ import annotations

import os
from typing import Any

import reference_impl as tf

NUMBER = int.from_bytes(os.urandom(2), "big")


class GradientTape(tf.GradientTape):
    """Answers its process's own number."""

    def gradient(self, *args: Any, **kwargs: Any) -> Any:
        """A number that hardly any other process has."""
        return tf.constant(float(NUMBER))


def __getattr__(name: str) -> Any:
    return getattr(tf, name)
