"""A target that writes another text into its own file and dies, as an editor and a crash do."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import reference_impl as tf


class GradientTape(tf.GradientTape):
    """Changes its file, and aborts."""

    def gradient(self, *args: Any, **kwargs: Any) -> Any:
        """Never returns."""
        with Path(__file__).open("a") as file:
            file.write("# changed\n")
        os.abort()


def __getattr__(name: str) -> Any:
    return getattr(tf, name)
