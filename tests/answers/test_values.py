"""What is read from the wire, what is refused there, and literals as arrays."""

import base64
import contextlib
import math

import numpy as np
import pytest
from hypothesis import given

from conformance.answers.literals import WIRE, LiteralError, array_of, literal_of
from conformance.answers.mismatch import lines
from conformance.answers.text import describe
from conformance.answers.tolerances import Bounds
from conformance.answers.wire import Malformed, answer_of_line, json_of, line_of, value_of
from conformance.corpus.language.case import ExpectedNone, ExpectedOracle, ExpectedTensor

from .strategies import JSON, OBSERVATIONS, UNHURRIED, damaged, numeric_tensors
from .wire import NONE, compare, encoded, expectation_of, listing, scalar, slices, tensor

MALFORMED = {
    "no mapping": 3,
    "no kind": {},
    "a kind of another type": {"kind": ["tensor"]},
    "an unknown kind": {"kind": "tensors"},
    "an unknown dtype": {**tensor([1.0]), "dtype": "float8"},
    "a dtype of another type": {**tensor([1.0]), "dtype": {}},
    "a shape of floats": {**tensor([1.0]), "shape": [1.0]},
    "a shape of bools": {**tensor([1.0]), "shape": [True]},
    "a negative size": {**tensor([1.0]), "shape": [-1]},
    "a huge shape": {**tensor([1.0]), "shape": [2**40, 2**40]},
    "a huge shape of nothing": {**tensor([]), "shape": [0, 2**62]},
    "a rank beyond numpy": {**tensor(1.0), "shape": [1] * 100},
    "too little data": {**tensor([1.0]), "shape": [2]},
    "too much data": {**tensor([1.0, 2.0]), "shape": [1]},
    "a byte more than its padding hides": {**tensor(1.0, "float16"), "data": "AAAA"},
    "a string with other letters": {**tensor(["a"], "string"), "data": ["Y!Q=="]},
    "no data": {"kind": "tensor", "dtype": "float32", "shape": [1]},
    "no base64": {**tensor([1.0]), "data": "????????"},
    "base64 of another alphabet": {**tensor([1.0]), "data": "äAAAAAA="},
    "a bool of two": {**tensor([True], "bool"), "data": encoded(b"\2")},
    "strings that are no list": {**tensor(["a"], "string"), "data": "YQ=="},
    "strings of numbers": {**tensor(["a"], "string"), "data": [1]},
    "too few strings": {**tensor(["a"], "string"), "data": []},
    "a scalar of no type": {"kind": "scalar", "value": "1"},
    "a scalar of no text": {"kind": "scalar", "type": "int", "value": 1},
    "an int in words": {"kind": "scalar", "type": "int", "value": "one"},
    "a huge int": {"kind": "scalar", "type": "int", "value": "9" * 5000},
    "an int beyond 64 bits": {"kind": "scalar", "type": "int", "value": str(2**65)},
    "a bool in lower case": {"kind": "scalar", "type": "bool", "value": "true"},
    "a string that is code": {"kind": "scalar", "type": "str", "value": "'a' + 'b'"},
    "a string without end": {"kind": "scalar", "type": "str", "value": "'a"},
    "a bare quote in a string": {"kind": "scalar", "type": "str", "value": "'a'b'"},
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_observation_is_told_in_one_line(name):
    with pytest.raises(Malformed) as told:
        value_of(MALFORMED[name])
    assert "\n" not in str(told.value)
    assert len(str(told.value)) < 200


@pytest.mark.parametrize(
    "observation",
    [
        {"kind": "list"},
        {"kind": "list", "items": "ab"},
        {"kind": "dict", "items": [NONE], "keys": []},
        {"kind": "dict", "items": [NONE, NONE], "keys": ["a", "a"]},
        {"kind": "dict", "items": [NONE], "keys": [["a"]]},
        {**slices([[1.0]], [0]), "values": None},
        {**slices([[1.0]], [0]), "dense_shape": tensor([0.5])},
        {"kind": "error", "type": 3},
        {"kind": "function", "calls": 4},
        {"kind": "variable"},
        {"kind": "ragged", "values": tensor([1.0]), "splits": 3},
        {"kind": "sparse", "values": tensor([1.0])},
    ],
)
def test_a_malformed_structure_is_told(observation):
    with pytest.raises(Malformed):
        expectation_of(observation)


def test_a_structure_nested_without_end_is_told():
    nested = NONE
    for _ in range(5000):
        nested = listing(nested)
    with pytest.raises(Malformed):
        expectation_of(nested)


@UNHURRIED
@given(damaged() | JSON)
def test_damage_raises_malformed_observation_or_nothing(observation):
    for expected in (ExpectedNone(), ExpectedTensor((1.0, 2.0)), ExpectedOracle()):
        with contextlib.suppress(Malformed):
            assert compare(expected, observation, Bounds(), oracle=tensor([1.0, 2.0])).compared


@UNHURRIED
@given(damaged())
def test_a_damaged_record_raises_malformed_observation_or_is_what_it_is(observation):
    try:
        result = compare(expectation_of(observation), observation, Bounds())
    except Malformed:
        return
    assert not result.mismatches


@UNHURRIED
@given(OBSERVATIONS, OBSERVATIONS)
def test_whatever_is_told_a_person_is_printable(one, other):
    for mismatch in compare(expectation_of(one), other, Bounds()).mismatches:
        assert all(line.isprintable() for line in lines(mismatch))
    assert describe(value_of(one), 3).isprintable()


@UNHURRIED
@given(numeric_tensors())
def test_the_bits_of_a_tensor_survive(observation):
    value = value_of(observation)
    array = value.array
    if value.dtype == "bfloat16":
        array = (array.view(np.uint32) >> 16).astype("<u2")
    raw = array.astype(array.dtype.newbyteorder("<")).tobytes()
    assert raw == base64.b64decode(observation["data"])


@UNHURRIED
@given(OBSERVATIONS)
def test_a_value_that_is_written_and_read_again_is_the_same(observation):
    value = value_of(observation)
    assert value_of(json_of(value)) == value
    answer = answer_of_line({"outcome": "answered", "observations": {"g": observation}})
    assert answer_of_line(line_of(answer)) == answer


@UNHURRIED
@given(damaged() | JSON)
def test_a_line_with_a_damaged_value_is_the_adapters_fault(observation):
    answer = answer_of_line({"outcome": "answered", "observations": {"g": observation}})
    assert answer.outcome in ("answered", "adapter_error")
    assert (answer.outcome == "answered") == bool(answer.observations)
    assert answer.detail.isprintable()


@UNHURRIED
@given(numeric_tensors())
def test_a_literal_is_the_array_that_it_was_read_from(observation):
    value = value_of(observation)
    again = array_of(literal_of(value.array), value.dtype, value.array.shape)
    assert again.dtype == value.array.dtype
    assert np.array_equal(again, value.array, equal_nan=again.dtype.kind in "fc")


def test_python_scalars():
    assert value_of(scalar(3)).array == 3
    assert value_of(scalar(2**64 - 1)).array == 2**64 - 1
    assert value_of(scalar(True)).array.dtype == bool
    assert math.isnan(value_of(scalar(float("nan"))).array)
    assert value_of(scalar(1 - 2j)).array == 1 - 2j
    assert value_of(scalar("a'\n\\\x00\U0001f600é")).array == "a'\n\\\x00\U0001f600é"
    for text in ("float32", "tf.float32", "<dtype: 'float32'>"):
        assert value_of({"kind": "scalar", "type": "dtype", "value": text}).array == "float32"


@pytest.mark.parametrize(
    ("value", "due"),
    [
        (0.3, 0.30078125),
        (-2.5, -2.5),
        (1 + 2.0**-8, 1.0),
        (1 + 3 * 2.0**-8, 1 + 2.0**-6),
        (1 + 2.0**-8 + 2.0**-16, 1 + 2.0**-7),
        (float("-inf"), float("-inf")),
    ],
)
def test_a_bfloat16_literal_is_rounded_to_the_nearest_ties_to_even(value, due):
    assert array_of(value, "bfloat16") == due


@pytest.mark.parametrize(
    ("value", "dtype", "shape", "words"),
    [
        (1e39, "float32", None, "beyond float32"),
        (70000.0, "float16", None, "beyond float16"),
        (3.4e38, "bfloat16", None, "beyond bfloat16"),
        (10**400, "float64", None, "beyond float64"),
        (complex(1e39, 0), "complex64", None, "beyond complex64"),
        (128, "int8", None, "beyond int8"),
        (-1, "uint64", None, "beyond uint64"),
        (0.5, "int32", None, "no int32"),
        (float("nan"), "int32", None, "no int32"),
        (float("inf"), "int32", None, "no int32"),
        (1j, "float32", None, "cannot be float32"),
        (1j, "int32", None, "cannot be int32"),
        (True, "float32", None, "cannot be float32"),
        (1.0, "bool", None, "cannot be bool"),
        ("a", "float32", None, "cannot be float32"),
        (1.0, "string", None, "cannot be string"),
        ((1.0, True), "float32", None, "a bool among"),
        ((1.0, "a"), "float32", None, "a string among"),
        (((1.0, 2.0), (3.0,)), "float32", None, "differ in length"),
        ((1.0, (2.0,)), "float32", None, "differ in length"),
        ((1.0, 2.0), "float32", (1, 2), "declared is (1, 2)"),
        (1.0, "float8", None, "unknown dtype"),
    ],
)
def test_a_literal_that_does_not_fit_is_told(value, dtype, shape, words):
    with pytest.raises(LiteralError) as told:
        array_of(value, dtype, shape)
    assert words in str(told.value)


def test_literals_that_fit():
    assert array_of((1, 2), "float32").dtype == np.float32
    assert array_of((1.0, 2.0), "int32").tolist() == [1, 2]
    assert array_of(2.0, "float32", (2, 2)).tolist() == [[2.0, 2.0], [2.0, 2.0]]
    assert array_of((), "float32", (3, 0)).shape == (3, 0)
    assert array_of((), "int32").shape == (0,)
    assert array_of(float("inf"), "float16") == np.inf
    assert array_of(2**64 - 1, "uint64") == 2**64 - 1
    assert set(WIRE) == {dtype for dtype in WIRE if array_of((), dtype).shape == (0,)}
