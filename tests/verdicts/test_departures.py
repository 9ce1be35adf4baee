"""Documented departures: bounded, strict, and held to their exact answer."""

from dataclasses import replace

import pytest

from conformance.answers.answer import Answer
from conformance.corpus.language.case import ExpectedNone, ExpectedTensor
from conformance.verdicts.deviations import Deviation, apply, faults_of
from conformance.verdicts.judge import judge
from tests.answers.wire import NONE, PLACE, answered, case, error, tensor
from tests.verdicts.making import evidence

CASE = case({"g": ExpectedTensor(6.0), "h": ExpectedNone()})
ORACLE = answered(g=tensor(6.0), h=NONE)
DEVIATION = Deviation(
    target="tensorflow",
    cases=("area/topic/*",),
    modes=("eager", "graph"),
    since="2.8",
    until="2.15",
    answer={"g": ExpectedTensor(7.0)},
    kind="bug",
    who="the documentation",
    reason="it is doubled",
    link="https://example.org/1",
    place=PLACE,
)


def applied(answer, *deviations, the_case=CASE, oracle=ORACLE):
    given = evidence(the_case, answer, oracle)
    return apply(judge(given), deviations, given)


def test_exactly_the_documented_answer_is_a_known_deviation():
    judgement = applied(answered(g=tensor(7.0), h=NONE), DEVIATION)
    assert judgement.verdict == "known_deviation"
    assert judgement.mismatches  # what departs is still shown
    for words in ("bug", "it is doubled", "https://example.org/1", str(PLACE)):
        assert words in judgement.note


def test_a_target_that_conforms_after_all_is_an_unexpected_pass():
    judgement = applied(ORACLE, DEVIATION)
    assert judgement.verdict == "unexpected_pass"
    assert "it is doubled" in judgement.note


@pytest.mark.parametrize(
    "answer",
    [
        answered(g=tensor(8.0), h=NONE),
        answered(g=tensor(7.0, "float64"), h=NONE),
        answered(g=NONE, h=NONE),
        answered(g=error(), h=NONE),
        answered(g=tensor(7.0), h=tensor(0.0)),  # the other name must conform
        answered(error=error(step="last"), g=tensor(7.0), h=NONE),
    ],
)
def test_another_departure_still_fails(answer):
    judgement = applied(answer, DEVIATION)
    assert judgement.verdict == "fail"
    assert "departs differently from bug, it is doubled" in judgement.note


def test_without_deviations_the_judgement_stays():
    assert applied(answered(g=tensor(7.0), h=NONE)).verdict == "fail"
    assert applied(ORACLE).verdict == "pass"


def test_one_of_several_deviations_is_enough():
    other = replace(DEVIATION, answer={"g": ExpectedTensor(8.0)})
    assert applied(answered(g=tensor(7.0), h=NONE), other, DEVIATION).verdict == "known_deviation"


@pytest.mark.parametrize("outcome", ["crash", "timeout", "adapter_error", "not_run"])
def test_a_deviation_covers_no_crash_and_nothing_that_did_not_run(outcome):
    judgement = judge(evidence(CASE, Answer(outcome), ORACLE))
    assert applied(Answer(outcome), DEVIATION) == judgement


def test_a_bad_case_stays_one():
    wrong = answered(g=tensor(7.0), h=NONE)
    assert applied(wrong, DEVIATION, oracle=wrong).verdict == "bad_case"


def test_unsupported_covers_any_error_and_a_declared_lack():
    lacking = replace(DEVIATION, kind="unsupported", answer={})
    assert applied(answered(g=error(), h=NONE), lacking).verdict == "known_deviation"
    assert applied(Answer("unsupported"), lacking).verdict == "known_deviation"
    assert applied(answered(g=tensor(7.0), h=NONE), lacking).verdict == "fail"
    assert applied(ORACLE, lacking).verdict == "unexpected_pass"
    assert applied(Answer("unsupported"), DEVIATION).verdict == "unsupported"


def test_an_answer_that_its_dtype_cannot_hold_is_told():
    broken = replace(DEVIATION, answer={"g": ExpectedTensor(1e39, "float32")})
    judgement = applied(answered(g=tensor(7.0), h=NONE), broken)
    assert judgement.verdict == "fail"
    assert f"{PLACE}: a number of the literal is beyond float32" in judgement.note


@pytest.mark.parametrize(
    ("target", "version", "case_id", "mode", "covered"),
    [
        ("tensorflow", "2.8.0", "area/topic/one", "eager", True),
        ("tensorflow", "2.15.1", "area/topic/one", "graph", True),
        ("tensorflow", "2.7.4", "area/topic/one", "eager", False),
        ("tensorflow", "2.16.0rc0", "area/topic/one", "eager", False),
        ("tensorflow", "2.9.0", "area/other/one", "eager", False),
        ("tensorflow", "2.9.0", "area/topic/one", "xla", False),
        ("tinytape", "2.9.0", "area/topic/one", "eager", False),
        ("tensorflow", "nightly", "area/topic/one", "eager", False),
    ],
)
def test_a_deviation_is_bounded(target, version, case_id, mode, covered):
    assert DEVIATION.covers(target, version, case_id, mode) == covered


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"cases": ("area/topic/*", "area/gone/*")}, "'area/gone/*' matches no case"),
        ({"cases": ()}, "names no mode or no case"),
        ({"modes": ()}, "names no mode or no case"),
        ({"modes": ("eagre",)}, "unknown mode 'eagre'"),
        ({"answer": {}}, "does not say what the target answers"),
        ({"answer": {"z": ExpectedNone()}}, "area/topic/one does not observe 'z'"),
        ({"since": "2.16"}, "since 2.16 is after until 2.15"),
        ({"until": "latest"}, "'latest' is no version"),
    ],
)
def test_a_faulty_entry_is_told_with_its_place(changes, words):
    (fault,) = faults_of([replace(DEVIATION, **changes)], [CASE])
    assert fault == f"{PLACE}: {words}"


def test_a_sound_entry_has_no_fault():
    assert faults_of([DEVIATION, replace(DEVIATION, kind="unsupported", answer={})], [CASE]) == []


def test_an_undefined_answer_is_covered_whatever_it_is():
    undefined = replace(DEVIATION, answer={}, undefined=True)
    answers = (Answer("crash"), Answer("timeout"), ORACLE, answered(g=tensor(8.0), h=NONE))
    for answer in answers:
        assert applied(answer, undefined).verdict == "known_deviation"
    assert applied(Answer("not_run"), undefined).verdict == "not_run"
    assert faults_of([undefined], [CASE]) == []


@pytest.mark.parametrize("changes", [{"kind": "limit"}, {"answer": {"g": ExpectedTensor(7.0)}}])
def test_undefined_is_a_bug_without_an_answer(changes):
    undefined = replace(DEVIATION, **{"answer": {}, "undefined": True, **changes})
    assert "undefined answer is a bug" in faults_of([undefined], [CASE])[0]


def test_a_crash_is_covered_by_nothing_else():
    assert applied(Answer("crash"), DEVIATION).verdict == "crash"
