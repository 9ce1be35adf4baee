"""Image operations, here for what they lack: a gradient that is registered."""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.arrays import Array
from reference_impl.dtypes import float32
from reference_impl.ops.complex_numbers import cast
from reference_impl.rules import REAL, not_differentiable, primitive
from reference_impl.tensor import Tensor, convert_to_tensor


@primitive("AdjustContrastv2", REAL)
def _adjust_contrast(images: Array, factor: Array) -> Array:
    mean = np.mean(images, axis=(-3, -2), keepdims=True, dtype=images.dtype)
    return np.asarray((images - mean) * factor + mean)


@primitive("AdjustSaturation", REAL)
def _adjust_saturation(images: Array, factor: Array) -> Array:
    value = images.max(-1, keepdims=True)
    chroma = value - images.min(-1, keepdims=True)
    saturation = np.divide(chroma, value, out=np.zeros_like(value), where=value != 0)
    wanted = np.clip(saturation * factor, 0, 1)
    ratio = np.divide(wanted, saturation, out=np.ones_like(value), where=saturation != 0)
    return np.asarray(value - (value - images) * ratio, images.dtype)


@not_differentiable
@primitive("HSVToRGB", REAL)
def hsv_to_rgb(images: Array) -> Array:
    """Return colours given as hue, saturation and value as red, green and blue; unconnected."""
    hue, saturation, value = np.moveaxis(images, -1, 0)
    distance = np.stack([np.abs(hue * 6 - 3) - 1, 2 - np.abs(hue * 6 - 2), 2 - np.abs(hue * 6 - 4)])
    colours = (1 - saturation + saturation * np.clip(distance, 0, 1)) * value
    return np.asarray(np.moveaxis(colours, 0, -1), images.dtype)


def adjust_contrast(images: Any, contrast_factor: Any) -> Tensor:
    """Return images with each channel's distance to its mean scaled; computed in float32.

    **Errors**: no rule, so a cotangent that arrives is a LookupError (contract part 0, s13).
    """
    images = convert_to_tensor(images)
    scaled = _adjust_contrast(cast(images, float32), cast(contrast_factor, float32))
    return cast(scaled, images.dtype)  # type: ignore[no-any-return]


def adjust_saturation(image: Any, saturation_factor: Any) -> Tensor:
    """Return images with each colour's saturation scaled and kept in [0, 1]; hue and value stay.

    image: floating, shape (..., 3); the saturation is (max - min) / max of the three.
    **Errors**: no rule, so a cotangent that arrives is a LookupError.
    """
    image = convert_to_tensor(image)
    scaled = _adjust_saturation(cast(image, float32), cast(saturation_factor, float32))
    return cast(scaled, image.dtype)  # type: ignore[no-any-return]
