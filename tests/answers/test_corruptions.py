"""The comparer's own mutants: twelve corrupted gradients that projects in the field accept."""

import numpy as np
import pytest

from conformance.answers.tolerances import Bounds, bounds_for, floors_of
from conformance.corpus.language.case import ExpectedTensor

from .wire import NONE, compare, tensor

REFERENCE = (3.0, -7.5, 0.3, 2e-5, 0.0, 1200.0)
NAN, INF = float("nan"), float("inf")


def corrupted(position, value, reference=REFERENCE):
    return (*reference[:position], value, *reference[position + 1 :])


CORRUPTIONS = {
    "all nan": (REFERENCE, (NAN,) * 6, "non-finite"),
    "one nan": (REFERENCE, corrupted(0, NAN), "non-finite"),
    "inf for 3.0": (REFERENCE, corrupted(0, INF), "non-finite"),
    "None for the gradient": (REFERENCE, None, "none"),
    "0 for 2e-5": (REFERENCE, corrupted(3, 0.0), "value"),
    "-2e-5 for 2e-5": (REFERENCE, corrupted(3, -2e-5), "value"),
    "-0.3 for 0.3": (REFERENCE, corrupted(2, -0.3), "value"),
    "0.36 for 0.3": (REFERENCE, corrupted(2, 0.36), "value"),
    "0.9 for 0.0": (REFERENCE, corrupted(4, 0.9), "value"),
    "shape (6,1) for (6,)": (REFERENCE, np.reshape(REFERENCE, (6, 1)), "shape"),
    "5 for nan": (corrupted(0, NAN), corrupted(0, 5.0), "non-finite"),
    "5 for inf": (corrupted(0, INF), corrupted(0, 5.0), "non-finite"),
}
POLICIES = [("float64", None), ("float64", "element"), ("float32", "element")]


def compared(expected, got, dtype, within=None, bounds=None, expected_dtype=None):
    observation = NONE if got is None else tensor(got, dtype)
    due = ExpectedTensor(expected, expected_dtype or dtype, None, within)
    return compare(due, observation, bounds or Bounds(), name="g")


@pytest.mark.parametrize(("dtype", "within"), POLICIES)
@pytest.mark.parametrize("bounds", [Bounds(), bounds_for("xla", 50)], ids=["K16", "K64"])
@pytest.mark.parametrize("name", CORRUPTIONS)
def test_every_corruption_is_rejected(name, dtype, within, bounds):
    expected, got, kind = CORRUPTIONS[name]
    result = compared(expected, got, dtype, within, bounds)
    assert [mismatch.kind for mismatch in result.mismatches] == [kind]


@pytest.mark.parametrize(("dtype", "within"), [*POLICIES, ("float32", None), ("float64", "exact")])
def test_the_identical_gradient_is_accepted(dtype, within):
    result = compared(REFERENCE, REFERENCE, dtype, within)
    assert not result.mismatches
    assert result.compared == 8  # dtype, shape, six elements


def test_float32_without_element_cannot_see_a_small_neighbour_and_check_refuses_such_a_case():
    assert not compared(REFERENCE, corrupted(3, 0.0), "float32").mismatches
    (coarse,) = floors_of(ExpectedTensor(REFERENCE, "float32"), Bounds())
    assert coarse.is_coarse
    assert coarse.floors.argmax() == 3
    assert coarse.largest > 100
    for fine in (("float32", None, "element"), ("float64",)):
        (found,) = floors_of(ExpectedTensor(REFERENCE, *fine), Bounds())
        assert not found.is_coarse


def test_policy_minus_zero_for_a_declared_zero_is_accepted():
    assert not compared(REFERENCE, corrupted(4, -0.0), "float64").mismatches


def test_policy_zero_for_a_declared_minus_zero_is_rejected():
    due = corrupted(4, -0.0)
    assert not compared(due, due, "float64").mismatches
    (mismatch,) = compared(due, REFERENCE, "float64").mismatches
    assert (mismatch.kind, mismatch.index, mismatch.expected) == ("value", (4,), "-0.0")
    assert "sign of zero" in mismatch.note


@pytest.mark.parametrize(("dtype", "within"), POLICIES)
def test_policy_a_factor_of_1_0009_is_rejected(dtype, within):
    got = tuple(1.0009 * value for value in REFERENCE)
    assert compared(REFERENCE, got, dtype, within).mismatches


def test_policy_float32_for_float64_is_rejected():
    (mismatch,) = compared(REFERENCE, REFERENCE, "float32", None, None, "float64").mismatches
    assert (mismatch.kind, mismatch.expected, mismatch.got) == ("dtype", "float64", "float32")
