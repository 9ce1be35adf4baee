"""Features: read off the program, never typed."""

from __future__ import annotations

import pytest

from conformance.corpus.language.features import FEATURES, features_of, tags_of
from conformance.corpus.language.vocabulary import NOT_PORTABLE, TAGS
from tests.cases import one_case, whole_corpus

TAPE = "with tf.GradientTape() as t:\n      y = x * x\n  "
PROGRAMS = {
    "g = tf.GradientTape(persistent=True), x": "persistent",
    "g = tf.GradientTape(True), x": "persistent",
    "with tf.GradientTape() as t:\n      with tf.GradientTape() as s:\n          g = x": "nested",
    "with tf.GradientTape() as t, tf.GradientTape() as s:\n      g = x": "nested",
    f"{TAPE}t.watch(x)\n  g = x": "watch",
    f"{TAPE}g = t.batch_jacobian(y, x)": "jacobian",
    f"{TAPE}g = t.gradient(y, [x])": "structures",
    f"{TAPE}g = t.gradient(y, x, output_gradients=x)": "output_gradients",
    "g = tf.autodiff.ForwardAccumulator(x, x)": "forward_mode",
    "@tf.custom_gradient\n  def f(y):\n      return y, None\n  g = f(x)": "custom_gradient",
    "g = tf.function(lambda y: y)(x)": "function",
    "g = tf.cond(x > 0.0, lambda: x, lambda: x)": "control_flow",
    "for k in range(2):\n      g = x": "control_flow",
    "g = tf.Variable(x)": "variables",
    "g = x.numpy()": "numpy",
    "g = np.sin(x)": "numpy",
    "g = tf.cast(x, tf.complex64)": "complex_numbers",
    "g = tf.RegisterGradient('A'), x": "gradient_registry",
    "g = alive(x)": "lifetimes",
    "g = tf.compat.v1.gradients(x, x)": "symbolic",
    "g = tf.compat.v1.get_variable('a', [1]), x": "graphs",
    "g = tf.reduce_sum(x, axis=0)": "keywords",
    "with tf.autodiff.ForwardAccumulator(x, x) as a, tf.GradientTape() as s:\n      g = x": (
        "second_order"
    ),
    "with tf.GradientTape() as t:\n      with tf.GradientTape() as s, tf.GradientTape() as r:\n"
    "          g = x": "third_order",
    "g = tf.numpy_function(lambda y: y, [x], tf.float32)": "python_calls",
    "g = tf.TensorArray(tf.float32, 1).write(0, x)": "containers",
    "g = tf.raw_ops.Square(x=x)": "raw_operations",
    "g = tf.strings.as_string(x)": "strings",
    "g = tf.sparse.to_dense(x), tf.SparseTensor": "composites",
    "g = tf.cast(x, tf.bfloat16)": "narrow_floats",
}


def features(run: str, more: str = "", inputs: str = "3.0") -> tuple[str, ...]:
    expect = "" if "expect:" in more else "expect: {g: oracle}"
    text = (
        f"title: a\nsource: contract/1\ninputs: {{x: {inputs}}}\nrun: |\n  {run}\n{expect}\n{more}"
    )
    return features_of(one_case(text))


@pytest.mark.parametrize(("program", "feature"), PROGRAMS.items(), ids=PROGRAMS.values())
def test_a_program_shows_it(program: str, feature: str) -> None:
    more = "isolated: true" if feature == "gradient_registry" else ""
    assert feature in features(program, more)


def test_a_plain_program_shows_nothing() -> None:
    assert features("g = x * tf.GradientTape(persistent=False)") == ()


@pytest.mark.parametrize(
    ("more", "feature"),
    [
        ("expect: {g: {list: []}}", "structures"),
        ("expect: {g: {any_of: [1.0, {error: ValueError}]}}", "errors"),
        ("expect: {g: {indexed_slices: {values: [1.0], indices: [0]}}}", "indexed_slices"),
        ("expect: {g: 1.0}\nexpect_in: {graph: {g: 2.0}}", "by_mode"),
        ("warns: a", "warnings"),
    ],
)
def test_an_expectation_shows_it(more: str, feature: str) -> None:
    assert features("g = x", more) == (feature,)


def test_the_words_of_an_error_show() -> None:
    more = "expect: {g: {error: ValueError, message: not a number}}"
    assert features("g = x", more) == ("errors", "error_wording")
    assert features("g = x", "expect: {g: {error: ValueError}}") == ("errors",)


def test_inputs_show_it() -> None:
    assert features("g = x", inputs="{variable: 1.0}") == ("variables",)
    assert features("g = x", inputs="{constant: 1, dtype: int32}") == ("integers",)


def test_two_tapes_that_do_not_record_each_other_are_of_first_order() -> None:
    run = "with tf.GradientTape() as t:\n      y = x\n  with tf.GradientTape() as s:\n      g = x"
    assert features(run) == ()


def test_what_is_not_portable_is_a_feature() -> None:
    assert {*NOT_PORTABLE} <= {*FEATURES}


def test_no_feature_has_the_name_of_a_tag() -> None:
    assert not set(FEATURES) & set(TAGS)


def test_every_feature_is_shown_by_a_case_of_the_corpus() -> None:
    cases = whole_corpus()
    assert set(FEATURES) == {feature for case in cases for feature in features_of(case)}
    assert all(set(case.tags) <= set(tags_of(case)) for case in cases)
