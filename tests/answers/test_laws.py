"""The laws of the comparer, each for arbitrary answers, and what each of them must refuse.

COUNTEREXAMPLES has an answer for every law that a laxer comparer lets through.
"""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from conformance.answers.literals import array_of, literal_of
from conformance.answers.tolerances import EPS, LARGEST_FLOOR, Bounds, floors_of
from conformance.answers.wire import value_of
from conformance.corpus.language.case import (
    Cancellation,
    ExpectedOracle,
    ExpectedSlices,
    ExpectedTensor,
)
from conformance.corpus.language.literals import PYTHON_TYPES

from .strategies import ARRAYS, SCALARS, TENSORS, UNHURRIED
from .wire import compare, expectation_of, listing, numpy, scalar, slices, tensor

ROWS = ExpectedSlices(
    ExpectedTensor(((1.0, 2.0), (3.0, 4.0), (5.0, 6.0))), ExpectedTensor((2, 0, 2)), (3, 2)
)
SUM = ((3.0, 4.0), (0.0, 0.0), (6.0, 8.0))
DENSE = ExpectedTensor(SUM, dense=True)
CANCELS = ExpectedTensor((0.0, 1.0), "float32", cancels=Cancellation(8.0, "1 - 8 x 1/8"))
LARGE_AND_SMALL = ExpectedTensor((1e6 + 1e-3j,), "complex64", None, "element")
HALF = ExpectedTensor((1.5, 1.25), "float16", None, "element")
BRAIN = ExpectedTensor((1.5, 1.25), "bfloat16", None, "exact")
TINY = float(np.finfo("float32").smallest_subnormal)

COUNTEREXAMPLES = {
    "a Python float is no tensor": (ExpectedTensor(2.0), scalar(2.0), "structure"),
    "a Python bool is no tensor": (ExpectedTensor(True, "bool"), scalar(True), "structure"),
    "a NumPy array is no tensor": (ExpectedTensor((2.0,)), numpy([2.0]), "structure"),
    "a NumPy scalar is no Python float": (
        ExpectedTensor(2.0, "Python float"),
        numpy(2.0, "float64"),
        "structure",
    ),
    "rows in another order": (
        ROWS,
        slices([[3.0, 4.0], [1.0, 2.0], [5.0, 6.0]], [0, 2, 2], [3, 2]),
        "value",
    ),
    "equal rows added": (ROWS, slices([[6.0, 8.0], [3.0, 4.0]], [2, 0], [3, 2]), "shape"),
    "a dense tensor for slices": (ROWS, tensor(SUM), "slices"),
    "slices without their dense shape": (
        ROWS,
        slices([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [2, 0, 2]),
        "shape",
    ),
    "slices for a tensor that is not dense": (
        ExpectedTensor(SUM),
        slices([[3.0, 4.0], [6.0, 8.0]], [0, 2], [3, 2]),
        "slices",
    ),
    "slices that add up to something else": (
        DENSE,
        slices([[3.0, 4.0], [6.0, 9.0]], [0, 2], [3, 2]),
        "value",
    ),
    "slices of another shape": (DENSE, slices([[3.0, 4.0], [6.0, 8.0]], [0, 2], [4, 2]), "slices"),
    "the smallest number for a zero": (ExpectedTensor((0.0, 1.0)), tensor([TINY, 1.0]), "value"),
    "more than the terms that cancel leave": (CANCELS, tensor([2e-5, 1.0]), "value"),
    "a small part that is lost": (LARGE_AND_SMALL, tensor([1e6 + 0j], "complex64"), "value"),
    "a part that is zero and not": (
        ExpectedTensor((1.0 + 0j,), "complex64"),
        tensor([1.0 + 1e-7j], "complex64"),
        "value",
    ),
    "2 % of a float16": (HALF, tensor([1.5, 1.275], "float16"), "value"),
    "2 % of a bfloat16": (BRAIN, tensor([1.5, 1.2734375], "bfloat16"), "value"),
}


@pytest.mark.parametrize("name", COUNTEREXAMPLES)
def test_a_counterexample_is_refused(name):
    expected, got, kind = COUNTEREXAMPLES[name]
    assert {mismatch.kind for mismatch in compare(expected, got, Bounds()).mismatches} == {kind}


# ----- a tensor is a tensor -----


@UNHURRIED
@given(TENSORS)
def test_only_a_tensor_is_a_tensor(observation):
    due = expectation_of(observation)
    array = {**observation, "kind": "array"}
    assert not compare(due, observation, Bounds()).mismatches
    (mismatch,) = compare(due, array, Bounds()).mismatches
    assert (mismatch.kind, mismatch.note) == ("structure", "a tensor is due")


@UNHURRIED
@given(SCALARS, st.booleans())
def test_a_python_scalar_is_no_tensor_whatever_its_value(observation, is_typed):
    value = value_of(observation)
    held = PYTHON_TYPES[value.dtype] if is_typed and value.array.dtype != "uint64" else None
    due = ExpectedTensor(literal_of(value.array), held)
    assert {m.kind for m in compare(due, observation, Bounds()).mismatches} == {"structure"}


@UNHURRIED
@given(TENSORS | ARRAYS | SCALARS, TENSORS | ARRAYS | SCALARS)
def test_what_the_oracle_answers_is_met_by_its_own_kind_only(told, got):
    assume(told["kind"] != got["kind"])
    found = compare(ExpectedOracle(), got, Bounds(), oracle=told)
    assert {mismatch.kind for mismatch in found.mismatches} == {"structure"}


# ----- slices as they stand -----

INDEX = st.integers(0, 3)
PARTS = st.lists(st.tuples(INDEX, st.integers(-9, 9)), min_size=1, max_size=5)


def of_parts(parts, dense_shape=(4, 1)):
    return slices([[float(row)] for _, row in parts], [at for at, _ in parts], dense_shape)


def sum_of(parts):
    total = np.zeros((4, 1))
    for at, row in parts:
        total[at, 0] += row
    return total


@UNHURRIED
@given(PARTS, PARTS)
def test_slices_are_the_same_where_every_row_is_and_in_this_order(one, other):
    due = expectation_of(of_parts(one))
    assert bool(compare(due, of_parts(other), Bounds()).mismatches) == (one != other)


@UNHURRIED
@given(PARTS, PARTS, st.sampled_from([(4, 1), None]))
def test_a_dense_expectation_is_met_by_what_adds_up_to_it(one, other, dense_shape):
    due = ExpectedTensor(literal_of(sum_of(one)), "float32", dense=True)
    same = np.array_equal(sum_of(one), sum_of(other))
    for got in (of_parts(other, dense_shape), tensor(sum_of(other))):
        assert bool(compare(due, got, Bounds()).mismatches) == (not same)


def test_a_dense_expectation_is_met_beside_an_oracle_that_answers_slices():
    told = of_parts([(0, 1), (2, 3), (0, 1)])
    due = ExpectedTensor(literal_of(sum_of([(0, 2), (2, 3)])), dense=True)
    for got in (told, of_parts([(2, 3), (0, 2)]), tensor([[2.0], [0.0], [3.0], [0.0]])):
        assert not compare(due, got, Bounds(), oracle=told).mismatches
        beside = expectation_of(told, beside=due)
        assert not compare(beside, got, Bounds(), oracle=told).mismatches
    wide = tensor([[2.0], [0.0], [3.0], [0.0]], "float64")
    assert compare(due, wide, Bounds(), oracle=told).mismatches[0].kind == "dtype"


@pytest.mark.parametrize(
    "got",
    [
        slices([[2.0], [3.0]], [0, 4], (4, 1)),
        slices([[2.0], [3.0]], [0, -1], (4, 1)),
        slices([[2.0, 2.0]], [0], (4, 1)),
        slices([[2.0]], [0, 1], (4, 1)),
        {**slices([[2.0]], [0], (4, 1)), "values": numpy([[2.0]])},
        {**slices([[2.0]], [0], (4, 1)), "indices": tensor([0.0])},
        {**slices([[2.0]], [0], (4, 1)), "indices": tensor(0, "int32")},
    ],
)
def test_slices_that_are_no_tensor_of_the_shape_stay_slices(got):
    due = ExpectedTensor(((2.0,), (0.0,), (0.0,), (0.0,)), dense=True)
    (mismatch,) = compare(due, got, Bounds()).mismatches
    assert mismatch.kind == "slices"


# ----- a zero is exact, and each part has its own bound -----

NUMBERS = st.floats(0.01, 100.0) | st.floats(-100.0, -0.01) | st.just(0.0)
FLOATS = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")


@st.composite
def tensors_with_an_error(draw):
    """A tensor, and the place of one part of it: to be made wrong by a multiple of a bound."""
    dtype, size = draw(st.sampled_from(FLOATS)), draw(st.integers(1, 4))
    parts = 2 if dtype.startswith("complex") else 1
    scales = [draw(st.sampled_from([1.0, 1e-6, 1e6])) for _ in range(parts)]
    if "16" in dtype:
        scales = [1.0]
    drawn = [[scale * draw(NUMBERS) for _ in range(size)] for scale in scales]
    wide = np.array(drawn[0]) + (1j * np.array(drawn[1]) if parts == 2 else 0.0)
    array = array_of(literal_of(wide), dtype)
    return array, dtype, draw(st.integers(0, parts - 1)), draw(st.integers(0, size - 1))


def off_by(array, dtype, part, position, error):
    """The array with an error in one part of one element, rounded to the dtype."""
    wide = array.astype(np.result_type(array, np.float64))
    wide[position] += error * (1.0, 1j)[part]
    return array_of(literal_of(wide), dtype)


def part_of(array, part):
    return (array.real, array.imag)[part].astype(np.float64)


@UNHURRIED
@given(tensors_with_an_error(), st.sampled_from([16.0, 64.0]), st.floats(-1e3, 1e3), st.data())
def test_a_part_is_accepted_within_k_eps_of_the_largest_such_part_and_refused_beyond(
    drawn, k, factor, data
):
    array, dtype, part, position = drawn
    cancels = data.draw(st.none() | st.just(Cancellation(50.0, "terms up to 50")))
    size = max(np.abs(part_of(array, part)).max(), cancels.terms if cancels else 0.0)
    bound = Bounds(k).k_of(dtype) * EPS[dtype] * float(size)
    if part_of(array, part)[position] == 0.0 and cancels is None:
        bound = 0.0
    got = off_by(array, dtype, part, position, factor * (bound or EPS[dtype]))
    error = abs(part_of(got, part)[position] - part_of(array, part)[position])
    due = ExpectedTensor(literal_of(array), dtype, cancels=cancels)
    found = compare(due, tensor(got, dtype), Bounds(k)).mismatches
    assert bool(found) == (error > bound)
    assert not found or found[0].index in ((position,), None)


@UNHURRIED
@given(tensors_with_an_error())
def test_an_oracle_binds_with_the_cancellation_that_the_case_declares(drawn):
    array, dtype, part, position = drawn
    due = ExpectedTensor(literal_of(array), dtype, cancels=Cancellation(1e7, "huge terms"))
    beside = expectation_of(listing(tensor(array, dtype)), beside=due)
    got = off_by(array, dtype, part, position, EPS[dtype] * 1e6)
    assume(np.isfinite(part_of(got, part)).all())
    assert not compare(beside, listing(tensor(got, dtype)), Bounds()).mismatches


# ----- an answer in 16 bits -----


@UNHURRIED
@given(
    st.sampled_from(["float16", "bfloat16"]),
    st.lists(st.integers(1, 127), min_size=1, max_size=4),
    st.sampled_from([None, "element", "exact"]),
    st.data(),
)
def test_a_case_in_16_bits_that_is_fine_enough_catches_2_percent(dtype, numbers, within, data):
    due = ExpectedTensor(tuple(float(number) for number in numbers), dtype, None, within)
    assume(not any(found.is_coarse for found in floors_of(due, Bounds(64.0))))
    position = data.draw(st.integers(0, len(numbers) - 1))
    sign = data.draw(st.sampled_from([0.98, 1.02]))
    array = np.array(due.value)
    array[position] *= sign
    rounded = array_of(literal_of(array), dtype)
    relative = abs(rounded[position] / numbers[position] - 1.0)
    assume(relative >= LARGEST_FLOOR[dtype])
    assert compare(due, tensor(rounded, dtype), Bounds(64.0)).mismatches


@pytest.mark.parametrize("within", [None, "element"])
def test_a_bfloat16_that_is_not_exact_is_too_coarse(within):
    (found,) = floors_of(ExpectedTensor((1.5, 1.5), "bfloat16", None, within), Bounds())
    assert found.is_coarse
    assert "choose a representable answer, within: exact" in str(found)
