"""A target whose errors tell where it is installed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import reference_impl as tf

WORKER = Path(sys.modules["inside"].__path__[0])


class GradientTape(tf.GradientTape):
    """Raises."""

    def gradient(self, *args: Any, **kwargs: Any) -> Any:
        """An error with the folders of this machine in its words."""
        raise ValueError(f"no kernel in {sys.prefix}/lib, asked by {WORKER}/execution.py")


def __getattr__(name: str) -> Any:
    return getattr(tf, name)
