"""Jacobians: shapes, batches, structures, and the errors of the guide."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import reference_impl as tf


def _tape(f: Any, *inputs: Any, persistent: bool = False) -> tuple[Any, Any]:
    with tf.GradientTape(persistent=persistent) as tape:
        tape.watch(list(inputs))
        y = f(*inputs)
    return tape, y


def test_a_row_for_each_target_element() -> None:
    x = tf.constant([1.0, 2.0, 3.0])
    tape, y = _tape(lambda x: tf.stack([x[0] * x[1], x[2] ** 2]), x)
    assert tape.jacobian(y, x).numpy().tolist() == [[2.0, 1.0, 0.0], [0.0, 0.0, 6.0]]


def test_shape_is_the_targets_then_the_sources() -> None:
    x, w = tf.ones([7, 5]), tf.Variable(tf.ones([5, 4]))
    tape, y = _tape(lambda x: tf.matmul(x, w), x)
    found = tape.jacobian(y, {"x": x, "w": w})
    assert found["x"].shape == (7, 4, 7, 5)
    assert found["w"].shape == (7, 4, 5, 4)


def test_a_scalar_target_adds_no_axis() -> None:
    x = tf.constant([1.0, 2.0])
    tape, y = _tape(lambda x: tf.reduce_sum(x * x), x)
    assert tape.jacobian(y, x).numpy().tolist() == [2.0, 4.0]


def test_a_jacobian_of_slices_is_dense() -> None:
    x = tf.constant([1.0, 2.0, 3.0])
    tape, y = _tape(lambda x: tf.gather(x, [2, 2]), x)
    assert tape.jacobian(y, x).numpy().tolist() == [[0.0, 0.0, 1.0]] * 2


def test_unconnected_is_none_or_zeros_of_both_shapes() -> None:
    x, other = tf.constant([1.0, 2.0]), tf.constant([[1.0]], tf.float64)
    tape, y = _tape(lambda x: x * x, x, persistent=True)
    assert tape.jacobian(y, [other]) == [None]
    zeros = tape.jacobian(y, other, unconnected_gradients="zero")
    assert (zeros.shape, zeros.dtype) == ((2, 1, 1), tf.float64)


def test_an_integer_target_is_none_for_the_jacobian_and_zeros_for_the_batch() -> None:
    x = tf.constant([[1, 2]])
    tape, y = _tape(lambda x: x * x, x, persistent=True)
    assert tape.jacobian(y, x) is None
    found = tape.batch_jacobian(y, x)
    assert (found.dtype, found.numpy().tolist()) == (tf.int32, [[[0, 0], [0, 0]]])


def test_empty_targets_keep_their_shape() -> None:
    x = tf.zeros([0, 3])
    tape, y = _tape(lambda x: x * x, x, persistent=True)
    assert tape.jacobian(y, x).shape == (0, 3, 0, 3)
    assert tape.jacobian(y, tf.constant(1.0)) is None


def test_a_batch_jacobian_keeps_examples_apart_and_sums_what_crosses() -> None:
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    tape, y = _tape(lambda x: x * x, x)
    assert tape.batch_jacobian(y, x).numpy().tolist() == [
        [[2.0, 0.0], [0.0, 4.0]],
        [[6.0, 0.0], [0.0, 8.0]],
    ]
    tape, y = _tape(lambda x: x * tf.reduce_sum(x, 0), x, persistent=True)
    summed = np.einsum("bisj->sij", tape.jacobian(y, x).numpy())
    np.testing.assert_allclose(tape.batch_jacobian(y, x).numpy(), summed)


def test_a_hessian_is_a_jacobian_of_a_gradient() -> None:
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x[0] ** 2 * x[1] + x[1] ** 3
        slope = inner.gradient(y, x)
    assert outer.jacobian(slope, x).numpy().tolist() == [[4.0, 2.0], [2.0, 12.0]]


def test_a_jacobian_inside_the_tapes_context() -> None:
    x = tf.constant([[3.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        found = tape.jacobian(x**4, x)
    assert found.numpy().tolist() == [[[[108.0]]]]


def test_the_errors_of_jacobian_and_batch_jacobian() -> None:
    x = tf.constant([[1.0, 2.0]])
    tape, y = _tape(lambda x: x * x, x)
    with pytest.raises(AttributeError, match="'list' object has no attribute 'shape'"):
        tape.jacobian([y], x)
    with pytest.raises(RuntimeError, match="persistent=True to compute the jacobian"):
        tape.jacobian(y, x, experimental_use_pfor=False)
    with pytest.raises(RuntimeError, match="persistent=True to compute the batch_jacobian"):
        tape.batch_jacobian(y, x, experimental_use_pfor=False)
    with pytest.raises(ValueError, match="must have rank at least 2"):
        tape.batch_jacobian(y, tf.constant([1.0]))
    with pytest.raises(ValueError, match="must have rank at least 2"):
        tape.batch_jacobian(tf.constant([1.0]), x)
    with pytest.raises(ValueError, match="Need first dimension of target shape"):
        tape.batch_jacobian(y, tf.constant([[1.0], [2.0]]))
    assert tape.jacobian(y, x).shape == (1, 2, 1, 2)
    with pytest.raises(RuntimeError, match="can only be used to compute one set"):
        tape.gradient(y, x)
