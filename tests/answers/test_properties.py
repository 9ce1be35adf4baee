"""What must hold of the comparer for arbitrary observations."""

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from conformance.answers.literals import literal_of
from conformance.answers.tolerances import EPS, Bounds
from conformance.answers.wire import value_of
from conformance.corpus.language.case import ExpectedTensor

from .strategies import OBSERVATIONS, UNHURRIED, WITHOUT_ERRORS, nested, numeric_tensors
from .wire import compare, error, expectation_of, listing, mapping, scalar, slices, tensor

FLOATS = ("float16", "float32", "float64", "complex64", "complex128")


@UNHURRIED
@given(OBSERVATIONS, st.booleans())
def test_every_observation_is_what_it_is(observation, witness):
    expected = expectation_of(observation, witness=witness)
    result = compare(expected, observation, Bounds(), oracle=observation)
    assert not result.mismatches
    assert result.compared > 0


@UNHURRIED
@given(nested(WITHOUT_ERRORS), nested(WITHOUT_ERRORS))  # of a message only the start is bound
def test_records_differ_alike_in_both_directions(one, other):
    forth = compare(expectation_of(one), other, Bounds(0.0))
    back = compare(expectation_of(other), one, Bounds(0.0))
    assert bool(forth.mismatches) == bool(back.mismatches)


@st.composite
def moderate_tensors(draw):
    """Floats of moderate size, some of them zero, and the position of one of them."""
    dtype = draw(st.sampled_from(FLOATS))
    numbers = st.floats(0.01, 100.0) | st.floats(-100.0, -0.01) | st.just(0.0)
    parts = draw(st.lists(numbers, min_size=1, max_size=5))
    array = np.array(parts).astype(dtype)
    if dtype.startswith("complex"):
        array = array + (1j * array[::-1]).astype(dtype)
    return array, draw(st.integers(0, len(parts) - 1))


@UNHURRIED
@given(moderate_tensors(), st.sampled_from([16.0, 64.0]), st.floats(1.5, 1e3), st.booleans())
def test_one_element_beyond_the_bound_is_caught_and_one_within_it_is_accepted(
    drawn, k, factor, sign
):
    array, position = drawn
    dtype = array.dtype.name
    bounds = Bounds(k)
    bound = bounds.k_of(dtype) * EPS[dtype] * float(np.abs(array).max())
    for step, caught in ((bound * factor, True), (bound * 0.4, False)):
        got = array.copy()
        got[position] += step if sign else -step
        assume(not caught or abs(complex(got[position]) - complex(array[position])) > bound)
        expected = ExpectedTensor(literal_of(array), dtype)
        result = compare(expected, tensor(got, dtype), bounds, name="g")
        assert bool(result.mismatches) == (caught and bound > 0)
        if result.mismatches:
            assert result.mismatches[0].index == (position,)


@UNHURRIED
@given(moderate_tensors())
def test_an_all_zero_expectation_is_exact(drawn):
    array, position = drawn
    got = np.zeros_like(array)
    got[position] = np.finfo(array.dtype).tiny
    expected = ExpectedTensor(literal_of(np.zeros_like(array)), array.dtype.name)
    assert compare(expected, tensor(got, array.dtype.name), Bounds()).mismatches


@UNHURRIED
@given(numeric_tensors(), st.data())
def test_one_flipped_element_of_an_exact_dtype_is_caught(observation, data):
    value = value_of(observation)
    assume(value.array.dtype.kind in "biu" and value.array.size)
    position = data.draw(st.integers(0, value.array.size - 1))
    got = value.array.copy().reshape(-1)
    got[position] = (
        not got[position] if got.dtype.kind == "b" else got[position] ^ got.dtype.type(1)
    )
    changed = tensor(got.reshape(value.array.shape), value.dtype)
    result = compare(expectation_of(observation), changed, Bounds(64.0))
    assert len(result.mismatches) == 1


def test_a_record_binds_the_class_of_an_error_and_the_start_of_its_message():
    old = error("LookupError", "no gradient for Foo at 0x7f12", bases=("Exception",))
    same = error("LookupError", "no gradient for Foo at 0x9999", bases=("Exception",))
    derived = error("KeyError", "no gradient for Foo at 0x7f12", bases=("LookupError",))
    other = error("LookupError", "another message")
    expected = expectation_of(old)
    assert not compare(expected, same, Bounds()).mismatches
    assert compare(expected, derived, Bounds()).mismatches
    assert compare(expected, other, Bounds()).mismatches


def test_the_oracle_binds_neither_the_message_nor_the_very_class_of_an_error():
    expected = expectation_of(error("LookupError", "no gradient"), witness=True)
    derived = error("NoGradientError", "Foo has none", bases=("LookupError",))
    assert not compare(expected, derived, Bounds()).mismatches
    assert compare(expected, error("ValueError", "no gradient"), Bounds()).mismatches


def test_the_sign_of_a_zero_is_not_compared_between_witnesses():
    assert not compare(expectation_of(tensor([-0.0, 1.0])), tensor([0.0, 1.0]), Bounds()).mismatches
    imaginary = tensor([complex(-0.0, -0.0)], "complex64")
    assert not compare(expectation_of(imaginary), tensor([0j], "complex64"), Bounds()).mismatches


def test_ragged_and_sparse_tensors_are_dicts_of_their_parts():
    ragged = {"kind": "ragged", "values": tensor([1.0]), "splits": [tensor([0, 1], "int64")]}
    sparse = {
        "kind": "sparse",
        "indices": tensor([[0]], "int64"),
        "values": tensor([1.0]),
        "dense_shape": tensor([2], "int64"),
    }
    assert expectation_of(ragged).keys == ("flat_values", "nested_row_splits")
    assert expectation_of(sparse).keys == ("indices", "values", "dense_shape")
    (mismatch,) = compare(
        expectation_of(ragged), {**ragged, "values": tensor([2.0])}, Bounds(), name="g"
    ).mismatches
    assert mismatch.where == "g['flat_values'] element (0,)"


def test_different_kinds_are_never_the_same():
    things = [
        tensor([1.0]),
        tensor([1.0], "float64"),
        scalar("a"),
        slices([[1.0]], [0]),
        listing(tensor([1.0])),
        listing(tensor([1.0]), kind="tuple"),
        mapping(a=tensor([1.0])),
        error(),
        {"kind": "none"},
        {"kind": "not_reached"},
        {"kind": "not_observed"},
        {"kind": "variable", "name": "x"},
        {"kind": "other", "type": "x"},
    ]
    for one in things:
        for other in things:
            same = not compare(expectation_of(one), other, Bounds()).mismatches
            assert same == (one is other)
