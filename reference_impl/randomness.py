"""Random tensors from one seeded generator; the numbers differ from TensorFlow's."""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.dtypes import as_dtype, float32
from reference_impl.ops import nondifferentiable
from reference_impl.ops.shape import sizes
from reference_impl.tensor import Tensor


class _Source:
    """The generator that `set_seed` starts again."""

    generator = np.random.default_rng(0)


def set_seed(seed: int) -> None:
    """Start the generator again from `seed`."""
    _Source.generator = np.random.default_rng(int(seed))


def normal(
    shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = float32, **unused: Any
) -> Tensor:
    """Return normally distributed numbers."""
    numbers = _Source.generator.normal(np.asarray(mean), np.asarray(stddev), sizes(shape))
    return Tensor(np.asarray(numbers, as_dtype(dtype).numpy_dtype))


def uniform(
    shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = float32, **unused: Any
) -> Tensor:
    """Return evenly distributed numbers, or integers for an integer dtype."""
    wanted = as_dtype(dtype)
    if wanted.is_integer:
        numbers: Any = _Source.generator.integers(int(minval), int(maxval), sizes(shape))
    else:
        high = 1.0 if maxval is None else float(maxval)
        numbers = _Source.generator.uniform(float(minval), high, sizes(shape))
    return Tensor(np.asarray(numbers, wanted.numpy_dtype))


def shuffle(value: Any, seed: int | None = None, name: str | None = None) -> Tensor:
    """Return the rows of `value` in another order; non-differentiable."""
    return nondifferentiable.random_shuffle(value, _Source.generator)
