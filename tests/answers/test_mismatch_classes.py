"""For every class of mismatch, an answer that must be rejected and one that must be accepted."""

from dataclasses import replace

import pytest

from conformance.answers.compare import Declared, NothingCompared
from conformance.answers.compare import compare as compare_answer
from conformance.answers.mismatch import ORDER, lines
from conformance.answers.tolerances import Bounds
from conformance.corpus.language.case import (
    Cancellation,
    ExpectedAnyOf,
    ExpectedCalls,
    ExpectedError,
    ExpectedNone,
    ExpectedOracle,
    ExpectedSlices,
    ExpectedStructure,
    ExpectedTensor,
    ExpectedWatched,
)

from .wire import (
    NONE,
    NOT_OBSERVED,
    NOT_REACHED,
    answered,
    case,
    compare,
    error,
    listing,
    mapping,
    numpy,
    program,
    scalar,
    slices,
    tensor,
    variable,
)

NAN, INF = float("nan"), float("inf")
TWO = ExpectedTensor((2.0, 6.0))
TYPED = ExpectedTensor((2.0, 6.0), "float32")
INTEGERS = ExpectedTensor((1, 2), "int64")
PAIR = ExpectedStructure("list", (TWO, ExpectedNone()))
NAMED = ExpectedStructure("dict", (TWO, ExpectedNone()), ("w", "b"))
ROWS = ExpectedSlices(ExpectedTensor(((1.0,), (2.0,))), ExpectedTensor((3, 3)), (5, 1))
RAISES = ExpectedError("LookupError", "no gradient", "g")
CHOICE = ExpectedAnyOf((ExpectedNone(), ExpectedTensor((0.0, 0.0))))
NON_FINITE = ExpectedTensor((NAN, INF, 1.0))
COMPLEX = ExpectedTensor((1 + 2j, 3 - 1j), "complex64")
TRUE = ExpectedTensor(True, "Python bool")
DTYPE = ExpectedTensor("float32", "Python dtype")
INDICES = numpy([3, 3], "int32")

REJECTED = [
    ("none", TWO, NONE),
    ("none", ExpectedNone(), tensor([0.0, 0.0])),
    ("none", ExpectedNone(), tensor([1.0])),
    ("none", ExpectedNone(), scalar(0.0)),
    ("none", ExpectedNone(), slices([[1.0]], [0])),
    ("none", ROWS, NONE),
    ("zero", TWO, tensor([0.0, 0.0])),
    ("zero", TWO, tensor([-0.0, 0.0])),
    ("zero", INTEGERS, tensor([0, 0], "int64")),
    ("slices", TWO, slices([[2.0]], [0])),
    ("slices", ROWS, tensor([[1.0], [2.0]])),
    ("value", ROWS, slices([[2.0], [1.0]], [3, 3], [5, 1])),
    ("value", ROWS, slices([[1.0], [2.0]], [3, 4], [5, 1])),
    ("shape", ROWS, slices([[3.0]], [3], [5, 1])),
    ("shape", ROWS, slices([[1.0], [2.0]], [3, 3], [6, 1])),
    ("shape", ROWS, slices([[1.0], [2.0]], [3, 3])),
    ("structure", PAIR, tensor([2.0, 6.0])),
    ("structure", PAIR, NONE),
    ("structure", PAIR, listing(tensor([2.0, 6.0]))),
    ("structure", PAIR, listing(tensor([2.0, 6.0]), NONE, kind="tuple")),
    ("structure", NAMED, mapping(w=tensor([2.0, 6.0]), c=NONE)),
    ("structure", NAMED, mapping(w=tensor([2.0, 6.0]))),
    ("structure", NAMED, listing(tensor([2.0, 6.0]), NONE)),
    ("structure", PAIR, mapping(w=tensor([2.0, 6.0]), b=NONE)),
    ("structure", ExpectedNone(), listing(NONE)),
    ("structure", TWO, listing(tensor(2.0), tensor(6.0))),
    ("structure", TWO, variable("x")),
    ("structure", TWO, {"kind": "other", "type": "Foo"}),
    ("structure", ExpectedNone(), {"kind": "other", "type": "Foo"}),
    ("dtype", TYPED, tensor([2.0, 6.0], "float64")),
    ("dtype", INTEGERS, tensor([1, 2], "int32")),
    ("dtype", TWO, tensor([True, True], "bool")),
    ("structure", ExpectedTensor(2.0, "float32"), scalar(2.0)),
    ("structure", ExpectedTensor(True), scalar(True)),
    ("structure", ExpectedTensor("a", "string"), scalar("a")),
    ("structure", TWO, numpy([2.0, 6.0])),
    ("structure", ROWS, {**slices([[1.0], [2.0]], [3, 3], [5, 1]), "indices": INDICES}),
    ("structure", TRUE, tensor(True, "bool")),
    ("structure", TRUE, numpy(True, "bool")),
    ("dtype", TRUE, scalar(1)),
    ("dtype", ExpectedTensor(1, "Python int"), scalar(True)),
    ("dtype", ExpectedTensor(3.0, "Python float"), scalar(3)),
    ("dtype", ExpectedTensor("a", "Python str"), scalar(1.0)),
    ("dtype", ExpectedTensor(300), tensor(44, "uint8")),
    ("shape", TWO, tensor([[2.0, 6.0]])),
    ("shape", ExpectedTensor(2.0), tensor([2.0])),
    ("shape", ExpectedTensor(()), tensor([[]])),
    ("non-finite", NON_FINITE, tensor([1.0, INF, 1.0])),
    ("non-finite", NON_FINITE, tensor([NAN, -INF, 1.0])),
    ("non-finite", NON_FINITE, tensor([NAN, NAN, 1.0])),
    ("non-finite", NON_FINITE, tensor([NAN, INF, NAN])),
    ("non-finite", TWO, tensor([0.0, NAN])),
    ("non-finite", COMPLEX, tensor([1 + 2j, complex(3, NAN)], "complex64")),
    ("value", TWO, tensor([2.0, 6.1])),
    ("value", TWO, tensor([0.0, 6.0])),
    ("value", INTEGERS, tensor([1, 3], "int64")),
    ("value", ExpectedTensor(2**53 + 1, "int64"), tensor(2**53, "int64")),
    ("value", ExpectedTensor((0.0, 0.0)), tensor([0.0, 1e-30])),
    ("value", ExpectedTensor((True, False)), tensor([True, True], "bool")),
    ("value", ExpectedTensor(("a", "b")), tensor(["a", "c"], "string")),
    ("value", COMPLEX, tensor([1 - 2j, 3 - 1j], "complex64")),
    ("value", ExpectedTensor(3, "Python int"), scalar(2)),
    ("value", ExpectedTensor(2.5, "Python float"), scalar(2.0)),
    ("dtype", ExpectedTensor(2**70), tensor(2**62, "int64")),
    ("value", DTYPE, {"kind": "scalar", "type": "dtype", "value": "float64"}),
    ("error", TWO, error()),
    ("error", ExpectedNone(), error()),
    ("error", ExpectedNone(), NOT_REACHED),
    ("error", TWO, NOT_OBSERVED),
    ("error", PAIR, NOT_REACHED),
    ("error", RAISES, NOT_REACHED),
    ("error", RAISES, NOT_OBSERVED),
    ("error", RAISES, tensor([2.0])),
    ("error", RAISES, NONE),
    ("error", RAISES, error("ValueError", "no gradient", "g")),
    ("error", RAISES, error("LookupError", "something else", "g")),
    ("error", RAISES, error("LookupError", "no gradient", "y")),
    ("error", RAISES, error("LookupError", "no gradient", None)),
    ("calls", ExpectedCalls(4), scalar(5)),
    ("calls", ExpectedCalls(4), tensor(4.0)),
    ("watched", ExpectedWatched(("a", "b")), listing(variable("b"), variable("a"), kind="tuple")),
    ("watched", ExpectedWatched(("a",)), listing(tensor(1.0))),
    ("watched", ExpectedWatched(("a",)), NONE),
]
ACCEPTED = [
    (TWO, tensor([2.0, 6.0])),
    (TWO, tensor([2.0, 6.0], "float64")),
    (TYPED, tensor([2.0, 6.000001])),
    (INTEGERS, tensor([1, 2], "int64")),
    (ExpectedTensor((2, 6)), tensor([2.0, 6.0])),
    (ExpectedNone(), NONE),
    (PAIR, listing(tensor([2.0, 6.0]), NONE)),
    (NAMED, {"kind": "dict", "keys": ["b", "w"], "items": [NONE, tensor([2.0, 6.0])]}),
    (ROWS, slices([[1.0], [2.0]], [3, 3], [5, 1])),
    (ROWS, {**slices([[1.0], [2.0]], [3, 3]), "dense_shape": listing(scalar(5), scalar(1))}),
    (NON_FINITE, tensor([NAN, INF, 1.0])),
    (COMPLEX, tensor([1 + 2j, 3 - 1j], "complex64")),
    (ExpectedTensor(3), tensor(3, "int32")),
    (ExpectedTensor(3, "Python int"), scalar(3)),
    (TRUE, scalar(True)),
    (DTYPE, {"kind": "scalar", "type": "dtype", "value": "float32"}),
    (ExpectedTensor("it's", "Python str"), scalar("it's")),
    (ExpectedTensor((2.0, 6.0), numpy=True), numpy([2.0, 6.0])),
    (ExpectedTensor(()), tensor([])),
    (ExpectedTensor((), "float32", (0, 3)), {**tensor([]), "shape": [0, 3]}),
    (ExpectedTensor(0.0, "float32", (2, 2)), tensor([[0.0, 0.0], [0.0, 0.0]])),
    (ExpectedTensor(0.3, "Python float"), scalar(0.30000001192092896)),  # was a float32
    (RAISES, error("NoGradientError", "there is no gradient here", "g", ("LookupError",))),
    (ExpectedError("RuntimeError"), error()),
    (ExpectedError("RuntimeError", at="b"), error(step="a, b")),
    (ExpectedCalls(4), scalar(4)),
    (ExpectedWatched(("a", "b")), listing(variable("a"), variable("b"), kind="tuple")),
    (ExpectedWatched(()), listing(kind="tuple")),
    (CHOICE, NONE),
    (CHOICE, tensor([0.0, 0.0])),
]


@pytest.mark.parametrize(("kind", "expected", "got"), REJECTED)
def test_a_wrong_answer_is_rejected_under_its_class(kind, expected, got):
    result = compare(expected, got, Bounds(), name="g")
    assert {mismatch.kind for mismatch in result.mismatches} == {kind}
    assert result.compared > 0


@pytest.mark.parametrize(("expected", "got"), ACCEPTED)
def test_a_right_answer_is_accepted(expected, got):
    result = compare(expected, got, Bounds(), name="g")
    assert not result.mismatches
    assert result.compared > 0


def test_every_class_but_the_warnings_is_rejected_above():
    assert {kind for kind, _, _ in REJECTED} == set(ORDER) - {"warning"}


def test_every_place_of_a_structure_is_reported():
    expected = ExpectedStructure("list", (TWO, ExpectedNone(), NAMED))
    got = listing(NONE, tensor([0.0]), mapping(w=tensor([2.0, 7.0]), b=NONE))
    result = compare(expected, got, Bounds(), name="g")
    assert [(m.kind, m.where) for m in result.mismatches] == [
        ("none", "g[0]"),
        ("none", "g[1]"),
        ("value", "g[2]['w'] element (1,)"),
    ]


def test_a_list_for_a_tuple_still_has_its_items_compared():
    expected = ExpectedStructure("tuple", (TWO, TWO))
    result = compare(expected, listing(tensor([2.0, 6.0]), NONE), Bounds())
    assert [mismatch.kind for mismatch in result.mismatches] == ["structure", "none"]


def test_the_worst_element_is_named_and_the_others_are_counted():
    expected = ExpectedTensor(((1.0, 2.0), (3.0, 4.0)), "float64")
    got = tensor([[1.0, 2.5], [3.0, 5.0]], "float64")
    (mismatch,) = compare(expected, got, Bounds(), name="g").mismatches
    assert (mismatch.index, mismatch.expected, mismatch.got) == ((1, 1), "4.0", "5.0")
    assert mismatch.difference == 1.0
    assert mismatch.bound == 16 * 2.0**-52 * 4.0
    assert mismatch.floor == 16 * 2.0**-52
    assert "2 of 4 elements are off" in mismatch.note
    assert "16 x eps(float64) x 4, the largest expected" in mismatch.note


def test_a_person_reads_what_where_how_much_and_what_would_have_been_caught():
    expected = ExpectedStructure("list", (ExpectedTensor((1.0, 2.0, 0.0), "float32"),))
    (mismatch,) = compare(expected, listing(tensor([1.0, 2.5, 0.0])), Bounds(), name="g").mismatches
    assert lines(mismatch) == [
        "value: g[0] element (1,): got 2.5, expected 2.0",
        "  difference 0.5, bound 3.81e-06; relative errors from 1.9e-06 are caught here",
        "  1 of 3 elements are off; bound = 16 x eps(float32) x 2, the largest expected",
    ]


def test_a_zero_is_exact_unless_it_cancels_and_then_has_no_relative_floor():
    expected = ExpectedTensor((8.0, 0.0), "float32")
    (mismatch,) = compare(expected, tensor([8.0, 0.5]), Bounds(), name="g").mismatches
    assert lines(mismatch)[1].endswith("bound 0; exact")
    cancelling = replace(expected, cancels=Cancellation(2.0, "2 - 4 x 0.5"))
    (mismatch,) = compare(cancelling, tensor([8.0, 0.5]), Bounds(), name="g").mismatches
    assert mismatch.floor is None
    assert "any difference above 1.53e-05 is caught here" in lines(mismatch)[1]
    assert "the largest expected or term that cancels (2 - 4 x 0.5)" in lines(mismatch)[2]


def test_a_person_reads_which_part_of_a_complex_number_is_off():
    (mismatch,) = compare(COMPLEX, tensor([1 + 2j, 3 + 1j], "complex64"), Bounds()).mismatches
    assert (mismatch.difference, mismatch.index) == (2.0, (1,))
    assert "it is the imaginary part" in mismatch.note
    assert "16 x eps(complex64) x 3 and 2, the largest expected" in mismatch.note


def test_within_exact_says_exact():
    expected = ExpectedTensor((8.0, 1.0), "float32", None, "exact")
    (mismatch,) = compare(expected, tensor([8.0, 1.0000001]), Bounds(), name="g").mismatches
    assert lines(mismatch)[1].endswith("bound 0; exact")


@pytest.mark.parametrize(
    ("got", "words"),
    [
        ([-1.0, -2.0, -4.0], "every element has the opposite sign"),
        ([2.0, 4.0, 8.0], "got is 2 x expected throughout"),
        ([0.7, 1.4, 2.8], "got is 0.7 x expected throughout"),
        ([4.0, 2.0, 1.0], "got has the expected elements in another order"),
    ],
)
def test_the_note_names_the_relation_of_the_whole_tensor(got, words):
    (mismatch,) = compare(ExpectedTensor((1.0, 2.0, 4.0)), tensor(got), Bounds()).mismatches
    assert words in mismatch.note


def test_the_note_names_a_transpose():
    got = tensor([[1.0, 3.0], [2.0, 4.0]])
    (mismatch,) = compare(ExpectedTensor(((1.0, 2.0), (3.0, 4.0))), got, Bounds()).mismatches
    assert "transpose" in mismatch.note


def test_any_of_reports_the_closest_answer():
    expected = ExpectedAnyOf((ExpectedNone(), ExpectedTensor((1.0, 1.0))))
    (mismatch,) = compare(expected, tensor([1.0, 2.0]), Bounds(), name="g").mismatches
    assert mismatch.kind == "value"
    assert "the closest of 2 answers that are allowed" in mismatch.note


@pytest.mark.parametrize("expected", [ExpectedOracle(), ExpectedAnyOf(())])
def test_a_comparison_that_compared_nothing_is_no_pass(expected):
    with pytest.raises(NothingCompared):
        compare(expected, tensor([1.0]), Bounds())


def test_a_comparer_that_lost_its_way_is_no_pass(monkeypatch):
    monkeypatch.setattr("conformance.answers.compare._ValueWalk.visit", lambda *_: None)
    with pytest.raises(NothingCompared):
        compare(TWO, tensor([2.0, 6.0]), Bounds(), name="g")


@pytest.mark.parametrize("silence", [NOT_REACHED, NOT_OBSERVED])
def test_an_oracle_that_lost_the_name_has_no_word(silence):
    with pytest.raises(NothingCompared):
        compare(ExpectedOracle(), silence, Bounds(), oracle=silence)


def test_the_oracle_at_one_place_of_a_structure():
    expected = ExpectedStructure("list", (ExpectedOracle(), ExpectedNone()))
    word = listing(tensor([1.0]), NONE)
    assert not compare(expected, word, Bounds(), oracle=word).mismatches
    (mismatch,) = compare(
        expected, listing(tensor([2.0]), NONE), Bounds(), name="g", oracle=word
    ).mismatches
    assert mismatch.where == "g[0] element (0,)"


def test_a_literal_takes_the_dtype_of_the_oracle():
    word = tensor([2.0, 6.0], "float64")
    assert not compare(TWO, word, Bounds(), oracle=word).mismatches
    (mismatch,) = compare(TWO, tensor([2.0, 6.0]), Bounds(), oracle=word).mismatches
    assert (mismatch.kind, mismatch.note) == ("dtype", "the dtype is the oracle's")


@pytest.mark.parametrize(
    ("literal", "got", "holds"),
    [
        (1.0, tensor(1.0), True),
        (1.0, tensor(1.0, "float64"), False),
        (1.0, tensor(1.0, "float16"), True),  # among the dtypes that are given
        (1, tensor(1, "int64"), True),
        (1, tensor(1, "uint8"), False),
        (1j, tensor(1j, "complex128"), True),
        (True, tensor(True, "bool"), True),
    ],
)
def test_a_literal_that_nobody_gave_a_dtype_has_the_one_tensorflow_would_make(literal, got, holds):
    of = case({"g": ExpectedTensor(literal)})
    declared = Declared(of.expect, program(of), dtypes=frozenset(["float16"]))
    result = compare_answer(answered(g=got), declared, Bounds())
    assert holds == (not result.mismatches)
