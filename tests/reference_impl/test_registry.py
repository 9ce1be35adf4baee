"""Registering gradients by type, and what cannot be registered."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import reference_impl as tf
from reference_impl import registry
from reference_impl.rules import PRIMITIVES


@pytest.fixture(autouse=True)
def _registry_is_restored() -> Iterator[None]:
    op = PRIMITIVES["AdjustContrastv2"]
    yield
    op.rule, op.differentiable = None, True
    registry._named.clear()


def _contrast_gradient() -> object:
    image, delta = tf.constant([[[0.5, 0.0]]]), tf.constant(0.1)
    with tf.GradientTape() as tape:
        tape.watch([image, delta])
        y = tf.image.adjust_contrast(image, delta)
    return tape.gradient(y, image)


def test_no_gradient_turns_the_error_into_none() -> None:
    with pytest.raises(LookupError):
        _contrast_gradient()
    tf.no_gradient("AdjustContrastv2")
    assert _contrast_gradient() is None


def test_a_registered_gradient_is_used() -> None:
    @tf.RegisterGradient("AdjustContrastv2")
    def contrast_gradient(op: object, ct: tf.Tensor) -> tuple[tf.Tensor, None]:
        return ct * 7.0, None

    assert tf.convert_to_tensor(_contrast_gradient()).numpy().tolist() == [[[7.0, 7.0]]]


def test_a_type_is_registered_once_and_by_name() -> None:
    for op_type in ("Square", "ZerosLike"):
        with pytest.raises(KeyError, match="Registering two gradient"):
            tf.no_gradient(op_type)
    with pytest.raises(TypeError, match="op_type must be a string"):
        tf.no_gradient(3)
    tf.no_gradient("NoSuchOperation")
    with pytest.raises(KeyError, match="Registering two gradient"):
        tf.RegisterGradient("NoSuchOperation")(lambda op, ct: ct)


def test_symbolic_gradients_need_a_graph() -> None:
    with pytest.raises(RuntimeError, match="not supported when eager execution is enabled"):
        tf.gradients(tf.constant(1.0), tf.constant(1.0))
