"""Ragged and sparse tensors: values are differentiated, positions are not."""

from __future__ import annotations

import pytest

import reference_impl as tf


def test_elementwise_operations_keep_the_rows() -> None:
    x = tf.ragged.constant([[1.0, 4.0], [], [9.0]])
    assert (2.0 * tf.sqrt(x) - 1.0).to_list() == [[1.0, 3.0], [], [5.0]]
    assert (x / 2.0).to_list() == [[0.5, 2.0], [], [4.5]]
    assert (36.0 / x).to_list() == [[36.0, 9.0], [], [4.0]]
    assert x.row_splits.numpy().tolist() == [0, 2, 2, 3]
    assert x.row_lengths().numpy().tolist() == [2, 0, 1]
    assert tf.ragged.map_flat_values(tf.add, x, x).to_list() == [[2.0, 8.0], [], [18.0]]


def test_a_ragged_source_has_a_ragged_gradient() -> None:
    x = tf.RaggedTensor.from_row_lengths([1.0, 2.0, 3.0], [1, 2])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    slope = tape.gradient(y, x, output_gradients=tf.ragged.constant([[1.0], [10.0, 100.0]]))
    assert slope.to_list() == [[2.0], [40.0, 600.0]]


def test_an_unconnected_ragged_source_is_none_or_ragged_zeros() -> None:
    x = tf.ragged.constant([[1.0], [2.0, 3.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.constant(1.0) * 2.0
    assert tape.gradient(y, {"x": x}) == {"x": None}
    assert tape.gradient(y, x, unconnected_gradients="zero").to_list() == [[0.0], [0.0, 0.0]]


def test_a_gather_of_ragged_values_gives_a_dense_ragged_gradient() -> None:
    x = tf.ragged.constant([[1.0], [2.0, 3.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.gather(x.flat_values, [2, 2])
    assert tape.gradient(y, x).to_list() == [[0.0], [0.0, 2.0]]


@pytest.mark.parametrize("splits", [[], [1, 3], [0, 2, 1, 3], [0, 2]])
def test_splits_must_be_a_partition(splits: list[int]) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.RaggedTensor.from_row_splits([1.0, 2.0, 3.0], splits)


def test_rows_must_agree() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="identical ragged splits"):
        tf.ragged.constant([[1.0], [2.0]]) + tf.ragged.constant([[1.0, 2.0]])


def test_a_sparse_tensor_is_watched_but_no_source() -> None:
    x = tf.SparseTensor([[0, 1]], [3.0], [1, 2])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x.values * x.values
    assert tape.gradient(y, x.values).numpy().tolist() == [6.0]
    assert (x.shape, x.dtype) == ((1, 2), tf.float32)
    with pytest.raises(ValueError, match="SparseTensor is not supported as a gradient source"):
        tape.gradient(y, x)
