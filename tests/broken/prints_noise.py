"""A target that prints on stdout and stderr whatever it does, and is right."""

from __future__ import annotations

import sys
from typing import Any

import reference_impl as tf


class GradientTape(tf.GradientTape):
    """Prints."""

    def gradient(self, *args: Any, **kwargs: Any) -> Any:
        """The right gradient, with noise around it."""
        print("noise " * 1000)
        print("noise " * 1000, file=sys.stderr)
        return super().gradient(*args, **kwargs)


def __getattr__(name: str) -> Any:
    return getattr(tf, name)
