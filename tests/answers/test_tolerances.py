"""The one file of bounds: what it admits, what it still catches, and what is too coarse."""

import numpy as np
import pytest

from conformance.answers.literals import LiteralError
from conformance.answers.tolerances import (
    EPS,
    LARGEST_FLOOR,
    Bounds,
    bound_of,
    bounds_for,
    floor_of,
    floors_of,
)
from conformance.answers.wire import value_of
from conformance.corpus.language.case import (
    Cancellation,
    ExpectedAnyOf,
    ExpectedNone,
    ExpectedSlices,
    ExpectedStructure,
    ExpectedTensor,
)

from .wire import compare, listing, tensor


@pytest.mark.parametrize(
    ("mode", "op_count", "k"),
    [("eager", 1, 16), ("eager", 5, 16), ("eager", 6, 64), ("graph", 5, 16), ("xla", 1, 64)],
)
def test_k_of_a_cell(mode, op_count, k):
    assert bounds_for(mode, op_count).k == k


def largest_errors(expected, dtype, within=None, cancels=None):
    """Of the real parts, and of the imaginary ones."""
    return bound_of(expected, dtype, Bounds(), within, cancels)[0]


def largest_error(expected, dtype, within=None):
    (bound,) = largest_errors(expected, dtype, within)
    return bound


def coarse_tensors(expected, bounds, oracle=None):
    return [found for found in floors_of(expected, bounds, oracle) if found.is_coarse]


@pytest.mark.parametrize("dtype", EPS)
def test_eps_is_that_of_the_dtype_or_its_component(dtype):
    component = {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)
    assert EPS[dtype] == (2.0**-7 if dtype == "bfloat16" else np.finfo(component).eps)


def test_16_bit_dtypes_are_never_given_more_than_16_eps():
    bounds = bounds_for("xla", 100)
    assert [bounds.k_of(dtype) for dtype in ("float16", "bfloat16", "float32")] == [16, 16, 64]


def test_the_bound_is_of_the_largest_expected_and_never_floored_at_one():
    expected = np.array([1e-6, -4e-6, np.nan, np.inf], np.float32)
    due = 16 * 2.0**-23 * np.abs(expected[1].astype(float))
    assert largest_error(expected, "float32").tolist() == [due, due, 0.0, 0.0]


def test_a_zero_has_no_bound_unless_it_comes_of_cancellation():
    expected = np.array([0.0, 0.5], np.float32)
    assert largest_error(expected, "float32").tolist() == [0.0, 8 * 2.0**-23]
    for terms, due in ((2.0, 32 * 2.0**-23), (0.1, 8 * 2.0**-23)):
        cancels = Cancellation(terms, "2 - 2")
        assert largest_errors(expected, "float32", None, cancels).tolist() == [[due, due]]


def test_the_parts_of_a_complex_tensor_have_bounds_of_their_own():
    expected, unit = np.array([3 + 4j, 1 + 0j, 0.5j], np.complex128), 16 * 2.0**-52
    found = largest_errors(expected, "complex128")
    assert found.tolist() == [[3 * unit, 3 * unit, 0.0], [4 * unit, 0.0, 4 * unit]]
    by_element = largest_errors(expected, "complex128", "element")
    assert by_element.tolist() == [[3 * unit, unit, 0.0], [4 * unit, 0.0, 0.5 * unit]]
    cancelling = largest_errors(expected, "complex128", None, Cancellation(5.0, "(2 + i) squared"))
    assert cancelling.tolist() == [[5 * unit] * 3] * 2


@pytest.mark.parametrize("size", [1.7e308, 1.7e308 + 1.7e308j])
def test_a_bound_of_the_largest_numbers_is_finite(size):
    bound = largest_errors(np.array([size]), "complex128")
    assert np.isfinite(bound).all()


@pytest.mark.parametrize("dtype", ["bool", "int32", "uint64", "string"])
def test_other_dtypes_are_exact(dtype):
    assert largest_error(np.array([7, 9]), dtype).tolist() == [0.0, 0.0]


def test_within_can_only_be_tighter():
    expected = np.array([1.0, 1000.0, 0.0])
    usual = largest_error(expected, "float32")
    for within in ("exact", "element", 1e-7, 1e-3, 0.9):
        assert (largest_error(expected, "float32", within) <= usual).all()
    relative = largest_error(expected, "float32", 1e-5)
    assert relative.tolist() == [1e-5, usual[1], 0.0]


@pytest.mark.parametrize("within", ["loose", 1.0, -1e-3, float("nan")])
def test_another_within_is_told(within):
    with pytest.raises(LiteralError):
        largest_error(np.array([1.0]), "float32", within)


@pytest.mark.parametrize("within", [None, "element", 1e-4])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_detection_floor_is_the_smallest_relative_error_that_is_caught(dtype, within):
    expected = np.array([1.0, 3.0, 0.25], dtype)
    bounds = largest_error(expected, dtype, within)
    for position in range(3):
        floor = floor_of(float(bounds[position]), float(expected[position]))
        literal = ExpectedTensor(tuple(expected.tolist()), dtype, None, within)
        for factor, caught in ((1.2, True), (0.8, False)):
            got = expected.copy()
            got[position] *= 1 + factor * floor
            assert bool(compare(literal, tensor(got, dtype), Bounds()).mismatches) == caught


def test_a_zero_element_has_no_relative_floor_unless_it_is_exact():
    assert floor_of(1e-5, 0.0) is None
    assert floor_of(0.0, 0.0) == 0.0


@pytest.mark.parametrize("dtype", sorted({*LARGEST_FLOOR} - {"bfloat16"}))
def test_an_element_is_too_coarse_where_its_floor_exceeds_the_largest_admitted(dtype):
    bounds = Bounds()
    share = bounds.k_of(dtype) * EPS[dtype] / LARGEST_FLOOR[dtype]
    fine = ExpectedTensor((8.0, 8.0 * share * 1.01, 0.0), dtype)
    coarse = ExpectedTensor((8.0, 8.0 * share * 0.9, 0.0), dtype)
    assert not coarse_tensors(fine, bounds)
    (found,) = coarse_tensors(coarse, bounds)
    assert found.floors.argmax() == 1
    assert f"(at most {LARGEST_FLOOR[dtype]:.1e})" in str(found)
    assert ("write within: element" in str(found)) == ("16" not in dtype)


def test_a_case_is_judged_coarse_at_every_place_and_in_the_dtype_of_the_oracle():
    wide = ExpectedTensor((1.0, 1e-5))
    rows = ExpectedSlices(wide, ExpectedTensor((0, 1)))
    expected = ExpectedStructure(
        "dict", (wide, ExpectedAnyOf((ExpectedNone(), wide)), rows), ("w", "b", "s")
    )
    paths = [coarse.path for coarse in coarse_tensors(expected, Bounds())]
    assert paths == ["['w']", "['b']", "['s'].values"]
    word = value_of(listing(tensor([1.0, 1e-5], "float64")))
    assert not coarse_tensors(ExpectedStructure("list", (wide,)), Bounds(), word)


@pytest.mark.parametrize("within", ["element", "exact", 1e-4])
def test_a_case_that_is_held_to_its_elements_is_never_too_coarse(within):
    assert not coarse_tensors(ExpectedTensor((1.0, 1e-9), "float32", None, within), Bounds())


@pytest.mark.parametrize("literal", [(1, 10**9), True, "a", (), (0.0, 0.0), float("nan")])
def test_a_literal_without_floats_or_without_size_is_never_too_coarse(literal):
    assert not coarse_tensors(ExpectedTensor(literal), Bounds())


def test_a_bound_says_where_it_comes_from():
    expected = np.array([1.0, 4.0])
    texts = [
        bound_of(expected, "float32", Bounds(), w)[1] for w in (None, "element", "exact", 1e-7)
    ]
    assert texts == [
        "16 x eps(float32) x 4, the largest expected",
        "16 x eps(float32) x |expected|",
        "exact",
        "within 1e-07 x |expected|, and 16 x eps(float32) x 4, the largest expected",
    ]
    assert bound_of(np.zeros(2), "float32", Bounds())[1] == "exact: all expected is 0"
    parts = bound_of(
        np.array([3 + 0.5j]), "complex64", Bounds(), cancels=Cancellation(2.0, "2 - 2")
    )
    text = "16 x eps(complex64) x 3 and 2, the largest expected or term that cancels (2 - 2)"
    assert parts[1] == text


def test_the_detection_floor_is_that_of_the_worst_element():
    bounds = bounds_for("eager", 1)
    due = {
        ExpectedTensor((4.0, 108.0), "float32"): 16 * EPS["float32"] * 108 / 4,
        ExpectedTensor((4.0, 108.0), "float32", within="element"): 16 * EPS["float32"],
        ExpectedTensor((0.0, 0.0), "float32"): 0.0,
    }
    for expected, largest in due.items():
        assert [floors.largest for floors in floors_of(expected, bounds)] == [
            pytest.approx(largest)
        ]
    assert list(floors_of(ExpectedNone(), bounds)) == []
