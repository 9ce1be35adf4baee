"""A target that never answers a query for a gradient."""

from __future__ import annotations

import time
from typing import Any

import reference_impl as tf


class GradientTape(tf.GradientTape):
    """Sleeps."""

    def gradient(self, *args: Any, **kwargs: Any) -> Any:
        """Never returns."""
        time.sleep(3600)


def __getattr__(name: str) -> Any:
    return getattr(tf, name)
