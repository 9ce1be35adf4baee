"""What the numeric check follows: every answer of these programs is compared, and holds."""

from __future__ import annotations

import pytest

from conformance.suite.numeric.check import Numeric
from tests.suite.numeric.making import cases_of, checked, entry, name_of

TAPE = """
with tf.GradientTape(persistent=True) as t:
    t.watch(x)
"""
VECTOR = "{x: [0.3, -1.2, 0.7]}"
LARGE = "{x: {draw: [17, 17], range: [1.0, 2.0]}}"
MATRIX = "{x: [[0.3, -1.2], [0.7, 2.0]]}"

FOLLOWED = {
    "a_scalar": (entry(TAPE + "    y = tf.sin(x) * x\ng = t.gradient(y, x)"), 1),
    "a_vector": (entry(TAPE + "    y = tf.sin(x) * x\ng = t.gradient(y, x)", inputs=VECTOR), 3),
    "an_intermediate": (entry(TAPE + "    u = x * x\n    y = u * x\ng = t.gradient(y, u)"), 1),
    "a_transposed_source": (
        entry(
            TAPE + "    u = tf.transpose(x)\n    y = u * u\ng = t.gradient(y, u)", inputs=MATRIX
        ),
        4,
    ),
    "its_own_source": (entry(TAPE + "    y = x * x\ng = t.gradient([y, x], x)"), 1),
    "twice_the_same_source": (entry(TAPE + "    y = x * x\ng = t.gradient(y, [x, x])"), 2),
    "two_queries": (
        entry(TAPE + "    y = x * x\n    z = y * y\nf = t.gradient(z, y)\ng = t.gradient(z, x)"),
        2,
    ),
    "output_gradients": (
        entry(
            TAPE + "    y = x * x\ng = t.gradient(y, x, output_gradients=tf.constant([1.,2.,-3.]))",
            inputs=VECTOR,
        ),
        3,
    ),
    "positional_output_gradients": (
        entry(TAPE + "    y = x * x\ng = t.gradient(y, x, tf.constant(7.0))"),
        1,
    ),
    "a_jacobian": (entry(TAPE + "    y = x * x * x[0]\ng = t.jacobian(y, x)", inputs=VECTOR), 9),
    "a_batch_jacobian": (
        entry(TAPE + "    y = tf.exp(x) * x[0]\ng = t.batch_jacobian(y, x)", inputs=MATRIX),
        8,
    ),
    "the_second_derivative": (
        entry(
            """
with tf.GradientTape() as o:
    o.watch(x)
    with tf.GradientTape() as t:
        t.watch(x)
        y = x * tf.exp(x)
    f = t.gradient(y, x)
g = o.gradient(f, x)"""
        ),
        2,
    ),
    "a_variable": (
        entry(
            "with tf.GradientTape() as t:\n    y = v * v * x\ng = t.gradient(y, [v, x])",
            inputs="{x: 3.0, v: {variable: 2.0}}",
        ),
        2,
    ),
    "a_variable_that_changes": (
        entry(
            """
with tf.GradientTape() as t:
    y = v * v
    v.assign(y)
    z = y * v
g = t.gradient(z, v)""",
            inputs="{v: {variable: 2.0}}",
        ),
        1,
    ),
    "rows": (
        entry(TAPE + "    y = tf.gather(x * x, [2, 0, 2])\ng = t.gradient(y, x)", inputs=VECTOR),
        3,
    ),
    "a_complex_source": (
        entry(
            TAPE + "    y = x * x * tf.math.conj(x)\ng = t.gradient(y, x)",
            inputs='{x: {constant: "1+2j", dtype: complex64}}',
        ),
        1,
    ),
    "nobody_watches": (
        entry("with tf.GradientTape() as t:\n    y = x * x\ng = t.gradient(y, x)"),
        1,
    ),
    "zeros_for_unconnected": (
        entry(
            TAPE + "    y = x * x\ng = t.gradient(y, z, unconnected_gradients='zero')",
            inputs="{x: 3.0, z: [1.0, 2.0]}",
        ),
        2,
    ),
    "before_the_tape": (entry("z = x * x\n" + TAPE + "    y = z * x\ng = t.gradient(y, x)"), 1),
    "stop_gradient": (
        entry(TAPE + "    y = x * tf.stop_gradient(x * x)\ng = t.gradient(y, x)"),
        1,
    ),
    "stop_recording": (
        entry(
            TAPE + "    with t.stop_recording():\n        z = x * x\n    y = x * z\n"
            "g = t.gradient(y, x)"
        ),
        1,
    ),
    "a_nondifferentiable_operation": (
        entry(TAPE + "    y = x * tf.cast(x > 1.0, tf.float32) * tf.ones_like(x)\n"
              "g = t.gradient(y, x)"),
        1,
    ),
    "the_taken_branch": (
        entry(TAPE + "    y = tf.cond(x > 1.0, lambda: x * x, lambda: x)\ng = t.gradient(y, x)"),
        1,
    ),
    "a_false_gradient": (
        entry(
            """
@tf.custom_gradient
def f(x):
    def grad(dy):
        return dy * 100.0 * x
    return tf.exp(x), grad
with tf.GradientTape() as t:
    t.watch(x)
    y = f(x * x) * x
g = t.gradient(y, x)"""
        ),
        1,
    ),
    "a_gradient_that_clips": (
        entry(
            """
@tf.custom_gradient
def f(x):
    def grad(dy):
        return tf.clip_by_norm(dy, 0.5)
    return x * 1.0, grad
with tf.GradientTape() as t:
    t.watch(x)
    y = f(x * x) * x
g = t.gradient(y, x)"""
        ),
        1,
    ),
    "the_derivative_of_a_false_gradient": (
        entry(
            """
@tf.custom_gradient
def f(x):
    def grad(dy):
        return dy * x * x * x
    return tf.exp(x), grad
with tf.GradientTape() as o:
    o.watch(x)
    with tf.GradientTape() as t:
        t.watch(x)
        y = f(x)
    f1 = t.gradient(y, x)
g = o.gradient(f1, x)"""
        ),
        2,
    ),
    "a_false_gradient_of_a_variable": (
        entry(
            """
@tf.custom_gradient
def f(x):
    def grad(dy, variables):
        return dy * 5.0, [dy * 7.0]
    return v * x, grad
with tf.GradientTape() as t:
    t.watch(x)
    y = f(x)
g = t.gradient(y, [x, v])""",
            inputs="{x: 3.0, v: {variable: 2.0}}",
        ),
        2,
    ),
    "grad_pass_through": (
        entry(TAPE + "    y = x * tf.grad_pass_through(tf.round)(x * 1.3)\ng = t.gradient(y, x)"),
        1,
    ),
    "recompute_grad": (
        entry(TAPE + "    y = x * tf.recompute_grad(tf.sin)(x * x)\ng = t.gradient(y, x)"),
        1,
    ),
    "forward": (
        entry(
            """
with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0, 2.0])) as a:
    y = tf.sin(x) * x
g = a.jvp(y)""",
            inputs=VECTOR,
        ),
        3,
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def numeric() -> Numeric:
    return checked(cases_of(**{name: text for name, (text, _) in FOLLOWED.items()}))


def test_all_hold(numeric: Numeric) -> None:
    assert numeric.faults == []
    assert numeric.share == 1.0


@pytest.mark.parametrize("name", FOLLOWED)
def test_it_is_followed(numeric: Numeric, name: str) -> None:
    found = {name_of(case): answers for case, answers in numeric.checked.items()}
    assert name in found, numeric.skipped
    assert sum(answer.elements for answer in found[name]) == FOLLOWED[name][1], found[name]


LEFT_OUT = {
    "tagged": (
        entry(TAPE + "    y = tf.abs(x)\ng = t.gradient(y, x)") + "\ntags: [kink]",
        "tagged kink",
    ),
    "a_kink": (
        entry(TAPE + "    y = tf.nn.relu(x)\ng = t.gradient(y, x)", inputs="{x: 0.0}"),
        "a kink at this point",
    ),
    "a_tie_that_cancels": (
        entry(
            TAPE + "    y = tf.maximum(x, 3.0) + tf.minimum(x, 3.0)\ng = t.gradient(y, x)",
        ),
        "a kink at this point",
    ),
    "the_edge": (
        entry(TAPE + "    y = tf.sqrt(x)\ng = t.gradient(y, x)", inputs="{x: 0.0}"),
        "the edge of a domain",
    ),
    "integers": (
        entry(
            TAPE + "    y = x * x\ng = t.gradient(y, x)",
            inputs="{x: {constant: 3, dtype: int32}}",
            expect="{g: null}",
        ),
        "an integer or string source",
    ),
    "nothing_asked": (entry(TAPE + "    g = x * x", expect="{g: 9.0}"), "no gradient is asked for"),
    "an_error": (
        entry(TAPE + "    y = x * x\ng = t.gradient(None, x)", expect="{g: {error: TypeError}}"),
        "an error is the answer",
    ),
    "many": (
        entry(TAPE + "    y = x * x\ng = t.gradient(y, x)", inputs=LARGE),
        "a source of many elements",
    ),
    "empty": (
        entry(TAPE + "    y = x * x\ng = t.gradient(y, x)", inputs="{x: []}"),
        "an answer without elements",
    ),
    "lacking": (
        entry(TAPE + "    y = tf.math.erfinv(x)\ng = t.gradient(y, x)"),
        "the oracle lacks the operation: each target is held against its own forward",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def left_out() -> Numeric:
    return checked(cases_of(**{name: text for name, (text, _) in LEFT_OUT.items()}))


@pytest.mark.parametrize("name", LEFT_OUT)
def test_it_is_counted_with_its_reason(left_out: Numeric, name: str) -> None:
    reasons = {name_of(case): reason for case, reason in left_out.skipped.items()}
    assert reasons[name] == LEFT_OUT[name][1]


def test_what_is_left_out_is_printed_and_named(left_out: Numeric) -> None:
    assert not left_out.checked
    assert left_out.faults == []
    text = "\n".join(left_out.lines())
    assert "0 cases checked" in text
    assert "3 not checked: a kink at this point" not in text
    assert "2 not checked: a kink at this point" in text
    named = "\n".join(left_out.lines(verbose=True))
    assert all(name in named for name in LEFT_OUT)


def test_what_the_check_cannot_do_lowers_the_share(left_out: Numeric) -> None:
    """A kink that no tag admits is a limit of the check; a tag, an error or no query is not."""
    assert left_out.smooth == 4
    assert left_out.share == 0.0
