"""What must hold of the comparer for arbitrary observations."""

from hypothesis import assume, given
from hypothesis import strategies as st

from conformance.answers.tolerances import Bounds
from conformance.answers.wire import value_of
from conformance.corpus.language.case import ExpectedOracle

from .strategies import OBSERVATIONS, UNHURRIED, WITHOUT_ERRORS, nested, numeric_tensors
from .wire import compare, error, expectation_of, listing, mapping, scalar, slices, tensor


@UNHURRIED
@given(OBSERVATIONS, st.sampled_from([None, ExpectedOracle()]))
def test_every_observation_is_what_it_is(observation, beside):
    expected = expectation_of(observation, beside=beside)
    result = compare(expected, observation, Bounds(), oracle=observation)
    assert not result.mismatches
    assert result.compared > 0


@UNHURRIED
@given(nested(WITHOUT_ERRORS), nested(WITHOUT_ERRORS))  # of a message only the start is bound
def test_records_differ_alike_in_both_directions(one, other):
    forth = compare(expectation_of(one), other, Bounds(0.0))
    back = compare(expectation_of(other), one, Bounds(0.0))
    assert bool(forth.mismatches) == bool(back.mismatches)


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
    expected = expectation_of(error("LookupError", "no gradient"), beside=ExpectedOracle())
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
