"""Functions with a gradient of their own: what is declared is what is used."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import reference_impl as tf
from reference_impl.tensor import Tensor


def _gradient(f: Any, *inputs: Any) -> list[Any]:
    with tf.GradientTape() as tape:
        tape.watch([x for x in inputs if isinstance(x, Tensor)])
        y = f(*inputs)
    return [None if g is None else np.asarray(g).tolist() for g in tape.gradient(y, list(inputs))]


@tf.custom_gradient
def ten_times(x: Any, k: float = 2.0) -> Any:
    """A wrong gradient, so that it is seen which one is used."""
    return x * k, lambda ct: ct * 10.0


def test_the_declared_gradient_replaces_the_true_one() -> None:
    assert _gradient(ten_times, tf.constant(1.0)) == [10.0]
    assert _gradient(lambda x: ten_times(ten_times(x)) * 3.0, tf.constant(1.0)) == [300.0]


def test_keyword_arguments_bypass_the_declared_gradient() -> None:
    assert _gradient(lambda x: ten_times(x=x), tf.constant(1.0)) == [2.0]


def test_a_variable_argument_gets_the_declared_gradient() -> None:
    assert _gradient(ten_times, tf.Variable(3.0)) == [10.0]


def test_log1pexp_is_repaired_at_100() -> None:
    @tf.custom_gradient
    def log1pexp(x: Any) -> Any:
        e = tf.exp(x)
        return tf.math.log(1 + e), lambda upstream: upstream * (1 - 1 / (1 + e))

    assert np.isnan(_gradient(lambda x: tf.math.log(1 + tf.exp(x)), tf.constant(100.0))[0])
    assert _gradient(log1pexp, tf.constant(100.0)) == [1.0]


def test_parentheses_and_methods() -> None:
    class Model:
        @tf.custom_gradient
        def scaled(self, x: Any) -> Any:
            """Say something."""
            return x * 2.0, lambda ct: ct * 9.0

    assert _gradient(Model().scaled, tf.constant(1.0)) == [9.0]
    assert Model().scaled.__name__ == Model.scaled.__name__ == "scaled"
    assert Model.scaled.__doc__ == "Say something."
    free = tf.custom_gradient()(lambda x: (x * 2.0, lambda ct: ct * 7.0))
    assert _gradient(free, tf.constant(1.0)) == [7.0]


def test_structures_go_in_and_out() -> None:
    @tf.custom_gradient
    def f(d: Any) -> Any:
        return {"o": d["a"] * d["b"], "p": d["a"] * 1.0}, lambda u, w: {"b": u * 7.0, "a": w * 8.0}

    a, b = tf.constant(1.0), tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        y = f({"b": b, "a": a})
    assert list(y) == ["o", "p"]
    assert [float(g) for g in tape.gradient(y["o"], [a, b])] == [0.0, 7.0]


@pytest.mark.parametrize("returned", [(), (1.0,), (1.0, 1.0, 1.0)])
def test_a_wrong_number_of_cotangents_is_refused(returned: tuple[float, ...]) -> None:
    f = tf.custom_gradient(lambda x, y: (x * y, lambda ct: tuple(ct * r for r in returned)))
    with pytest.raises(ValueError, match=f"expected to return 2 .* returned {len(returned)}"):
        _gradient(f, tf.constant(1.0), tf.constant(2.0))


def test_none_for_one_argument_leaves_it_unconnected() -> None:
    f = tf.custom_gradient(lambda x, y: (x * y, lambda ct: (None, ct)))
    assert _gradient(f, tf.constant(1.0), tf.constant(2.0)) == [None, 1.0]


def test_an_error_in_the_gradient_function_arrives_unchanged() -> None:
    def explode(ct: Any) -> Any:
        raise ArithmeticError("mine")

    with pytest.raises(ArithmeticError, match="mine"):
        _gradient(tf.custom_gradient(lambda x: (x * 1.0, explode)), tf.constant(1.0))


def test_captured_variables_get_the_declared_gradient() -> None:
    weights = tf.Variable(tf.ones([2]))
    seen = []

    @tf.custom_gradient
    def linear_poly(x: Any) -> Any:
        def grad(ct: Any, variables: Any = None) -> Any:
            seen.extend(variables)
            slope = ct * tf.stack([x**1, x**0])
            return ct * weights[1], [tf.reduce_sum(tf.reshape(slope, [2, -1]), axis=1)]

        return weights[1] * x + weights[0], grad

    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        poly = linear_poly(x)
    assert tape.gradient(poly, x).numpy().tolist() == [1.0, 1.0, 1.0]
    assert tape.gradient(poly, weights).numpy().tolist() == [6.0, 3.0]
    assert seen[0] is weights


def test_captured_variables_must_be_taken_and_answered() -> None:
    v = tf.Variable(2.0)
    with pytest.raises(TypeError, match="must accept keyword argument 'variables'"):
        tf.custom_gradient(lambda x: (x * v, lambda ct: ct))(tf.constant(1.0))
    f = tf.custom_gradient(lambda x: (x * v, lambda ct, variables: (ct, [])))
    with pytest.raises(ValueError, match="Must return gradient for each variable"):
        _gradient(f, tf.constant(1.0))


def test_fused_backprop_has_its_own_second_derivative() -> None:
    @tf.custom_gradient
    def cube(x: Any) -> Any:
        def first(ct: Any) -> Any:
            @tf.custom_gradient
            def slope(unused: Any) -> Any:
                return 3.0 * x * x, lambda ct2: ct2 * 1000.0

            return ct * slope(x)

        return x**3, first

    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = cube(x)
        slope = inner.gradient(y, x)
    assert (float(slope), float(outer.gradient(slope, x))) == (12.0, 1000.0)


def test_grad_pass_through_is_an_identity_backwards() -> None:
    x, z = tf.Variable(1.0, name="x"), tf.Variable(3.0, name="z")
    with tf.GradientTape() as tape:
        y = tf.grad_pass_through(x.assign)(z**2)
    assert float(y) == 9.0
    assert float(tape.gradient(y, z)) == 6.0


def test_grad_pass_through_gives_captured_variables_none() -> None:
    v, x = tf.Variable(2.0), tf.constant(3.0)
    assert _gradient(lambda x, v: tf.grad_pass_through(lambda x: x * v)(x), x, v) == [1.0, None]


def test_grad_pass_through_needs_as_many_results_as_arguments() -> None:
    with pytest.raises(ValueError, match="expected to return 2 gradients, but returned 1"):
        _gradient(tf.grad_pass_through(lambda x, y: x * y), tf.constant(1.0), tf.constant(2.0))


def test_recompute_grad_runs_again_for_the_gradient() -> None:
    calls = []
    y = tf.Variable(2.0)

    def f(x: Any) -> Any:
        calls.append(x)
        return x * y

    recomputed = tf.recompute_grad(f)
    assert recomputed.__wrapped__ is f
    with tf.GradientTape() as tape:
        r = tf.constant(1.0)
        for _ in range(4):
            r = recomputed(r)
    assert len(calls) == 4
    assert float(tape.gradient(r, y)) == 4 * 2.0**3
    assert len(calls) == 8


def test_recompute_grad_of_one_tensor_at_two_places() -> None:
    f = tf.recompute_grad(lambda x, y: x * x + 3.0 * y)
    assert _gradient(lambda x: f(x, x), tf.constant(2.0)) == [7.0]


def test_recompute_grad_of_a_method() -> None:
    class Layer:
        factor = 3.0

        @tf.recompute_grad
        def cube(self, x: Any) -> Any:
            return x * x * x * self.factor

    assert _gradient(Layer().cube, tf.constant(2.0)) == [36.0]


def test_recompute_grad_reads_a_variable_again_that_it_is_given() -> None:
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.recompute_grad(lambda a: a * a)(v)
    v.assign(5.0)
    assert float(tape.gradient(y, v)) == 10.0


def test_recompute_grad_is_not_transparent() -> None:
    v, x, closed, unused = tf.Variable(3.0), tf.constant(2.0), tf.constant(5.0), tf.constant(1.0)
    f = tf.recompute_grad(lambda x, u: x * v * closed)
    with tf.GradientTape() as tape:
        tape.watch([x, closed, unused])
        y = f(x, unused)
        v.assign(100.0)
    found = tape.gradient(y, [x, v, closed, unused])
    assert [None if g is None else float(g) for g in found] == [500.0, 10.0, None, 0.0]


def test_recompute_grad_has_second_order_but_no_forward_mode() -> None:
    f = tf.recompute_grad(lambda x: x**3)
    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        slope = inner.gradient(y, x)
    assert (float(slope), float(outer.gradient(slope, x))) == (12.0, 12.0)
    with (
        pytest.raises(NotImplementedError, match="recompute_grad tried to transpose"),
        tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)),
    ):
        f(x)
