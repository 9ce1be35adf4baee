"""The derivatives that a worker estimates, and what it says where there are none."""

import base64
import importlib
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import reference_impl
from conformance.corpus.language.derivative import forwards_of
from conformance.drivers import INSIDE
from tests.cases import entry, one_case

sys.path.insert(0, str(INSIDE.parent))
derivatives = importlib.import_module("inside.derivative").derivatives
seeded = importlib.import_module("inside.modes").seeded
sys.path.pop(0)

RUN = """
with tf.GradientTape() as t:
    t.watch(x)
    y = {}
g = t.gradient(y, x, output_gradients=w)
"""


def estimated(forward, x="[0.3, -0.7]", w="[1.0, -2.0]", target=reference_impl, dtype="float32"):
    """The estimate by x, its error, and what else is said."""
    inputs = "{{x: {{constant: {}, dtype: {}}}, w: {{constant: {}, dtype: {}}}}}"
    case = one_case(
        entry(
            run=RUN.format(forward),
            inputs=inputs.format(x, dtype, w, dtype),
            expect="{g: derivative, y: oracle}",
        )
    )
    asked = {name: one.asked for name, one in forwards_of(case).items()}
    reply = derivatives(target, {"cell": 1, "name": case.id, "derivatives": asked})
    found = reply["derivatives"]["g"]
    if "fault" in found:
        return found["fault"]
    estimate = found["sources"]["x"]["estimate"]
    array = np.frombuffer(base64.b64decode(estimate["data"]), estimate["dtype"])
    return array, found["sources"]["x"]["error"], found


X, W = np.array([0.3, -0.7]), np.array([1.0, -2.0])


@pytest.mark.parametrize(
    ("forward", "slope"),
    [
        ("tf.sin(x)", W * np.cos(X)),
        ("tf.exp(x) * tf.constant(2.0, tf.float32)", 2 * W * np.exp(X)),
        ("tf.reverse(x, [0]) * x", X[::-1] * (W + W[::-1])),
        ("x * 0.0", 0 * X),
    ],
)
def test_the_estimate_is_the_derivative_and_as_near_as_it_says(forward, slope):
    found, error, told = estimated(forward)
    assert told["dtype"] == "float64"
    assert np.abs(found - slope).max() <= error + told["rounding"] < 1e-9


def test_complex_numbers_are_pairs_of_real_ones():
    z, w = np.array([1 + 0.5j, -0.3 + 1j]), np.array([1 - 1j, 2j])
    given = {"x": '["1+0.5j", "-0.3+1j"]', "w": '["1-1j", "0+2j"]', "dtype": "complex64"}
    found, error, _ = estimated("tf.exp(x)", **given)
    assert np.abs(found - np.conj(np.exp(z)) * w).max() <= error + 1e-9
    found, *_ = estimated("tf.math.conj(x)", **given)
    assert np.allclose(found, np.conj(w))


@pytest.mark.parametrize("x", ["[0.0, 1.0]", "[0.0013, 1.0]", "[-0.0004, 1.0]"])
def test_a_kink_at_or_beside_the_point_shows_in_the_error(x):
    assert estimated("tf.abs(x)", x)[1] > 1e-3
    assert estimated("tf.maximum(x, 0.0)", x)[1] > 1e-3
    assert estimated("tf.abs(x + 1.0)", x)[1] < 1e-9


def test_a_forward_that_is_not_finite_beside_the_point_has_no_derivative():
    assert "not finite" in estimated("tf.math.acos(x)", "[1.0, 0.5]")
    _, error, _ = estimated("tf.concat([x[:1], [-np.inf]], 0)")
    assert error < 1e-9, "what is infinite everywhere does not move"


def test_what_raises_says_what():
    assert estimated("tf.as_string(x)") == (
        "AttributeError: module 'reference_impl' has no attribute 'as_string'"
    )


def only_float32(x):
    if x.dtype != "float32":
        raise TypeError("float32 is needed")
    return reference_impl.sin(x)


def narrowed(x):
    return reference_impl.cast(reference_impl.sin(reference_impl.cast(x, "float32")), "float32")


@pytest.mark.parametrize("sin", [only_float32, narrowed])
def test_where_only_float32_exists_that_is_taken(sin):
    target = SimpleNamespace(**{**vars(reference_impl), "sin": sin})
    found, error, told = estimated("tf.sin(x)", target=target)
    assert told["dtype"] == "float32"
    assert np.abs(found - W * np.cos(X)).max() <= error + told["rounding"] < 1e-2


@pytest.mark.parametrize("forward", ["tf.reverse(x, [0]) * x", "tf.sin(x)"])
def test_what_is_no_parabola_is_asked_a_quarter_of_the_step_away_too(forward):
    asked = []

    def reverse(value, axis):
        asked.append(value)
        return reference_impl.reverse(value, axis)

    def sin(x):
        asked.append(x)
        return reference_impl.sin(x)

    estimated(
        forward, target=SimpleNamespace(**{**vars(reference_impl), "reverse": reverse, "sin": sin})
    )
    assert len(asked) == 1 + len(X) * (4 if "reverse" in forward else 6)


@pytest.mark.parametrize(
    "text", ["tf.nn.dropout(x, 0.5)", "tf.keras.layers.Dense(2)(x)", "tf.raw_ops.RandomGamma"]
)
def test_what_may_draw_is_seeded_and_the_rest_is_not(text):
    seeds = []
    target = SimpleNamespace(random=SimpleNamespace(set_seed=seeds.append))
    assert seeded(target, text)
    assert not seeded(target, "tf.reduce_sum(x * x)")
    assert not seeded(SimpleNamespace(), text)
    assert seeds == [0]


def test_a_program_that_draws_is_seeded_for_each_call():
    generator = {}

    def seed(number):
        generator["now"] = np.random.default_rng(number)

    def uniform(shape):
        return reference_impl.constant(generator["now"].uniform(1.0, 2.0, shape))

    random = SimpleNamespace(set_seed=seed, uniform=uniform)
    target = SimpleNamespace(**{**vars(reference_impl), "random": random})
    found, error, _ = estimated("tf.sin(x) * tf.random.uniform([2])", target=target)
    assert error < 1e-9
    drawn = found / (W * np.cos(X))
    assert (drawn > 1.0).all()
    assert (drawn < 2.0).all()
