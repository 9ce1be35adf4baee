"""The forms in which a departure tells what a target answers: exceptions and raw data."""

from __future__ import annotations

import base64

import numpy as np
import pytest
import yaml

from conformance.corpus.language.case import (
    Expectation,
    ExpectedRaised,
    ExpectedSeen,
    ExpectedTensor,
)
from conformance.corpus.language.document import CaseFileError, parse_document
from conformance.corpus.language.expectations import parse_expectation
from conformance.corpus.language.literals import DTYPES, WIRE


def parsed(given: object, *, departure: bool = True) -> Expectation:
    node = parse_document(yaml.safe_dump(given), "known.yaml")
    found = parse_expectation(node, {}, departure=departure)
    node.finish()
    return found


def encoded(array: np.ndarray) -> str:
    return base64.b64encode(array.tobytes()).decode()


@pytest.mark.parametrize("dtype", WIRE)
@pytest.mark.parametrize("shape", [(), (5,), (2, 3), (3, 0), (0, 3)])
def test_data_is_what_the_bytes_say(dtype: str, shape: tuple[int, ...]) -> None:
    size = int(np.prod(shape))
    array = (np.arange(size) % 2 if dtype == "bool" else np.arange(size) * 3).astype(WIRE[dtype])
    array = array.reshape(shape)
    found = parsed({"data": encoded(array), "dtype": dtype, "shape": list(shape)})
    assert isinstance(found, ExpectedTensor)
    assert (found.dtype, found.shape, found.within) == (dtype, shape, None)
    if dtype == "bfloat16":
        array = (array.astype(np.uint32) << 16).view(np.float32).reshape(shape)
    assert np.array_equal(np.array(found.value).reshape(shape), array)
    assert not array.size or type(np.array(found.value).flat[0].item()) is type(
        array.flat[0].item()
    )


def test_signs_infinities_and_nan_survive() -> None:
    array = np.array([-0.0, np.inf, -np.inf, np.nan, 1e-45], np.float32)
    found = parsed({"data": encoded(array), "dtype": "float32", "shape": [5]})
    assert isinstance(found, ExpectedTensor)
    assert np.array(found.value, np.float32).tobytes() == array.tobytes()


def test_strings_are_a_list_of_texts() -> None:
    texts = [base64.b64encode(text).decode() for text in (b"a", "\u00e4".encode(), b"\xff")]
    found = parsed({"data": texts, "dtype": "string", "shape": [3]})
    assert found == ExpectedTensor(("a", "\u00e4", "\udcff"), "string", (3,))


@pytest.mark.parametrize("message", ["", "two\nlines: {x}", "plain"])
def test_an_exception_has_its_class_and_its_whole_message(message: str) -> None:
    found = parsed({"raised": "ValueError", "message": message})
    assert found == ExpectedRaised("ValueError", message)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"raised": "ValueError"}, "raised has a message"),
        ({"raised": "ValueError", "message": 3}, "raised has a message"),
        ({"raised": "not a class", "message": "m"}, "is no class name"),
        ({"raised": "ValueError", "message": "m", "at": "y"}, "unknown key 'at'"),
        ({"list": [{"raised": "ValueError", "message": "m"}]}, "no place inside a structure"),
        ({"data": "AAAAAA==", "dtype": "float32"}, "missing shape"),
        ({"data": "AAAAAA==", "dtype": "float32", "shape": [2]}, "1 elements"),
        ({"data": "AAAA", "dtype": "float32", "shape": [1]}, "no data of float32 [1]"),
        ({"data": "A?AAAA==", "dtype": "float32", "shape": [1]}, "no data of float32 [1]"),
        ({"data": "Ag==", "dtype": "bool", "shape": [1]}, "neither 0 nor 1"),
        ({"data": "AAAAAA==", "dtype": "float31", "shape": [1]}, "no dtype named 'float31'"),
        ({"data": 3, "dtype": "float32", "shape": [1]}, "expected text"),
        ({"data": "AA==", "dtype": "int8", "shape": [100000, 100000]}, "more than can be read"),
        ({"data": ["?"], "dtype": "string", "shape": [1]}, "no data of string [1]"),
    ],
)
def test_what_cannot_be_read_is_a_fault(given: object, said: str) -> None:
    with pytest.raises(CaseFileError) as caught:
        parsed(given)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "given",
    [{"raised": "ValueError", "message": "m"}, {"data": "AA==", "dtype": "int8", "shape": [1]}],
)
def test_a_case_has_none_of_these_forms(given: object) -> None:
    with pytest.raises(CaseFileError, match="has exactly one of"):
        parsed(given, departure=False)


def test_every_dtype_belongs_to_the_wire_or_is_a_string() -> None:
    assert set(DTYPES) == {*WIRE, "string"}


@pytest.mark.parametrize(
    ("value", "kind", "due"),
    [
        (3, "int", 3),
        (2**63, "int", 2**63),
        (3.5, "float", 3.5),
        (True, "bool", True),
        ("1+2j", "complex", 1 + 2j),
        ("1+2j", "str", "1+2j"),
    ],
)
def test_a_python_scalar_has_its_type(value: object, kind: str, due: object) -> None:
    found = parsed({"python": value, "type": kind})
    assert found == ExpectedTensor(due, f"Python {kind}", ())  # type: ignore[arg-type]


def test_a_value_and_data_may_be_those_of_a_numpy_array() -> None:
    assert parsed({"value": [1.0], "numpy": True}) == ExpectedTensor((1.0,), numpy=True)
    data = {"data": "AAAAAA==", "dtype": "float32", "shape": [1], "numpy": True}
    assert parsed(data) == ExpectedTensor((0.0,), "float32", (1,), numpy=True)


def test_what_has_no_other_form_is_told_by_its_text() -> None:
    assert parsed({"seen": "not reached"}) == ExpectedSeen("not reached")
