"""A target that starts a process of its own, and then hangs."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

import reference_impl as tf


class GradientTape(tf.GradientTape):
    """Starts a child."""

    def gradient(self, *args: Any, **kwargs: Any) -> Any:
        """Never returns."""
        sleep = "import time; time.sleep(3600)"
        subprocess.Popen([sys.executable, "-c", sleep, "gradconf-test-child"])
        time.sleep(3600)


def __getattr__(name: str) -> Any:
    return getattr(tf, name)
