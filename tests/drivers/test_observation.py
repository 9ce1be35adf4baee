"""What a target answers that the wire cannot carry is told as its own, never as a fault of ours."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import indent

import pytest

from conformance.answers.answer import Other, Tensor, Value
from conformance.answers.wire import value_of
from conformance.asking.ask import ORACLE, ask
from conformance.asking.events import Answered, TargetFailed
from conformance.asking.session import Session
from conformance.corpus.language.literals import WIRE
from conformance.corpus.language.loader import load_text
from conformance.drivers.inside.observation import CARRIED
from tests.asking.making import TEXT, broken

PROGRAM = """
import enum

class Number(float):
    def __repr__(self):
        return "never"

class Whole(enum.IntEnum):
    ONE = 1

class Lies:
    dtype = np.dtype("float32")
    def numpy(self):
        return np.array([1.0], "float64")

class IndexedSlices:
    values, indices, dense_shape = None, np.array([1]), None

class Vague(IndexedSlices):
    values, dense_shape = np.array([1.0]), (None, 2)

class Lost:
    dtype = np.dtype("float32")
    def numpy(self):
        raise OSError("no value")

class LostSlices(IndexedSlices):
    values = Lost()

class Keys:
    def __str__(self):
        return "same"

class Hostile:
    def __getattribute__(self, name):
        raise SystemExit("never")

def case():
{statements}
    return {{'g': g}}
"""
OTHERS = {
    "g = np.array([1.0], 'longdouble')": "ndarray of float128",
    "g = np.longdouble(1.0)": "longdouble of float128",
    "g = np.array(['2020-01-01'], 'datetime64[D]')": "ndarray of datetime64[D]",
    "g = np.zeros(2, [('a', 'i4'), ('b', 'f4')])": "ndarray of void64",
    "g = np.array([1, None], object)": "ndarray of objects",
    "g = np.zeros((2**40, 0))": "more than 4,194,304 bytes",
    "g = 'a' * 5_000_000": "more than 4,194,304 bytes",
    "g = {Keys(): 1, Keys(): 2}": "a dict with two keys of the same text",
    "g = {'a' * 5_000_000: 1}": "more than 4,194,304 bytes",
    "g = 2**70": "an int of 71 bits",
    "g = Lies()": "Lies of float32 that holds float64",
    "g = IndexedSlices()": "IndexedSlices without values that the wire can carry",
    "g = Vague()": "Vague without dense_shape that the wire can carry",
    "g = Hostile()": "Hostile",
    "g = [1] * 30_000": "more than 20,000 values",
    "g = object()": "object",
    "g = type('x' * 1000, (), {})()": "x" * 160,
}
NUMBERS = {
    "g = Number(1.5)": ("float", "1.5"),
    "g = Whole.ONE": ("int", "1"),
    "g = -(2**63)": ("int", str(-(2**63))),
    "g = 2**64 - 1": ("int", str(2**64 - 1)),
}

ARRAYS = {
    "g = np.array([1.5, 2.5], 'float32')": "float32",
    "g = np.float64(1.5)": "float64",
    "g = np.complex128(1 + 2j)": "complex128",
    "g = np.bool_(True)": "bool",
    "g = np.str_('a')": "string",
}


@pytest.fixture(scope="module")
def numpy_session() -> Iterator[Session]:
    session = Session(broken("numpy_tensors"))
    session.start()
    yield session
    session.close()


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    session = Session(ORACLE)
    session.start()
    yield session
    session.close()


def value_in(session: Session, statements: str) -> Value:
    source = PROGRAM.format(statements=indent(statements, "    "))
    request = {"cell": 1, "name": "a/b/c", "source": source, "parameters": [], "convert": False}
    request |= {"mode": "eager", "observe": ["g"], "isolated": False}
    reply = session.ask(request, 20.0)
    assert reply["error"] is None
    return value_of(reply["observations"]["g"])


@pytest.mark.parametrize("statements", OTHERS)
def test_what_the_wire_cannot_carry_has_its_class_and_why(
    session: Session, statements: str
) -> None:
    assert value_in(session, statements) == Other(OTHERS[statements])


@pytest.mark.parametrize("statements", NUMBERS)
def test_a_subclass_of_a_number_is_that_number(session: Session, statements: str) -> None:
    value = value_in(session, statements)
    assert isinstance(value, Tensor)
    kind, _ = NUMBERS[statements]
    assert value.dtype == f"Python {kind}"


def test_slices_whose_values_were_lost_are_not_observed(session: Session) -> None:
    assert value_in(session, "g = LostSlices()").kind == "not_observed"


def test_a_bool_of_any_byte_is_true(session: Session) -> None:
    value = value_in(session, "g = np.array([0, 1, 2], 'uint8').view(bool)")
    assert isinstance(value, Tensor)
    assert value.array.tolist() == [False, True, True]


def test_the_worker_carries_what_the_host_reads() -> None:
    assert tuple(WIRE) == CARRIED


def test_one_value_that_is_too_much_is_one_cells_failure() -> None:
    cases = load_text(TEXT)
    for name in ("answers_a_terabyte", "answers_without_end"):
        events = list(ask(cases, [broken(name)], timeout=20))
        answered = [event.answer.outcome for event in events if isinstance(event, Answered)]
        assert answered == ["answered"] * len(cases)


def test_a_fork_at_import_is_told() -> None:
    events = list(ask(load_text(TEXT), [broken("forks_at_import")], timeout=20))
    (failed,) = [event for event in events if isinstance(event, TargetFailed)]
    assert "cannot be imported: it forks while it is imported" in failed.reason


@pytest.mark.parametrize("statements", ARRAYS)
def test_what_is_of_numpy_is_an_array_though_python_takes_it_for_a_number(
    session: Session, statements: str
) -> None:
    value = value_in(session, statements)
    assert isinstance(value, Tensor)
    assert (value.kind, value.dtype) == ("array", ARRAYS[statements])


@pytest.mark.parametrize("statements", ARRAYS)
def test_a_target_may_declare_that_its_tensors_are_of_numpy(
    numpy_session: Session, statements: str
) -> None:
    value = value_in(numpy_session, statements)
    assert isinstance(value, Tensor)
    assert (value.kind, value.dtype) == ("tensor", ARRAYS[statements])
