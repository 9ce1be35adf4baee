"""The layers of TensorFlow's autodiff documents."""

from __future__ import annotations

import numpy as np
import pytest

import reference_impl as tf


def test_a_dense_layer_has_gradients_by_name() -> None:
    layer = tf.keras.layers.Dense(2, activation="relu", kernel_initializer="ones")
    x = tf.constant([[1.0, 2.0, 3.0]])
    with tf.GradientTape() as tape:
        y = layer(x)
        loss = tf.reduce_mean(y**2)
    slopes = tape.gradient(loss, layer.trainable_variables)
    found = {v.name: g.numpy().tolist() for v, g in zip(layer.variables, slopes, strict=True)}
    assert found == {"kernel": [[6.0] * 2, [12.0] * 2, [18.0] * 2], "bias": [6.0, 6.0]}


def test_a_sequence_of_layers_has_their_variables() -> None:
    model = tf.keras.Sequential(
        [tf.keras.layers.Lambda(lambda v: v * 3.0), tf.keras.layers.Dense(4, use_bias=False)]
    )
    model.add(tf.keras.layers.Dense(1))
    assert model(np.ones((2, 3), np.float32)).shape == (2, 1)
    assert [tuple(v.shape) for v in model.trainable_weights] == [(3, 4), (4, 1), (1,)]


def test_an_initializer_is_a_function_or_a_known_name() -> None:
    ones = tf.keras.layers.Dense(1, kernel_initializer=tf.ones, bias_initializer="ones")
    assert ones(tf.constant([[2.0, 3.0]])).numpy().tolist() == [[6.0]]
    with pytest.raises(ValueError, match="initializer identifier"):
        tf.keras.layers.Dense(1, kernel_initializer="nonsense")(tf.constant([[1.0]]))
