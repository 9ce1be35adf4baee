"""Documented departures: bounded, strict, and held to their exact answer."""

from dataclasses import replace

import pytest

from conformance.answers.answer import ENDING, Answer
from conformance.corpus.language.case import ExpectedError, ExpectedNone, ExpectedTensor
from conformance.verdicts.departures import Departures, apply, target_name
from conformance.verdicts.judge import judge
from tests.answers.wire import NONE, PLACE, answered, case, error, tensor
from tests.verdicts.making import departure, evidence

CASE = case({"g": ExpectedTensor(6.0), "h": ExpectedNone()})
ORACLE = answered(g=tensor(6.0), h=NONE)
DEVIATION = departure()


def applied(answer, *deviations, the_case=CASE, oracle=ORACLE):
    given = evidence(the_case, answer, oracle)
    judgement, speaks = apply(judge(given), deviations, given)
    documented = judgement.verdict in ("known_deviation", "unexpected_pass")
    assert speaks in deviations if documented else speaks in (None, *deviations)
    return judgement


def test_exactly_the_documented_answer_is_a_known_deviation():
    judgement = applied(answered(g=tensor(7.0), h=NONE), DEVIATION)
    assert judgement.verdict == "known_deviation"
    assert judgement.mismatches  # what departs is still shown


def test_a_target_that_conforms_after_all_is_an_unexpected_pass():
    assert applied(ORACLE, DEVIATION).verdict == "unexpected_pass"


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
    assert "departs differently from what is documented" in judgement.note


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


def test_unsupported_covers_a_declared_lack():
    lacking = replace(DEVIATION, kind="unsupported")
    assert applied(Answer("unsupported"), lacking).verdict == "known_deviation"
    assert applied(answered(g=error(), h=NONE), lacking).verdict == "fail"
    assert applied(ORACLE, lacking).verdict == "unexpected_pass"
    assert applied(Answer("unsupported"), DEVIATION).verdict == "unsupported"


END = error("ValueError", "no kernel", step="g")


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        (answered(error=END), "known_deviation"),
        (answered(error=END, g={"kind": "not_observed"}), "known_deviation"),
        (answered(error=END, g=END), "known_deviation"),
        (answered(error=error("TypeError", "no kernel", step="g")), "fail"),
        (answered(error=error("ValueError", "wrong shape", step="g")), "fail"),
        (answered(error=END, g=error("TypeError", "no kernel")), "fail"),
        (answered(error=END, g=tensor(7.0)), "fail"),
    ],
)
def test_the_error_that_ended_a_program_speaks_for_the_names_that_it_left(answer, verdict):
    ends = {ENDING: ExpectedError("ValueError", "no kernel")}
    assert applied(answer, replace(DEVIATION, kind="unsupported", answer=ends)).verdict == verdict


def test_an_answer_that_its_dtype_cannot_hold_is_told():
    broken = replace(DEVIATION, answer={"g": ExpectedTensor(1e39, "float32")})
    judgement = applied(answered(g=tensor(7.0), h=NONE), broken)
    assert judgement.verdict == "fail"
    assert f"{PLACE}: a number of the literal is beyond float32" in judgement.note


@pytest.mark.parametrize(
    ("version", "case_id", "mode", "covered"),
    [
        ("2.8.0", "area/topic/one", "eager", True),
        ("2.15.1", "area/topic/one", "graph", True),
        ("2.7.4", "area/topic/one", "eager", False),
        ("2.16.0rc0", "area/topic/one", "eager", False),
        ("2.9.0", "area/other/one", "eager", False),
        ("2.9.0", "area/topic/one", "xla", False),
        ("nightly", "area/topic/one", "eager", False),
        ("", "area/topic/one", "eager", False),
    ],
)
def test_a_departure_is_bounded(version, case_id, mode, covered):
    listed = Departures("tensorflow", (DEVIATION,))
    assert listed.covering(version, case_id, mode) == [DEVIATION] * covered


@pytest.mark.parametrize(
    ("version", "inherits", "covered"),
    [
        ("2.15.1", False, True),
        ("2.16.0.dev20260101", True, True),
        ("3.0", True, True),
        ("2.7.4", False, False),
        ("nightly", False, False),
    ],
)
def test_a_version_beyond_the_list_inherits_what_holds_for_its_newest(version, inherits, covered):
    listed = Departures("tensorflow", (DEVIATION,), newest="2.15")
    assert listed.inherits(version) == inherits
    assert listed.covering(version, "area/topic/one", "eager") == [DEVIATION] * covered


@pytest.mark.parametrize(
    ("since", "until", "version", "covered"),
    [
        ("", "", "", True),
        ("", "", "nightly", True),
        ("2.8", "", "3.0", True),
        ("2.8", "", "2.7", False),
        ("", "2.15", "2.0", True),
        ("", "2.15", "2.16", False),
    ],
)
def test_a_bound_may_be_missing(since, until, version, covered):
    entry = replace(DEVIATION, since=since, until=until)
    assert entry.covers(version, "eager") == covered


def test_a_list_speaks_of_the_cases_that_it_names_and_of_those_of_its_patterns():
    exact = replace(DEVIATION, cases=("area/topic/one", "area/other/two"))
    listed = Departures("tensorflow", (exact, DEVIATION))
    assert listed.covering("2.9", "area/topic/one", "eager") == [exact, DEVIATION]
    assert listed.covering("2.9", "area/other/two", "eager") == [exact]
    assert listed.covering("2.9", "area/other/one", "eager") == []


def test_the_entries_of_a_cell_stand_in_the_order_of_the_list():
    names = {"one": ("b/*", "a/b/c"), "two": ("a/b/c",), "three": ("a/*", "a/b/*"), "four": ("a",)}
    listed = Departures("t", tuple(departure(name=name, cases=of) for name, of in names.items()))
    for entries in (listed.entries, listed.entries[::-1]):
        found = replace(listed, entries=entries).covering("2.9", "a/b/c", "eager")
        assert found == [entry for entry in entries if entry.name != "four"]


def test_a_list_is_lent_to_another_target():
    lent = Departures("tensorflow", (DEVIATION,)).lent_to("./build/proxy.py")
    assert lent == Departures("proxy.py", (DEVIATION,))


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("tensorflow==2.15.1", "tensorflow"),
        ("./build/tape.py", "tape.py"),
        ("package.tape:attribute", "package.tape:attribute"),
    ],
)
def test_a_target_has_one_name_wherever_it_is(label, name):
    assert target_name(label) == name


@pytest.mark.parametrize(
    ("outcome", "detail", "ends"),
    [
        ("crash", "ended by signal SIGSEGV", "crash SIGSEGV"),
        ("crash", "ended by signal SIGABRT: Check failed; last output: no", "crash SIGABRT"),
        ("crash", "ended by signal 63", "crash 63"),
        ("crash", "ended with exit code 3 in the middle of a reply", "exit 3"),
        ("crash", "closed its descriptor and did not end", "crash"),
        ("timeout", "no answer in 60 seconds: killed", "timeout"),
        ("answered", "", ""),
        ("unsupported", "the target lacks it", ""),
    ],
)  # fmt: skip
def test_how_a_process_ended_is_told_without_what_it_last_said(outcome, detail, ends):
    assert Answer(outcome, detail=detail).end == ends


def test_a_documented_crash_is_that_crash_and_no_other():
    crashes = replace(DEVIATION, answer={}, ends="crash SIGSEGV")
    for how, verdict in (("SIGSEGV", "known_deviation"), ("SIGABRT", "crash")):
        answer = Answer("crash", detail=f"ended by signal {how}; last output: {how}")
        assert applied(answer, crashes).verdict == verdict
    assert applied(Answer("timeout"), crashes).verdict == "timeout"
    assert applied(ORACLE, crashes).verdict == "unexpected_pass"


def test_an_entry_says_in_one_line_what_it_was():
    entry = replace(DEVIATION, answer={"g": ExpectedTensor(7.0, "float32"), "h": ExpectedNone()})
    assert entry.was == "g: 7.0 (float32); h: None"
    assert replace(entry, answer={}, ends="exit 3").was == "exit 3"
    assert replace(entry, answer={}, undefined=True).was == "undefined"
    assert replace(entry, answer={}, kind="known").was == "conforms"


def test_an_undefined_answer_is_covered_whatever_it_is():
    undefined = replace(DEVIATION, answer={}, undefined=True)
    answers = (Answer("crash"), Answer("timeout"), ORACLE, answered(g=tensor(8.0), h=NONE))
    for answer in answers:
        assert applied(answer, undefined).verdict == "known_deviation"
    assert applied(Answer("not_run"), undefined).verdict == "not_run"


def test_a_crash_is_covered_by_nothing_else():
    assert applied(Answer("crash"), DEVIATION).verdict == "crash"
