"""Forward mode: tangents, nesting, and the order of recorders."""

from __future__ import annotations

import math
import weakref
from typing import Any

import pytest

import reference_impl as tf
from reference_impl import recording

Forward = tf.autodiff.ForwardAccumulator


def test_tangents_of_primals_and_of_what_is_computed() -> None:
    x = tf.constant([1.0, 2.0])
    with Forward(x, tf.constant([1.0, 0.0])) as acc:
        y = {"a": tf.sin(x), "b": tf.constant(1.0)}
    tangents = acc.jvp(y)
    assert tangents["a"].numpy().tolist() == pytest.approx([math.cos(1.0), 0.0])
    assert tangents["b"] is None
    assert acc.jvp(x).numpy().tolist() == [1.0, 0.0]
    assert acc.jvp(y["b"], unconnected_gradients="zero").numpy() == 0.0


def test_an_accumulator_stops_at_its_exit_and_can_be_entered_again() -> None:
    x = tf.constant(2.0)
    acc = Forward(x, tf.constant(3.0))
    with acc:
        y = x * x
    assert acc.jvp(y * 1.0) is None
    with acc:
        z = y * x
    assert float(acc.jvp(z)) == 3.0 * 12.0


def test_misuse_is_refused() -> None:
    x = tf.constant([1.0])
    with pytest.raises(ValueError, match="multiple times"):
        Forward([x, x], [x, x])
    with pytest.raises(ValueError, match="same nested structure"):
        Forward([x], x)
    with pytest.raises(ValueError, match="Tensor conversion requested"):
        Forward(x, tf.constant([1.0], tf.float64))
    with Forward(x, x) as acc, pytest.raises(ValueError, match="already recording"):
        acc.__enter__()
    with pytest.raises(AttributeError, match="_id"):
        acc.jvp(1.0)
    with pytest.raises(ValueError, match="Unknown value for unconnected_gradients"):
        acc.jvp(x, unconnected_gradients="foo")


def test_variables_have_tangents_as_primals_only() -> None:
    v, w = tf.Variable(3.0), tf.Variable(5.0)
    with Forward(v, tf.constant(1.0)) as acc:
        y = v * w
    assert float(acc.jvp(y)) == 5.0
    assert acc.jvp(w) is None


@pytest.mark.parametrize("cut", [tf.floor, tf.zeros_like, tf.stop_gradient, tf.argmax])
def test_what_cuts_a_gradient_cuts_a_tangent(cut: Any) -> None:
    x = tf.constant([1.0, 2.0])
    with Forward(x, tf.constant([1.0, 0.0])) as acc:
        y = cut(x)
    assert acc.jvp(y) is None


def test_gather_has_a_tangent() -> None:
    x = tf.constant([1.0, 2.0])
    with Forward(x, tf.constant([3.0, 4.0])) as acc:
        y = tf.gather(x, [1, 1, 0]) * 2.0
    assert acc.jvp(y).numpy().tolist() == [8.0, 8.0, 6.0]


def test_outer_accumulators_see_inner_tangents_and_not_the_other_way() -> None:
    x = tf.constant(1.1, tf.float64)
    one = tf.constant(1.0, tf.float64)
    with Forward(x, one) as outer, Forward(x, one) as inner:
        y = x**3.5
    first = inner.jvp(y)
    assert float(first) == pytest.approx(3.5 * 1.1**2.5)
    assert float(outer.jvp(first)) == pytest.approx(3.5 * 2.5 * 1.1**1.5)
    assert inner.jvp(outer.jvp(y)) is None


def test_perturbations_are_not_confused() -> None:
    x = tf.constant(1.0)
    with Forward(x, tf.constant(1.0)) as outer:
        y = tf.constant(1.0)
        with Forward(y, tf.constant(1.0)) as inner:
            total = x + y
        product = x * inner.jvp(total)
    assert float(outer.jvp(product)) == 1.0


def test_forward_over_backward_is_backward_over_forward() -> None:
    v, tangent = tf.Variable([1.0, 2.0]), tf.constant([1.0, 0.0])
    with Forward(v, tangent) as acc:
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(v**3.0)
        slope = tape.gradient(y, v)
    assert acc.jvp(slope).numpy().tolist() == [6.0, 0.0]
    with tf.GradientTape() as tape, Forward(v, tangent) as acc:
        y = tf.reduce_sum(v**3.0)
    assert tape.gradient(acc.jvp(y), v).numpy().tolist() == [6.0, 0.0]


def test_an_inner_tape_does_not_see_an_outer_accumulators_work() -> None:
    x = tf.constant(1.0)
    with Forward(x, tf.constant(0.1)) as acc, tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.sin(x)
    assert tape.gradient(acc.jvp(y), x) is None


def test_stopped_recording_hides_from_accumulators_and_tapes() -> None:
    x = tf.constant(1.0)
    with tf.GradientTape() as tape, Forward(x, tf.constant(1.0)) as acc:
        tape.watch(x)
        with recording.stop_recording():
            y = x * x
    assert acc.jvp(y) is None
    assert tape.gradient(y, x) is None


def test_a_custom_gradient_is_transposed() -> None:
    f = tf.custom_gradient(lambda x: (x * 2.0, lambda ct: ct * 9.0))
    x = tf.constant(1.0)
    with Forward(x, tf.constant(2.0)) as acc:
        y = f(x)
    assert float(acc.jvp(y)) == 18.0


def test_a_tangent_lives_as_long_as_its_primal() -> None:
    x = tf.constant([1.0])
    with Forward(x, x) as acc:
        y = x * x
    alive = weakref.ref(acc.jvp(y))
    del y
    assert alive() is None


def test_a_tangent_has_the_shape_of_its_primal() -> None:
    with pytest.raises(ValueError, match="was expected to be of shape"):
        tf.autodiff.ForwardAccumulator(tf.constant([1.0, 2.0]), tf.constant([[1.0, 2.0]]))
