"""Two answers: what differs is found in every part of one, what does not is left alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.answers.answer import Answer
from conformance.answers.compare import ENDING, difference_of
from conformance.answers.wire import value_of

from .strategies import OBSERVATIONS, UNHURRIED
from .wire import NONE, answered, error, listing, tensor

NAMES = st.sampled_from(["g", "h"])
ANSWERS = st.builds(
    Answer,
    st.sampled_from(["answered", "crash"]),
    st.dictionaries(NAMES, OBSERVATIONS.map(value_of), max_size=2),
    st.none()
    | st.builds(error, st.sampled_from(["ValueError", "TypeError"]), st.text()).map(value_of),
)


def of(observation, **changes):
    return answered(g=observation, **changes)


@UNHURRIED
@given(ANSWERS)
def test_an_answer_agrees_with_itself(answer):
    assert difference_of(answer, answer) is None


@UNHURRIED
@given(ANSWERS, ANSWERS)
def test_whether_two_answers_agree_does_not_depend_on_their_order(one, other):
    forth, back = difference_of(one, other), difference_of(other, one)
    assert (forth is None) == (back is None)


@pytest.mark.parametrize(
    ("old", "new", "kind", "where"),
    [
        (of(tensor([1.0])), of(NONE), "none", "g"),
        (of(tensor([1.0])), of(tensor([0.0])), "zero", "g element (0,)"),
        (of(tensor([1.0])), of(tensor([1.1])), "value", "g element (0,)"),
        (of(tensor([1.0])), of(tensor([1.0], "float64")), "dtype", "g"),
        (of(tensor([1.0])), of(tensor([1.0, 1.0])), "shape", "g"),
        (of(tensor([1.0])), of(listing(tensor([1.0]))), "structure", "g"),
        (of(tensor([1.0])), of(error("ValueError", "no")), "error", "g"),
        (of(NONE), of(NONE, error=error("ValueError", "no")), "error", ENDING),
        (of(error("ValueError", "no")), of(error("TypeError", "no")), "error", "g"),
        (of(error("E", "short")), of(error("E", "short, then more")), "error", "g"),
        (of(error("E", "at 0x1f: no")), of(error("E", "at 0x2e: no")), None, ""),
        (of(error("E", "graph_204[a]: no")), of(error("E", "graph_4141[a]: no")), None, ""),
        (of(error("E", "at 0x1f: no")), of(error("E", "at 0x2e: none")), "error", "g"),
        (of(error("E", "in /tmp/a/b.py: no")), of(error("E", "in /home/u/b.py:  no")), None, ""),
        (of(error("E", "a\nb")), of(error("E", "a\nc")), "error", "g"),
        (of(error("E", "shape [20]: no")), of(error("E", "shape [41]: no")), "error", "g"),
        (of(error("ValueError", "one")), of(error("ValueError", "another")), "error", "g"),
        (of(tensor([1.0])), of(tensor([1.0 + 1e-6])), None, ""),
        (of(tensor([0.0])), of(tensor([-0.0])), None, ""),
        (of(tensor([1.0])), of(tensor([1.0]), warnings=("careful",)), None, ""),
        (of(NONE), Answer("answered", {}), "error", "g"),
        (Answer("answered", {}), of(NONE), "error", "g"),
    ],
)
def test_what_differs_has_a_class_and_a_place(old, new, kind, where):
    found = difference_of(old, new)
    kinds = [mismatch.kind for mismatch in found.mismatches] if found else [None]
    assert kinds[0] == kind
    assert found is None or found.mismatches[0].where == where


def test_old_and_new_stay_apart_whichever_side_says_more():
    short, long = of(error("E", "short")), of(error("E", "short, then more"))
    for old, new in ((short, long), (long, short)):
        (mismatch,) = difference_of(old, new).mismatches
        assert old.observations["g"].message in mismatch.expected
        assert ("more" in mismatch.got) == (new is long)


def test_every_name_of_either_side_is_told():
    old = answered(g=NONE, only_old=NONE)
    new = answered(g=tensor([1.0]), only_new=NONE)
    names = {mismatch.name for mismatch in difference_of(old, new).mismatches}
    assert names == {"g", "only_old", "only_new"}


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (of(NONE), Answer("crash"), "answered became crash"),
        (Answer("timeout"), Answer("crash"), "timeout became crash"),
    ],
)
def test_what_cannot_be_compared_says_why(old, new, why):
    found = difference_of(old, new)
    assert found is not None
    assert found.why.startswith(why)


def test_two_crashes_are_one_answer():
    cells = [Answer("crash", detail=f"SIGSEGV in cell {cell}") for cell in (4, 9)]
    assert difference_of(*cells) is None


def test_the_bound_is_that_of_a_long_program():
    for share, agrees in ((0.9, True), (1.1, False)):
        near = of(tensor([1.0 + share * 64 * 2.0**-23]))
        assert (difference_of(of(tensor([1.0])), near) is None) == agrees
