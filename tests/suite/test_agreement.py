"""What explains a difference: of TensorFlow alone, or of any target."""

from __future__ import annotations

import re

import pytest

from conformance.answers.answer import ENDING, Answer, NoneValue, NotReached, Raised
from conformance.answers.mismatch import Mismatch
from conformance.suite.agreement import EXPLANATIONS, Explanation, differences, explanation_of
from tests.cases import whole_lists

REVERSED = "v0 = tf.reverse(x, axis=[0])"
REFUSED = Mismatch("error", "g", "", "1.0", "InvalidArgumentError")
ROUNDED = Mismatch("value", "g", "", "0.0", "1e-17", difference=1e-17)


def test_what_tensorflow_does_explains_nothing_of_another_target() -> None:
    assert explanation_of(REVERSED, REFUSED)
    assert explanation_of(REVERSED, REFUSED, target="./tape.py") is None


def test_rounding_is_the_same_everywhere() -> None:
    entry = "inputs: {x: {constant: [1.0], dtype: float64}}"
    known = explanation_of(entry, ROUNDED, target="./tape.py")
    assert known
    assert known.everywhere


def test_what_is_not_reached_follows_from_the_error_before_it() -> None:
    reached = Answer("answered", {"g": NoneValue(), "h": NoneValue()})
    error = Raised("ValueError", (), "")
    ended = Answer("answered", {"g": error, "h": NotReached()}, error)
    assert {one.name for one in differences(reached, ended)} == {"g", ENDING}


@pytest.mark.parametrize("known", EXPLANATIONS, ids=lambda known: known.reason)
def test_an_explanation_looks_for_patterns(known: Explanation) -> None:
    for pattern in (known.check, known.program, known.expected, known.got):
        assert isinstance(re.compile(pattern).pattern, str)  # a number in YAML is no pattern


OF_OTHERS = [
    pytest.param(known, target, id=f"{target}-{known.reason}")
    for known in EXPLANATIONS
    for target in known.targets
    if target != "tensorflow"
]


@pytest.mark.parametrize(("known", "target"), OF_OTHERS)
def test_what_another_target_does_is_one_of_its_departures(known: Explanation, target: str) -> None:
    (own,) = [one for one in whole_lists() if one.target == target]
    assert known.departure in [entry.name for entry in own.entries]
    assert not known.everywhere


@pytest.mark.parametrize("program", ["float64", "{dtype: int32}", "{dtype: complex64}"])
def test_no_explanation_of_another_framework_takes_a_number_for_another_one(program: str) -> None:
    mismatch = Mismatch("value", "g", "", "2.0", "1.0", difference=1.0)
    for target in ("autograd", "jax", "torch"):
        assert explanation_of(program, mismatch, target=target) is None


@pytest.mark.parametrize(
    ("answered", "due", "is_known"),
    [
        ("[0.0, -0.0] (float32)", "None", True),
        ("[] of shape (2, 0) (float32)", "None", True),
        ("[0.0, 1.0] (float32)", "None", False),
        ("0.5 (float64)", "None", False),
        ("[0.0, 0.0] (float32)", "[0.0, 1.0] (float32)", False),
        ("None", "[0.0, 0.0] (float32)", False),
        ("[1.0] (float64)", "InvalidArgumentError:", False),
        ("ValueError:", "InvalidArgumentError:", True),
        ("InvalidArgumentError:", "[1.0] (float64)", False),
        ("[1.0] (float64)", "ValueError:", False),
    ],
)
def test_only_what_autograd_is_known_to_do_is_explained(
    answered: str, due: str, is_known: bool
) -> None:
    mismatch = Mismatch("value", "g", "", answered, due)
    assert bool(explanation_of("", mismatch, target="autograd")) == is_known
    assert explanation_of("", mismatch, target="mlx") is None


@pytest.mark.parametrize(
    ("answered", "due", "is_known"),
    [
        ("(1+2j)", "(1-2j)", True),
        ("(1.001+2j)", "(1-2j)", True),
        ("5j", "-5j", True),
        ("(1+2j)", "(2-1j)", False),
        ("(1+2j)", "(1.2-2j)", False),
        ("(3-2j)", "(1-2j)", False),
        ("None", "(1-2j)", False),
        ("nan", "(1-2j)", False),
    ],
)
def test_only_a_conjugate_is_explained_as_one(answered: str, due: str, is_known: bool) -> None:
    mismatch = Mismatch("value", "g", "", answered, due, difference=1.0)
    for target in ("autograd", "jax"):
        assert bool(explanation_of("dtype: complex128", mismatch, target=target)) == is_known
