"""Each rule against finite differences in float64, away from kinks; and: no rule without a case.

A case is a name and a function of float64 vectors. The cotangent is arbitrary, not ones, so that a
rule which forgets it is caught; the second derivative is checked where the function is smooth.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import reference_impl as tf
from reference_impl.broadcasting import broadcast_to
from reference_impl.ops.indexing import gather_nd, unsorted_segment_sum
from reference_impl.ops.shape import expand_dims
from reference_impl.rules import PRIMITIVES

AWAY = [[0.31, 1.7, 0.9], [2.3, 0.55, 1.21]]
SMALL = [[0.3, -0.2, 0.6], [-0.45, 0.1, 0.75]]
MATRIX = [[2.0, 0.3], [0.4, 1.5]]
POSITIVE_CASES: dict[str, Callable[..., Any]] = {
    name: lambda x, f=f: f(x)
    for name, f in {
        "abs": tf.abs, "acosh": lambda x: tf.math.acosh(x + 1.5), "asinh": tf.math.asinh,
        "atan": tf.math.atan, "cos": tf.cos, "cosh": tf.math.cosh,
        "cumsum": lambda x: tf.cumsum(x, 1, exclusive=True), "elu": tf.nn.elu, "erf": tf.math.erf,
        "erfc": tf.math.erfc, "exp": tf.exp, "expm1": tf.math.expm1, "identity": tf.identity,
        "leaky_relu": tf.nn.leaky_relu, "log": tf.math.log,
        "log1p": tf.math.log1p, "log_softmax": tf.nn.log_softmax, "negative": operator.neg,
        "norm": tf.norm, "reciprocal": tf.math.reciprocal, "relu": tf.nn.relu,
        "relu6": tf.nn.relu6, "rsqrt": tf.math.rsqrt, "selu": tf.nn.selu,
        "sigmoid": tf.nn.sigmoid, "silu": tf.nn.silu, "sin": tf.sin, "sinh": tf.math.sinh,
        "softmax": tf.nn.softmax, "softmax_axis_0": lambda x: tf.nn.softmax(x, axis=0),
        "softplus": tf.nn.softplus,
        "sqrt": tf.sqrt, "square": tf.square, "tan": lambda x: tf.math.tan(x * 0.5),
        "tanh": tf.tanh, "sign": lambda x: x * tf.sign(x),
        "reduce_sum": lambda x: tf.reduce_sum(x, 0), "reduce_mean": lambda x: tf.reduce_mean(x, -1),
        "reduce_max": lambda x: tf.reduce_max(x, 1), "reduce_min": tf.reduce_min,
        "reduce_prod": lambda x: tf.reduce_prod(x, 0, keepdims=True),
        "reduce_logsumexp": lambda x: tf.reduce_logsumexp(x, 0),
        "reduce_std": lambda x: tf.math.reduce_std(x, 1),
        "reduce_variance": tf.math.reduce_variance,
        "reduce_euclidean_norm": lambda x: tf.math.reduce_euclidean_norm(x, [0]),
        "l2_normalize": lambda x: tf.math.l2_normalize(x, 1),
        "clip_by_norm": lambda x: tf.clip_by_norm(x, 0.7),
        "clip_by_value": lambda x: tf.clip_by_value(x, 0.5, 1.5),
        "reshape": lambda x: tf.reshape(x, [3, 2]), "transpose": tf.transpose,
        "transpose_3_cycle": lambda x: tf.transpose(tf.reshape(x, [1, 2, 3]), [1, 2, 0]),
        "reverse": lambda x: tf.reverse(x, [1]), "roll": lambda x: tf.roll(x, 1, 1),
        "broadcast_to": lambda x: broadcast_to(x, [2, 2, 3]),
        "tile": lambda x: tf.tile(x, [2, 1]), "fill": lambda x: tf.fill([2, 2], x[0, 0]),
        "concat": lambda x: tf.concat([x, x * x], -1), "stack": lambda x: tf.stack([x, x * x], 1),
        "unstack": lambda x: tf.unstack(x, axis=1)[1],
        "split": lambda x: tf.split(x, [1, 2], 1)[1], "expand_dims": lambda x: expand_dims(x, 1),
        "pad": lambda x: tf.pad(x, [[1, 0], [0, 2]]),
        "mirror_pad": lambda x: tf.pad(x, [[1, 1], [2, 2]], "REFLECT"),
        "strided_slice": lambda x: x[::-1, None, ::2],
        "gather": lambda x: tf.gather(x, [1, 0, 1]),
        "gather_axis": lambda x: tf.gather(x, [[2, 0], [2, 2]], axis=1),
        "gather_batch": lambda x: tf.gather(x, [[2, 0], [1, 1]], batch_dims=1),
        "gather_nd": lambda x: gather_nd(x, [[0, 1], [1, 2], [0, 1]]),
        "scatter_nd": lambda x: tf.scatter_nd([[3], [0]], x, [4, 3]),
        "segment_sum": lambda x: unsorted_segment_sum(x, [1, 1], 3),
        "sparse_segment_sum": lambda x: tf.sparse.segment_sum(x, [1, 0, 1], [0, 0, 1]),
        "sparse_segment_sum_by_slices": lambda x: tf.sparse.segment_sum(
            x, [1, 0, 1], [0, 0, 1], sparse_gradient=True
        ),
        "conv2d": lambda x: tf.nn.conv2d(
            tf.reshape(x, [1, 2, 3, 1]), tf.reshape(x, [2, 3, 1, 1])[:, :2], 1, "VALID"
        ),
        "repeat": lambda x: tf.repeat(x, [2, 0, 1], axis=1),
        "foldl": lambda x: tf.foldl(lambda a, b: a * b, x),
        "scan": lambda x: tf.scan(lambda a, b: a * b, x, x[0]),
        "where": lambda x: tf.where(x > 1.0, x, x * x),
        "cast": lambda x: tf.cast(tf.cast(x, tf.complex128), tf.float64),
        "real": lambda x: tf.math.real(tf.complex(x, x * x) ** 2),
        "imag": lambda x: tf.math.imag(tf.complex(x, x * x) ** 3),
        "complex_abs": lambda x: tf.abs(tf.complex(x, x * x)),
        "angle": lambda x: tf.math.angle(tf.complex(x, x * x)),
        "conj": lambda x: tf.math.real(tf.math.conj(tf.complex(x, x)) * tf.complex(x * x, x)),
        "complex_exp": lambda x: tf.math.imag(tf.exp(tf.complex(x, x))),
        "add_n": lambda x: tf.add_n([x, x, x * x]),
        "einsum": lambda x: tf.einsum("ij,kj->ik", x, x),
        "einsum_sum": lambda x: tf.einsum("ij->j", x),
        "nextafter": lambda x: tf.math.nextafter(x, 9.0), "spence": tf.math.special.spence,
        "segment_max": lambda x: tf.math.segment_max(tf.transpose(x), [0, 0, 2]),
        "segment_min": lambda x: tf.math.segment_min(x, [0, 0]),
        "segment_prod": lambda x: tf.math.segment_prod(tf.transpose(x), [0, 0, 1]),
        "py_function": lambda x: tf.py_function(lambda v: v * v, [x], x.dtype),
        "lgamma": tf.math.lgamma, "digamma": tf.math.digamma,
        "softsign": tf.nn.softsign,
        "tensordot": lambda x: tf.tensordot(x, x, [[1], [1]]),
        "softmax_cross_entropy": lambda x: tf.nn.softmax_cross_entropy_with_logits(
            [[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]], x
        ),
        "linspace": lambda x: tf.linspace(x[0, 0], x[1, 1], 4),
    }.items()
}  # fmt: skip
OTHER_CASES: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "acos": (tf.math.acos, [SMALL]),
    "asin": (tf.math.asin, [SMALL]),
    "atanh": (tf.math.atanh, [SMALL]),
    "elu_negative": (tf.nn.elu, [SMALL]),
    "selu_negative": (tf.nn.selu, [SMALL]),
    "leaky_relu_negative": (tf.nn.leaky_relu, [SMALL]),
    "softplus_negative": (tf.nn.softplus, [SMALL]),
    "add": (operator.add, [AWAY, [[0.3], [0.4]]]),
    "subtract": (operator.sub, [AWAY, [0.3, 0.1, 0.7]]),
    "multiply": (tf.multiply, [AWAY, [[0.3, 0.2, 2.0]]]),
    "divide": (operator.truediv, [0.7, AWAY]),
    "divide_no_nan": (tf.math.divide_no_nan, [AWAY, 0.7]),
    "multiply_no_nan": (tf.math.multiply_no_nan, [AWAY, 0.7]),
    "pow": (tf.pow, [AWAY, [[1.3], [2.2]]]),
    "maximum": (tf.maximum, [AWAY, 0.8]),
    "minimum": (tf.minimum, [AWAY, 0.8]),
    "squared_difference": (tf.math.squared_difference, [AWAY, [1.0, 0.2, 0.4]]),
    "xlogy": (tf.math.xlogy, [AWAY, 0.8]),
    "xlog1py": (tf.math.xlog1py, [AWAY, 0.8]),
    "xdivy": (tf.math.xdivy, [AWAY, 0.8]),
    "atan2": (tf.math.atan2, [AWAY, -0.8]),
    "floormod": (tf.math.floormod, [AWAY, 0.47]),
    "where_broadcast": (lambda x, y: tf.where([True, False, True], x, y), [AWAY, 0.5]),
    "clip_bounds": (lambda x, a, b: tf.clip_by_value(x, a, b), [AWAY, 0.6, 1.4]),
    "matmul": (tf.matmul, [AWAY, [[0.1], [0.5], [-0.3]]]),
    "matmul_ta": (lambda a, b: tf.matmul(a, b, transpose_a=True), [AWAY, SMALL]),
    "matmul_tb": (lambda a, b: tf.matmul(a, b, transpose_b=True), [AWAY, SMALL]),
    "matmul_tatb": (
        lambda a, b: tf.matmul(a, b, transpose_a=True, transpose_b=True),
        [AWAY, [[0.1, 0.5], [0.7, -0.3]]],
    ),
    "matmul_batch": (tf.matmul, [[AWAY, SMALL], [[[0.1], [0.5], [-0.3]]]]),
    "inv": (tf.linalg.inv, [MATRIX]),
    "det": (tf.linalg.det, [MATRIX]),
    "solve": (tf.linalg.solve, [MATRIX, [[0.1], [0.5]]]),
    "betainc": (
        lambda x: tf.math.betainc(tf.constant(2.0, x.dtype), 1.5, x),
        [np.abs(SMALL).tolist()],
    ),
    "polygamma": (lambda x: tf.math.polygamma(tf.constant(2.0, x.dtype), x), [AWAY]),
    "zeta": (lambda q: tf.math.zeta(tf.constant(2.5, q.dtype), q), [AWAY]),
    "scatter_max": (
        lambda x, u: tf.tensor_scatter_nd_max(x, [[0, 1], [0, 1], [1, 2]], u),
        [AWAY, [1.9, 2.5, 0.2]],
    ),
    "scatter_min": (
        lambda x, u: tf.tensor_scatter_nd_min(x, [[0, 1], [0, 1], [1, 2]], u),
        [AWAY, [1.9, 2.5, 0.2]],
    ),
    "xent_labels": (tf.nn.softmax_cross_entropy_with_logits, [[[0.2, 0.3, 0.5]] * 2, SMALL]),
}
CASES = {name: (f, [AWAY]) for name, f in POSITIVE_CASES.items()} | OTHER_CASES
SMOOTH = sorted(
    CASES.keys()
    - {"softsign"}  # TensorFlow has no second derivative: a LookupError
    - {"xent_labels"}  # TensorFlow's second derivative ignores that the first depends on labels
)
WITHOUT_SLOPE = {  # rules that answer None, or an error: tested in test_ties.py
    "Ceil", "Floor", "FloorDiv", "PreventGradient", "QuantizeAndDequantizeV4", "Rint", "Round",
}  # fmt: skip


def _constants(values: list[Any]) -> list[tf.Tensor]:
    return [tf.constant(value, tf.float64) for value in values]


def _weighted(f: Callable[..., Any], inputs: list[tf.Tensor]) -> tf.Tensor:
    """Contract the output with fixed, uneven weights: the cotangent of the rule under test."""
    out = f(*inputs)
    weights = 0.5 + 0.25 * np.sin(1.0 + np.arange(np.asarray(out).size)).reshape(out.shape)
    return tf.reduce_sum(out * weights)


def _finite_differences(f: Callable[..., float], values: list[np.ndarray]) -> list[np.ndarray]:
    """Central differences of order 4, in every element of every input."""
    slopes = []
    for i, value in enumerate(values):
        slope = np.zeros_like(value)
        for place in np.ndindex(value.shape):

            def shifted(step: float, i: int = i, place: Any = place) -> float:
                moved = [v.copy() for v in values]
                moved[i][place] += step
                return f(*moved)

            h = 1e-3
            slope[place] = (8 * (shifted(h) - shifted(-h)) - (shifted(2 * h) - shifted(-2 * h))) / (
                12 * h
            )
        slopes.append(slope)
    return slopes


def _gradients(f: Callable[..., Any], inputs: list[tf.Tensor]) -> list[Any]:
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        target = _weighted(f, inputs)
    return [
        tf.convert_to_tensor(slope)
        for slope in tape.gradient(target, inputs, unconnected_gradients="zero")
    ]


@pytest.mark.parametrize("name", CASES)
def test_rule_agrees_with_finite_differences(name: str) -> None:
    f, values = CASES[name]
    arrays = [np.asarray(v, np.float64) for v in values]
    expected = _finite_differences(lambda *xs: float(_weighted(f, _constants(list(xs)))), arrays)
    for found, wanted in zip(_gradients(f, _constants(values)), expected, strict=True):
        assert found.dtype == tf.float64
        assert found.shape == wanted.shape
        np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("name", sorted(CASES.keys() - {"cast"}))
def test_rule_keeps_single_precision(name: str) -> None:
    f, values = CASES[name]
    inputs = [tf.constant(value) for value in values]
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        y = f(*inputs)
    assert y.dtype == tf.float32
    found = tape.gradient(y, inputs, unconnected_gradients="zero")
    assert [slope.dtype for slope in found] == [tf.float32] * len(inputs)


@pytest.mark.parametrize("name", SMOOTH)
def test_rule_of_the_rule_agrees_with_finite_differences(name: str) -> None:
    """The rule's own cotangents are differentiable: u' H by a second tape."""
    f, values = CASES[name]
    arrays = [np.asarray(v, np.float64) for v in values]

    def slope_sum(inputs: list[tf.Tensor]) -> tf.Tensor:
        slopes = _gradients(f, inputs)
        return tf.add_n([tf.reduce_sum(s * (0.3 + 0.1 * i)) for i, s in enumerate(slopes)])

    expected = _finite_differences(lambda *xs: float(slope_sum(_constants(list(xs)))), arrays)
    inputs = _constants(values)
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        target = slope_sum(inputs)
    for found, wanted in zip(
        tape.gradient(target, inputs, unconnected_gradients="zero"), expected, strict=True
    ):
        np.testing.assert_allclose(
            np.asarray(tf.convert_to_tensor(found)), wanted, rtol=1e-6, atol=1e-6
        )


@pytest.mark.parametrize("name", SMOOTH)
def test_forward_mode_agrees_with_reverse_mode(name: str) -> None:
    f, values = CASES[name]
    inputs = _constants(values)
    tangents = [x * 0.3 + 0.1 for x in inputs]
    with tf.autodiff.ForwardAccumulator(inputs, tangents) as accumulator:
        target = _weighted(f, inputs)
    by_rows = sum(
        float(tf.reduce_sum(s * t)) for s, t in zip(_gradients(f, inputs), tangents, strict=True)
    )
    found = accumulator.jvp(target)
    assert float(found) == pytest.approx(by_rows, rel=1e-12, abs=1e-13)


def test_every_rule_is_exercised(monkeypatch: pytest.MonkeyPatch) -> None:
    exercised: set[str] = set()
    for op in PRIMITIVES.values():
        if op.rule is not None:

            def spy(*args: Any, _op: Any = op, _rule: Any = op.rule, **kwargs: Any) -> Any:
                exercised.add(_op.op_type)
                return _rule(*args, **kwargs)

            monkeypatch.setattr(op, "rule", spy)
    variable = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        target = variable * variable
    tape.gradient(target, variable)
    for name in SMOOTH:
        f, values = CASES[name]
        inputs = _constants(values)
        with tf.GradientTape() as outer:
            outer.watch(inputs)
            slopes = _gradients(lambda *xs, f=f: tf.square(f(*xs)), inputs)
        outer.gradient(slopes, inputs)
    _gradients(tf.nn.softsign, _constants([SMALL]))
    with_rule = {op.op_type for op in PRIMITIVES.values() if op.rule is not None}
    assert with_rule - exercised - WITHOUT_SLOPE == set()
