"""Random numbers from one seeded generator; they differ from TensorFlow's."""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.ops.nondifferentiable import random_shuffle
from reference_impl.tensor import Tensor

_started = [np.random.default_rng(0)]


def generator() -> np.random.Generator:
    """Return the generator that `set_seed` started last."""
    return _started[-1]


def set_seed(seed: int) -> None:
    """Start the generator again from `seed`."""
    _started[:] = [np.random.default_rng(int(seed))]


def shuffle(value: Any) -> Tensor:
    """Return the rows of `value` in another order; non-differentiable."""
    return random_shuffle(value, generator=generator())
