"""Datasets, queues and TensorArrays: the first two cut the path, the last does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import reference_impl as tf


def through_a_dataset(x: tf.Tensor) -> Any:
    return next(iter(tf.data.Dataset.from_tensor_slices(x)))


def through_a_mapped_dataset(x: tf.Tensor) -> Any:
    return next(iter(tf.data.Dataset.from_tensors(1.0).map(lambda one: one * x)))


def through_a_queue(x: tf.Tensor) -> Any:
    queue = tf.queue.FIFOQueue(1, tf.float32)
    queue.enqueue(x)
    return queue.dequeue()


@pytest.mark.parametrize("through", [through_a_dataset, through_a_mapped_dataset, through_a_queue])
def test_state_cuts_the_path(through: Callable[[tf.Tensor], Any]) -> None:
    x = tf.constant([2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = through(x * 2.0) * 5.0
    assert tape.gradient(y, x) is None


def test_a_dataset_is_iterated_anew_in_structures_and_batches() -> None:
    data = tf.data.Dataset.from_tensor_slices(({"a": [1.0, 2.0, 3.0]}, [[1], [2], [3]]))
    for _ in range(2):
        rows = [(float(row["a"]), label.numpy().tolist()) for row, label in data]
        assert rows == [(1.0, [1]), (2.0, [2]), (3.0, [3])]
    batches = data.map(lambda row, label: row["a"]).batch(2)
    assert [batch.numpy().tolist() for batch in batches] == [[1.0, 2.0], [3.0]]
    assert len(list(data.batch(2, drop_remainder=True))) == 1


def test_a_dataset_of_unequal_columns_is_refused() -> None:
    with pytest.raises(ValueError, match="not equal"):
        tf.data.Dataset.from_tensor_slices(([1.0], [1.0, 2.0]))


def test_a_queue_is_first_in_first_out_and_never_waits() -> None:
    queue = tf.queue.FIFOQueue(2, [tf.float32, tf.int32])
    queue.enqueue([1.0, 1])
    queue.enqueue([2.0, 2])
    assert int(queue.size()) == 2
    with pytest.raises(tf.errors.OutOfRangeError, match="full"):
        queue.enqueue([3.0, 3])
    assert [float(part) for part in queue.dequeue()] == [1.0, 1.0]
    queue.dequeue()
    with pytest.raises(tf.errors.OutOfRangeError, match="empty"):
        queue.dequeue()
    with pytest.raises(tf.errors.InvalidArgumentError, match="takes"):
        queue.enqueue([1.0, 1.0])


def test_a_tensor_array_is_connected_and_unwritten_elements_are_zeros() -> None:
    x = tf.constant([2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        array = tf.TensorArray(tf.float32, size=3).write(2, x * x).write(0, x)
        y = array.stack()
        z = tf.concat([array.concat(), array.read(2)], 0)
    assert y.numpy().tolist() == [[2.0, 3.0], [0.0, 0.0], [4.0, 9.0]]
    assert tape.gradient([y, z], x).numpy().tolist() == [14.0, 20.0]


def test_a_tensor_array_grows_only_if_it_may() -> None:
    array = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    assert int(array.write(1, 5.0).size()) == 2
    with pytest.raises(tf.errors.InvalidArgumentError):
        array.write(1, 5.0)
    for refused in (lambda a: a.write(1, 5.0), lambda a: a.read(1)):
        with pytest.raises(tf.errors.OutOfRangeError):
            refused(tf.TensorArray(tf.float32, size=1))


def test_folds_walk_from_their_end() -> None:
    x = tf.constant([2.0, 3.0, 5.0])
    assert float(tf.foldl(lambda a, b: a * 10.0 + b, x)) == 235.0
    assert float(tf.foldr(lambda a, b: a * 10.0 + b, x, 1.0)) == 1532.0
    assert tf.scan(lambda a, b: a + b, x, 1.0).numpy().tolist() == [3.0, 6.0, 11.0]
    pairs = tf.map_fn(lambda row: (row["x"], row["x"] * 2.0), {"x": x})
    assert np.stack(pairs).tolist() == [[2.0, 3.0, 5.0], [4.0, 6.0, 10.0]]


def test_python_functions_are_differentiated_and_numpy_functions_cut() -> None:
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        squared, doubled = tf.py_function(lambda v: (v * v, v + v), [x], [tf.float32] * 2)
        y = squared * doubled
        cut = tf.numpy_function(lambda v: v * v, [x], tf.float32)
    assert float(tape.gradient(y, x)) == 54.0
    assert (float(cut), tape.gradient(cut, x)) == (9.0, None)
    assert tf.py_function(lambda: None, [], []) == []
