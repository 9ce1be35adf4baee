"""One test for each convention: at a tie, a kink, a bound or a pole (METHODS.md 3.6)."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

import reference_impl as tf

INF, NAN = float("inf"), float("nan")
CONVENTIONS: list[tuple[str, Any, list[Any], list[Any]]] = [
    ("maximum: all to the first", tf.maximum, [2.0, 2.0], [1.0, 0.0]),
    ("minimum: all to the first", tf.minimum, [2.0, 2.0], [1.0, 0.0]),
    ("maximum: nan goes to the second", tf.maximum, [NAN, 2.0], [0.0, 1.0]),
    ("reduce_max: shared", tf.reduce_max, [[3.0, 1.0, 3.0]], [[0.5, 0.0, 0.5]]),
    ("reduce_min: shared", tf.reduce_min, [[1.0, 1.0, 1.0, 2.0]], [[1 / 3, 1 / 3, 1 / 3, 0.0]]),
    ("reduce_max: nan", tf.reduce_max, [[1.0, NAN]], [[NAN, NAN]]),
    ("abs: 0", tf.abs, [0.0], [0.0]),
    ("sign: zero, connected", tf.sign, [2.0], [0.0]),
    ("relu: 0 at both zeros", tf.nn.relu, [[0.0, -0.0]], [[0.0, 0.0]]),
    ("relu6: 0 at both ends", tf.nn.relu6, [[0.0, 6.0]], [[0.0, 0.0]]),
    ("leaky_relu: alpha", tf.nn.leaky_relu, [0.0], [np.float64(np.float32(0.2))]),
    ("elu: 1", tf.nn.elu, [0.0], [1.0]),
    ("selu: scale", tf.nn.selu, [0.0], [1.0507009873554805]),
    ("softsign: 1", tf.nn.softsign, [0.0], [1.0]),
    ("sqrt: inf", tf.sqrt, [0.0], [INF]),
    ("sqrt: 0 times inf is 0", lambda x: tf.sqrt(x) * 0.0, [0.0], [0.0]),
    ("rsqrt: -inf", tf.math.rsqrt, [0.0], [-INF]),
    ("rsqrt: 0 times inf is 0", lambda x: tf.math.rsqrt(x) * 0.0, [0.0], [0.0]),
    ("reciprocal: 0 times inf is 0", lambda x: tf.math.reciprocal(x) * 0.0, [0.0], [0.0]),
    ("log: inf", tf.math.log, [0.0], [INF]),
    ("log: 0 times inf is nan", lambda x: tf.math.log(x) * 0.0, [0.0], [NAN]),
    ("where: selected, not masked", lambda x: tf.where(x > 0.0, tf.sqrt(x), 0.0), [0.0], [0.0]),
    ("where: 1 / x is nan", lambda x: tf.where(x > 0.0, 1.0 / x, 0.0), [0.0], [NAN]),
    ("norm: nan", tf.norm, [[0.0, 0.0]], [[NAN, NAN]]),
    ("euclidean norm: nan", tf.math.reduce_euclidean_norm, [[0.0, 0.0]], [[NAN, NAN]]),
    ("reduce_std of a constant: nan", tf.math.reduce_std, [[2.0, 2.0]], [[NAN, NAN]]),
    ("reduce_variance of a constant", tf.math.reduce_variance, [[2.0, 2.0]], [[0.0, 0.0]]),
    ("l2_normalize: 1e6", tf.math.l2_normalize, [[0.0]], [[1e6]]),
    ("pow(0, 0)", tf.pow, [0.0, 0.0], [NAN, 0.0]),
    ("pow(0, 1)", tf.pow, [0.0, 1.0], [1.0, 0.0]),
    ("pow(0, .5)", tf.pow, [0.0, 0.5], [INF, 0.0]),
    ("pow(-2, 3)", tf.pow, [-2.0, 3.0], [12.0, -0.0]),
    ("square by pow", lambda x: x**2, [[-1.0, 0.0, 1.0]], [[-2.0, 0.0, 2.0]]),
    ("atan2(0, 0)", tf.math.atan2, [0.0, 0.0], [NAN, NAN]),
    ("xlogy at x = 0", tf.math.xlogy, [0.0, 0.0], [0.0, 0.0]),
    ("xlogy at y = 0", tf.math.xlogy, [0.1, 0.0], [-INF, INF]),
    ("xdivy at x = 0", tf.math.xdivy, [0.0, 0.0], [0.0, 0.0]),
    ("xdivy at y = 0", tf.math.xdivy, [0.1, 0.0], [INF, -INF]),
    ("xlog1py at x = 0", tf.math.xlog1py, [0.0, -1.0], [0.0, 0.0]),
    ("divide_no_nan by 0", tf.math.divide_no_nan, [1.0, 0.0], [0.0, 0.0]),
    ("divide by 0", operator.truediv, [1.0, 0.0], [INF, -INF]),
    ("multiply_no_nan", tf.math.multiply_no_nan, [INF, 0.0], [0.0, INF]),
    ("floormod: 1 at the jump", tf.math.floormod, [4.0, 2.0], [1.0, -2.0]),
    (
        "clip: x wins at both bounds, low wins if crossed",
        tf.clip_by_value,
        [[-1.0, -2.0, 0.0, 2.0], [-2.0, -1.0, -3.0, 0.0], [1.0, 1.0, 1.0, 1.0]],
        [[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]],
    ),
    ("clip: at a bound", lambda x: tf.clip_by_value(x, 0.0, 1.0), [[0.0, 1.0]], [[1.0, 1.0]]),
    ("reduce_prod: one zero", tf.reduce_prod, [[0.0, 2.0, 3.0]], [[6.0, 0.0, 0.0]]),
    ("reduce_prod: two zeros", tf.reduce_prod, [[0.0, 0.0, 3.0]], [[0.0, 0.0, 0.0]]),
    ("logsumexp: -inf", tf.reduce_logsumexp, [[-INF, 0.0]], [[0.0, 1.0]]),
    ("softplus saturates", tf.nn.softplus, [[-800.0, 800.0]], [[0.0, 1.0]]),
    ("sigmoid saturates", tf.nn.sigmoid, [[-800.0, 800.0]], [[0.0, 0.0]]),
    ("complex abs: 0", lambda x: tf.abs(tf.complex(x, x)), [0.0], [0.0]),
    ("angle: nan", lambda x: tf.math.angle(tf.complex(x, x)), [0.0], [NAN]),
    ("an empty sum", tf.reduce_sum, [[]], [[]]),
]


@pytest.mark.parametrize(
    ("f", "values", "expected"), [c[1:] for c in CONVENTIONS], ids=[c[0] for c in CONVENTIONS]
)
def test_convention(f: Any, values: list[Any], expected: list[Any]) -> None:
    inputs = [tf.constant(value, tf.float64) for value in values]
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        y = f(*inputs)
    for found, wanted in zip(tape.gradient(y, inputs), expected, strict=True):
        got, wanted = found.numpy(), np.asarray(wanted, np.float64)
        np.testing.assert_array_equal(got, wanted)
        signs = np.where(np.isnan(wanted), False, np.signbit(got))
        np.testing.assert_array_equal(signs, np.signbit(wanted))  # the sign of zero too


@pytest.mark.parametrize(
    "f", [tf.floor, tf.math.ceil, tf.round, tf.math.rint, lambda x: x // 1.0, tf.argmax]
)
def test_steps_are_unconnected_not_zero(f: Any) -> None:
    x = tf.constant([1.5, 2.5])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert tape.gradient(y, x) is None


@pytest.mark.parametrize("f", [tf.nn.relu, tf.nn.relu6, tf.nn.leaky_relu, tf.nn.elu, tf.nn.selu])
def test_an_activations_second_derivative_is_zero_not_unconnected(f: Any) -> None:
    x = tf.constant([0.0, 0.5])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        slope = inner.gradient(y, x)
    assert outer.gradient(slope, x).numpy().tolist() == [0.0, 0.0]


def test_softsign_has_no_second_derivative() -> None:
    x = tf.constant([0.5])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.nn.softsign(x)
        slope = inner.gradient(y, x)
    with pytest.raises(LookupError, match="SoftsignGrad"):
        outer.gradient(slope, x)


def test_prevent_gradient_is_an_error() -> None:
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.raw_ops.PreventGradient(input=x, message="on purpose")
    with pytest.raises(LookupError, match=r"explicitly disabled\. Reason: on purpose"):
        tape.gradient(y, x)


def test_a_quantized_value_passes_ct_within_the_range_and_counts_steps() -> None:
    x = tf.constant([-2.0, -1.0, 0.3, 1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.quantization.quantize_and_dequantize_v2(x, -1.0, 1.0, range_given=True)
    step = 1 / 127
    np.testing.assert_allclose(
        y.numpy(), [-128 * step, -127 * step, 38 * step, 1.0, 1.0], rtol=1e-6
    )
    assert tape.gradient(y, x).numpy().tolist() == [0.0, 1.0, 1.0, 1.0, 0.0]


def test_a_product_with_zeros_in_a_segment() -> None:
    x = tf.constant([2.0, 0.0, 5.0, 0.0, 0.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.math.segment_prod(x, [0, 0, 0, 1, 1])
    assert tape.gradient(y, x).numpy().tolist() == [0.0, 10.0, 0.0, 0.0, 0.0]
