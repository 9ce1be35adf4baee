"""Convolution as a composition: patches of the image, gathered, and a sum of products.

**Source**: TF 2.21 nn_ops.py `conv2d`; its rule follows from those of `gather` and `einsum`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.ops.indexing import gather
from reference_impl.ops.linalg import einsum
from reference_impl.rules import to_tensors
from reference_impl.tensor import Tensor


def conv2d(input: Any, filters: Any, strides: int, padding: str) -> Tensor:
    """Return the cross-correlation of images and filters, without padding (VALID).

    input: (batch, height, width, channels); filters: (height, width, channels, outputs).
    """
    if padding != "VALID":
        raise NotImplementedError("the oracle's conv2d does not pad")
    x, kernel = to_tensors((input, filters))
    for axis, width in zip((1, 3), kernel.array.shape[:2], strict=True):
        starts = np.arange(0, x.array.shape[axis] - width + 1, strides)
        x = gather(x, starts[:, np.newaxis] + np.arange(width), axis=axis)
    return einsum("nhiwjc,ijcd->nhwd", x, kernel)
