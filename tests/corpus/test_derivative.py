"""Forward programs: the case's own text up to its query, from inputs that can be displaced."""

import pytest

from conformance.corpus.language.case import (
    ExpectedDerivative,
    ExpectedNone,
    ExpectedStructure,
)
from conformance.corpus.language.derivative import forward_of, forwards_of, hash_of, resolved
from conformance.corpus.language.document import CaseFileError
from tests.cases import RUN, entry, one_case

EXPECT = "{g: derivative, y: oracle}"
BOTH = """
with tf.GradientTape(persistent=True) as t:
    t.watch([x, w])
    y = tf.cast(x, tf.float32) * w
gx = t.gradient(y, x)
g = t.gradient(y, [x, w], output_gradients=x)
after = g[0] * 2.0
"""
SECOND = """
with tf.GradientTape() as outer:
    outer.watch(x)
    with tf.GradientTape() as inner:
        inner.watch(x)
        y = x * x * x
    first = inner.gradient(y, x)
g = outer.gradient(first, x)
"""

RUN_OF_WEIGHTS = """
with tf.GradientTape() as tape:
    tape.watch(x)
    y = x * x
{weights}
g = tape.gradient(y, x, output_gradients=weights)
"""


def case(run=RUN, expect=EXPECT, **more):
    return one_case(entry(run=run, expect=expect, **more))


def text(the_case, dtype="float64", name="g"):
    return forward_of(the_case, name).attempts[dtype][0]


def test_the_forward_ends_at_the_query_and_returns_target_and_upstream():
    inputs = "{x: [1.0, 2.0], w: {variable: [3.0, 4.0], trainable: false}}"
    found = case(BOTH, "{g: derivative, gx: derivative, y: oracle}", inputs=inputs)
    assert text(found) == (
        'x = tf.constant(displaced("x", [1.0, 2.0]), dtype=tf.float64)\n'
        'w = tf.Variable(displaced("w", [3.0, 4.0]), trainable=False, name="w", dtype=tf.float64)\n'
        "def case(x):\n"
        "    with tf.GradientTape(persistent=True) as t:\n"
        "        t.watch([x, w])\n"
        "        y = tf.cast(x, tf.float64) * w\n"
        "    def upstream():\n"
        "        pass\n"
        "        return x\n"
        "    return y, upstream\n"
    )
    assert 'displaced("w"' not in text(found, name="gx"), "w is no source of it"
    assert "dtype=tf.float64" not in text(found, "float32")


def test_a_complex_input_that_is_written_as_a_real_one_has_both_parts():
    made = text(case(inputs="{x: {constant: [2.0, -1.0], dtype: complex64}}"))
    assert 'displaced("x", [complex(2.0, 0.0), complex(-1.0, 0.0)])' in made


def test_what_makes_the_upstream_gradient_alone_is_called_once():
    run = RUN_OF_WEIGHTS.format(weights="weights = 2.0 * y\nweights *= x")
    made = text(case(run))
    assert made.endswith(
        "    def upstream():\n"
        "        weights = 2.0 * y\n"
        "        weights *= x\n"
        "        return weights\n"
        "    return y, upstream\n"
    )
    made = text(case(RUN_OF_WEIGHTS.format(weights="weights = 2.0 * y\ny = y * 2.0")))
    assert "    y = y * 2.0\n    def upstream():\n        return weights\n" in made


def test_the_answer_that_is_due_has_a_derivative_at_each_source():
    inputs = "{x: [1.0, 2.0], w: {variable: [3.0, 4.0], dtype: float64}}"
    found = forward_of(case(BOTH, inputs=inputs), "g")
    x, w = ExpectedDerivative("x", "float32"), ExpectedDerivative("w", "float64")
    assert found.sources == ExpectedStructure("list", (x, w))
    partly = ExpectedStructure("list", (ExpectedDerivative(), ExpectedNone()))
    assert resolved(partly, found.sources) == ExpectedStructure("list", (x, ExpectedNone()))


def test_a_second_derivative_differentiates_the_first_with_wider_steps():
    found = forwards_of(case(SECOND, "{g: derivative, first: derivative, y: oracle}"))
    assert found["g"].sources == ExpectedDerivative("x", "float32", 2)
    assert found["first"].sources == ExpectedDerivative("x", "float32", 1)
    assert (
        "first = inner.gradient(y, x)\n    return first, None" in found["g"].attempts["float64"][0]
    )
    assert "        return y, None" in found["first"].attempts["float64"][0]
    steps = {name: one.attempts["float64"][1] for name, one in found.items()}
    assert steps == {"g": 1e-2, "first": 2e-3}


def test_cases_of_the_same_values_share_a_forward_whatever_their_dtype():
    same = {
        hash_of(case(inputs=f"{{x: {{constant: 0.3, dtype: {d}}}}}"))
        for d in ("float32", "float64")
    }
    assert len(same) == 1
    half = case(inputs="{x: {constant: 0.3, dtype: float16}}")
    assert hash_of(half) not in same, "a coarse input is the number that it is rounded to"
    assert "0.300048828125" in text(half)
    assert hash_of(case(inputs="{x: 0.4}")) not in same


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"run": "g = x * x"}, "g = tape.gradient(...)"),
        (
            {"run": RUN.replace("g = ", "g, = ").replace("x)\n", "[x])\n", 2)},
            "g = tape.gradient(...)",
        ),
        ({"run": RUN.replace("gradient(y", "jacobian(y")}, "g = tape.gradient(...)"),
        ({"run": RUN + "g = g\n"}, "g = tape.gradient(...)"),
        ({"run": "if True:\n" + RUN.replace("\n", "\n  ")}, "g = tape.gradient(...)"),
        ({"run": RUN.replace("(y, x)", "(y, y)")}, "the source y is no float input"),
        ({"run": "x = x * 1.0" + RUN}, "the source x is no float input"),
        ({"inputs": "{x: {constant: 3, dtype: int32}}"}, "the source x is no float input"),
        ({"inputs": "{x: {draw: [201], range: [0.0, 1.0]}}"}, "more than 200 elements"),
        ({"expect": "{g: derivative}"}, "the case does not say what y is"),
        ({"expect": "{g: derivative, y: survey}"}, "the case does not say what y is"),
        ({"expect": "{g: {list: [derivative]}, y: oracle}"}, "another structure"),
        ({"tags": "[kink]"}, "there is none at a kink"),
        ({"not_applicable": "{eager: why}"}, "asked eagerly"),
        ({"expect": "{g: {any_of: [derivative, null]}, y: oracle}"}, "have no place in it"),
    ],
)
def test_what_has_no_derivative_is_a_fault_with_its_reason(changes, words):
    with pytest.raises(CaseFileError, match="expect") as fault:
        case(**changes)
    assert words in str(fault.value)
