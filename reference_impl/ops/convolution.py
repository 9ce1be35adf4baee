"""Convolution as a composition: patches of the image, gathered, and a sum of products.

**Source**: TF 2.21 nn_ops.py `conv2d`; its rule follows from those of `gather` and `einsum`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.errors import InvalidArgumentError
from reference_impl.ops.indexing import gather
from reference_impl.ops.linalg import einsum
from reference_impl.ops.shape import pad, sizes
from reference_impl.rules import to_tensors
from reference_impl.tensor import Tensor


def conv2d(input: Any, filters: Any, strides: Any, padding: Any, name: Any = None) -> Tensor:
    """Return the cross-correlation of images and filters.

    input: (batch, height, width, channels); filters: (height, width, channels, outputs).
    strides: one number, two, or four of which the outer ones are 1; padding: VALID or SAME.
    """
    x, kernel = to_tensors((input, filters))
    if x.array.ndim != 4 or kernel.array.ndim != 4:
        raise InvalidArgumentError("input and filters must be 4-dimensional", "Conv2D")
    steps = sizes(strides)
    steps = steps[1:3] if len(steps) == 4 else steps * (2 // len(steps))
    for axis, (step, width) in enumerate(zip(steps, kernel.array.shape[:2], strict=True)):
        x = _patches(x, 1 + 2 * axis, width, step, same=padding == "SAME")
    return einsum("nhiwjc,ijcd->nhwd", x, kernel)


def _patches(x: Tensor, axis: int, width: int, step: int, *, same: bool) -> Tensor:
    """Return x with `axis` replaced by two: the positions of the filter, and the places in it."""
    length = x.array.shape[axis]
    if same:
        missing = max((-(-length // step) - 1) * step + width - length, 0)
        around = [(0, 0)] * x.array.ndim
        around[axis] = (missing // 2, missing - missing // 2)
        x, length = pad(x, around), length + missing
    places = np.arange(0, length - width + 1, step)[:, np.newaxis] + np.arange(width)
    return gather(x, places, axis=axis)
