"""Two witnesses, and what a cell's verdict is when they and the target do or do not agree."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.answers.answer import Answer
from conformance.corpus.language.case import (
    Cancellation,
    ExpectedAnyOf,
    ExpectedError,
    ExpectedNone,
    ExpectedOracle,
    ExpectedStructure,
    ExpectedSurvey,
    ExpectedTensor,
    Input,
)
from conformance.verdicts.judge import Judge, Verdict, dtypes_named, judge
from tests.answers.strategies import ERRORS, JSON, OBSERVATIONS, UNHURRIED, damaged
from tests.answers.wire import (
    NONE,
    NOT_OBSERVED,
    NOT_REACHED,
    answered,
    case,
    error,
    listing,
    scalar,
    slices,
    tensor,
)
from tests.verdicts.making import evidence

SIX = ExpectedTensor(6.0)
RIGHT = answered(g=tensor(6.0))
WRONG = answered(g=tensor(7.0))
RAISES = ExpectedError("LookupError", "no gradient")
LOOKUP = error("LookupError", "no gradient for y", "y")


def judged(the_case, answer, oracle=RIGHT, mode="eager", operations=1, dependencies=None):
    return judge(evidence(the_case, answer, oracle, mode, operations, dependencies))


def test_a_right_answer_passes_by_both_witnesses():
    judgement = judged(case({"g": SIX}), RIGHT)
    assert (judgement.verdict, judgement.witnesses) == ("pass", ("declared", "oracle"))
    assert judgement.compared == 6  # dtype, shape and element, twice


def test_a_wrong_answer_fails_once():
    judgement = judged(case({"g": SIX}), WRONG)
    assert judgement.verdict == "fail"
    assert [mismatch.where for mismatch in judgement.mismatches] == ["g"]


@pytest.mark.parametrize("target", [RIGHT, WRONG])
def test_an_oracle_that_contradicts_the_declaration_is_a_bad_case(target):
    judgement = judged(case({"g": SIX}), target, WRONG)
    assert judgement.verdict == "bad_case"
    assert judgement.note == "the oracle contradicts the declared expectation of g"
    assert judgement.mismatches[0].got == "7.0"


@pytest.mark.parametrize("outcome", ["crash", "timeout", "adapter_error"])
def test_an_oracle_that_does_not_answer_is_a_bad_case(outcome):
    judgement = judged(case({"g": SIX}), RIGHT, Answer(outcome, detail="signal 11"))
    assert judgement.verdict == "bad_case"
    assert "signal 11" in judgement.note


@pytest.mark.parametrize("outcome", ["unsupported", "not_run"])
def test_without_a_word_of_the_oracle_the_declaration_judges_alone(outcome):
    for target, verdict in ((RIGHT, "pass"), (WRONG, "fail")):
        judgement = judged(case({"g": SIX}), target, Answer(outcome))
        assert (judgement.verdict, judgement.witnesses) == (verdict, ("declared",))
        assert outcome in judgement.note


def test_a_literal_takes_the_dtype_of_the_oracle():
    double = answered(g=tensor(6.0, "float64"))
    assert judged(case({"g": SIX}), double, double).verdict == "pass"
    judgement = judged(case({"g": SIX}), RIGHT, double)
    assert [mismatch.kind for mismatch in judgement.mismatches] == ["dtype"]


def test_the_oracle_binds_where_the_declaration_is_met_on_its_other_side():
    word, target = answered(g=tensor(6.000008)), answered(g=tensor(5.999992))
    assert judged(case({"g": SIX}), word, word).verdict == "pass"
    (mismatch,) = judged(case({"g": SIX}), target, word).mismatches
    assert mismatch.kind == "value"
    assert mismatch.note.endswith("expected by the oracle")


def test_the_oracle_binds_as_the_declaration_says():
    rows = slices([[1.0], [2.0]], [2, 2], [3, 1])
    dense = case({"g": ExpectedTensor(((0.0,), (0.0,), (3.0,)), dense=True)})
    for target in (rows, tensor([[0.0], [0.0], [3.0]])):
        assert judged(dense, answered(g=target), answered(g=rows)).verdict == "pass"
    cancels = ExpectedTensor((0.0, 1.0), cancels=Cancellation(2.0, "2 - 2"))
    word, target = answered(g=tensor([0.0, 1.0])), answered(g=tensor([1e-6, 1.0]))
    assert judged(case({"g": cancels}), target, word).verdict == "pass"
    assert judged(case({"g": ExpectedTensor((0.0, 1.0))}), target, word).verdict == "fail"


def test_an_override_silences_the_oracle():
    the_case = case({"g": ExpectedNone()}, expect_in={"graph": {"g": ExpectedTensor(0.0)}})
    unconnected, zero = answered(g=NONE), answered(g=tensor(0.0))
    for mode, right, wrong in (
        ("eager", unconnected, zero),
        ("call", unconnected, zero),
        ("graph", zero, unconnected),
        ("xla", zero, unconnected),
    ):
        assert judged(the_case, right, unconnected, mode).verdict == "pass"
        judgement = judged(the_case, wrong, unconnected, mode)
        assert [mismatch.kind for mismatch in judgement.mismatches] == ["none"]
    assert judged(the_case, zero, unconnected, "graph").witnesses == ("declared",)


def test_an_override_in_eager_silences_the_oracle_in_every_mode():
    the_case = case({"g": SIX}, expect_in={"eager": {"g": ExpectedTensor(7.0)}})
    assert judged(the_case, WRONG, WRONG, "eager").verdict == "pass"
    assert judged(the_case, RIGHT, WRONG, "graph").verdict == "pass"
    assert judged(the_case, WRONG, WRONG, "graph").verdict == "fail"


def test_an_overridden_literal_has_a_dtype_that_the_case_names():
    override = {"graph": {"g": ExpectedTensor(0.0)}}
    plain = case({"g": ExpectedNone()}, expect_in=override)
    double = case(
        {"g": ExpectedNone()},
        expect_in=override,
        inputs=(Input("x", "constant", 1.0, "float64"),),
    )
    zero = answered(g=tensor(0.0, "float64"))
    assert judged(plain, zero, answered(g=NONE), "graph").verdict == "fail"
    assert judged(double, zero, answered(g=NONE), "graph").verdict == "pass"


def test_the_reference_is_judged_by_the_declaration_alone():
    judgement = judged(case({"g": SIX}), answered(g=tensor(6.0, "float64")), None)
    assert (judgement.verdict, judgement.witnesses) == ("pass", ("declared",))
    assert judged(case({"g": SIX}), WRONG, None).verdict == "fail"


def test_the_oracle_as_the_only_witness():
    the_case = case({"g": ExpectedOracle()})
    assert judged(the_case, RIGHT).verdict == "pass"
    assert judged(the_case, WRONG).verdict == "fail"
    assert judged(the_case, RIGHT, None).verdict == "not_applicable"
    assert judged(the_case, RIGHT, Answer("unsupported")).verdict == "bad_case"
    assert judged(the_case, RIGHT, answered(g=NOT_OBSERVED)).verdict == "bad_case"
    assert judged(the_case, answered(g=NOT_REACHED)).verdict == "fail"


def test_one_name_without_any_witness_is_enough_for_a_bad_case():
    the_case = case({"g": SIX, "h": ExpectedOracle()})
    target = answered(g=tensor(6.0), h=tensor(1.0))
    judgement = judged(the_case, target, answered(g=tensor(6.0), h=NOT_OBSERVED))
    assert (judgement.verdict, judgement.note) == ("bad_case", "the oracle says nothing of h")


def test_the_oracle_as_witness_of_an_error_binds_the_class_only():
    the_case = case({"g": ExpectedOracle()})
    word = answered(g=error("LookupError", "one text"))
    assert judged(the_case, answered(g=error("LookupError", "another")), word).verdict == "pass"
    assert judged(the_case, answered(g=error("TypeError", "one text")), word).verdict == "fail"


def test_a_documented_choice_binds_no_more_than_the_declaration():
    the_case = case({"g": ExpectedAnyOf((ExpectedNone(), ExpectedTensor(0.0)))})
    assert judged(the_case, answered(g=tensor(0.0)), answered(g=NONE)).verdict == "pass"
    assert judged(the_case, answered(g=tensor(1.0)), answered(g=NONE)).verdict == "fail"


@pytest.mark.parametrize(
    ("outcome", "verdict"),
    [
        ("crash", "crash"),
        ("timeout", "timeout"),
        ("adapter_error", "error"),
        ("unsupported", "unsupported"),
        ("not_applicable", "not_applicable"),
        ("not_run", "not_run"),
    ],
)
def test_an_outcome_without_answer_is_its_verdict(outcome, verdict):
    judgement = judged(case({"g": SIX}), Answer(outcome, detail="why\nnot"))
    assert (judgement.verdict, judgement.note) == (verdict, "why not")


@pytest.mark.parametrize("answer", [RIGHT, WRONG, answered(g=LOOKUP), answered(LOOKUP)])
@pytest.mark.parametrize("oracle", [RIGHT, WRONG, Answer("crash"), None])
def test_a_survey_is_recorded_and_never_judged(answer, oracle):
    judgement = judged(case({"g": ExpectedSurvey()}), answer, oracle)
    assert (judgement.verdict, judgement.compared, judgement.mismatches) == ("surveyed", 0, ())


@pytest.mark.parametrize("outcome", ["crash", "timeout", "not_run"])
def test_a_survey_without_an_answer_is_no_survey(outcome):
    assert judged(case({"g": ExpectedSurvey()}), Answer(outcome)).verdict == outcome


def test_what_stands_beside_a_survey_is_judged():
    the_case = case({"g": SIX, "h": ExpectedSurvey()})
    oracle = answered(g=tensor(6.0), h=tensor(1.0))
    for h in (tensor(2.0), LOOKUP):
        assert judged(the_case, answered(g=tensor(6.0), h=h), oracle).verdict == "pass"
        assert judged(the_case, answered(g=tensor(7.0), h=h), oracle).verdict == "fail"
    pair = case({"g": ExpectedStructure("list", (SIX, ExpectedSurvey()))})
    for first, verdict in ((6.0, "pass"), (7.0, "fail")):
        answer = answered(g=listing(tensor(first), tensor(1.0)))
        assert judged(pair, answer, answered(g=listing(tensor(6.0), NONE))).verdict == verdict


def test_the_case_may_say_that_a_mode_is_not_applicable():
    the_case = case({"g": SIX}, not_applicable={"xla": "strings"})
    judgement = judged(the_case, WRONG, mode="xla")
    assert (judgement.verdict, judgement.note) == ("not_applicable", "strings")
    assert judged(the_case, WRONG, mode="graph").verdict == "fail"


@pytest.mark.parametrize("silence", [NOT_REACHED, NOT_OBSERVED])
@pytest.mark.parametrize("expected", [SIX, ExpectedNone(), RAISES])
def test_a_name_without_observation_never_passes(silence, expected):
    word = {SIX: RIGHT, RAISES: answered(g=LOOKUP)}.get(expected, answered(g=NONE))
    assert judged(case({"g": expected}), answered(g=silence), word).verdict == "fail"
    assert judged(case({"g": expected}), answered(), word).verdict == "fail"


def test_an_error_at_a_step_that_the_name_depends_on_is_the_names_error():
    the_case = case({"g": RAISES})
    target = answered(error=LOOKUP, g=NOT_REACHED)
    word = answered(g=LOOKUP)
    depends = {"g": frozenset(["g", "y"])}
    assert judged(the_case, target, word, dependencies=depends).verdict == "pass"
    judgement = judged(the_case, target, word, dependencies={"g": frozenset(["g"])})
    assert (judgement.verdict, judgement.mismatches[0].got) == ("fail", "not reached")
    assert judged(the_case, target, word, dependencies={}).verdict == "fail"


def test_an_error_at_an_unknown_step_is_accepted_and_said_so():
    lost = {**LOOKUP, "step": None}
    judgement = judged(case({"g": RAISES}), answered(error=lost, g=NOT_REACHED), answered(g=LOOKUP))
    assert (judgement.verdict, judgement.note) == ("pass", "g: the step of the error is unknown")


def test_at_is_strict_about_the_step():
    strict = ExpectedError("LookupError", "", "g")
    word = answered(g={**LOOKUP, "step": "g"})
    depends = {"g": frozenset(["g", "y"])}
    for step, verdict in (("g", "pass"), ("y", "fail"), (None, "fail")):
        target = answered(error={**LOOKUP, "step": step}, g=NOT_REACHED)
        assert judged(case({"g": strict}), target, word, dependencies=depends).verdict == verdict


def test_a_value_that_was_lost_to_an_error_shows_that_error():
    target = answered(error=LOOKUP, g=NOT_REACHED)
    (mismatch,) = judged(case({"g": SIX}), target, dependencies={"g": frozenset("y")}).mismatches
    assert (mismatch.kind, mismatch.got) == ("error", "LookupError: no gradient for y")


def test_an_error_that_no_expectation_speaks_of_is_no_pass():
    ended = answered(error=error("ValueError", "at the end", "t.reset()"), g=tensor(6.0))
    judgement = judged(case({"g": SIX}), ended)
    assert [(m.kind, m.name) for m in judgement.mismatches] == [("error", "t.reset()")]
    assert judged(case({"g": SIX}), RIGHT, ended).verdict == "bad_case"


def test_a_warning_must_be_logged():
    the_case = case({"g": SIX}, warns="is inefficient")
    warned = answered(warnings=("Calling it is inefficient here",), g=tensor(6.0))
    assert judged(the_case, warned).verdict == "pass"
    judgement = judged(the_case, RIGHT)
    assert [mismatch.kind for mismatch in judgement.mismatches] == ["warning"]
    assert judged(case({"g": SIX}), warned).verdict == "pass"


@pytest.mark.parametrize("expect", [{}, {"g": ExpectedAnyOf(())}])
def test_a_case_that_compares_nothing_is_a_bad_case(expect):
    assert judged(case(expect), RIGHT).verdict == "bad_case"
    if not expect:
        assert judged(case(expect), RIGHT, None).verdict == "bad_case"


def test_a_literal_that_its_dtype_cannot_hold_is_a_bad_case():
    for literal in (ExpectedTensor(1e39, "float32"), ExpectedTensor(6.5, "int32")):
        judgement = judged(case({"g": literal}), RIGHT)
        assert judgement.verdict == "bad_case"
        assert "the expectation is at fault" in judgement.note


@pytest.mark.parametrize(
    "observation", [3, {}, {"kind": "tensor"}, {"kind": "not_reached!"}, {"kind": "list"}]
)
def test_a_malformed_answer_is_an_error_and_a_malformed_oracle_a_bad_case(observation):
    expect = {"g": ExpectedStructure("list", (SIX,))}
    word = answered(g=listing(tensor(6.0)))
    assert judged(case(expect), answered(g=observation), word).verdict == "error"
    assert judged(case(expect), word, answered(g=observation)).verdict == "bad_case"
    ended = answered(error=observation, g=NOT_REACHED)
    assert judged(case(expect), ended, word).verdict in ("error", "fail")


def test_a_python_scalar_is_met_by_one_only_and_a_tensor_by_a_tensor():
    python = answered(g=scalar(6.0))
    for due, right, wrong in (
        (SIX, RIGHT, python),
        (ExpectedTensor(6.0, "Python float"), python, RIGHT),
    ):
        assert judged(case({"g": due}), right, right).verdict == "pass"
        assert judged(case({"g": due}), wrong, right).mismatches[0].kind == "structure"
        assert judged(case({"g": due}), right, wrong).verdict == "bad_case"


def test_the_bound_is_that_of_the_mode_and_of_the_length_of_the_program():
    off = answered(g=tensor(6.0 * (1 + 32 * 2.0**-23)))
    for mode, length, due in (("eager", 5, "fail"), ("eager", 6, "pass"), ("xla", 1, "pass")):
        assert judged(case({"g": SIX}), off, mode=mode, operations=length).verdict == due


def test_the_dtypes_that_a_case_names():
    plain = case({"g": SIX})
    assert dtypes_named(plain) == frozenset()
    program = "y = tf.cast(x, tf.bfloat16)\nz = tf.constant(1, dtype='uint8')\nw = np.ones(3)"
    named = dtypes_named(case({"g": SIX}, run=program))
    assert named == {"bfloat16", "uint8", "float64", "complex128"}


HELD = st.sampled_from(
    [SIX, RAISES, ExpectedNone(), ExpectedOracle(), ExpectedError("ValueError", at="g")]
)
ANSWERS = st.builds(
    answered,
    error=st.none() | damaged(ERRORS) | JSON,
    g=OBSERVATIONS | damaged() | JSON,
    warnings=st.lists(st.text(), max_size=2),
)


@UNHURRIED
@given(HELD, ANSWERS, ANSWERS | st.none(), st.sampled_from(["eager", "xla"]))
def test_the_judge_never_raises_for_what_an_answer_holds(expected, target, oracle, mode):
    the_case = case({"g": expected, "h": SIX}, warns="slow")
    judgement = judged(the_case, target, oracle, mode)
    assert judgement.verdict in get_args(Verdict)
    assert judgement.verdict != "pass"  # nobody observed h


@UNHURRIED
@given(HELD, OBSERVATIONS)
def test_whatever_passes_was_compared_and_agrees_with_the_oracle(expected, observation):
    judgement = judged(case({"g": expected}), answered(g=observation), answered(g=observation))
    if judgement.verdict == "pass":
        assert judgement.compared > 0
        assert observation["kind"] not in ("not_reached", "not_observed")


def test_a_step_that_binds_several_names_is_met_by_each_of_them():
    the_case = case({"g": ExpectedError("ValueError")})
    ending = error("ValueError", "no", "u")
    answer = answered(error=ending, g={"kind": "not_reached"})
    relied = {"g": frozenset({"u, v", "g"})}
    assert judged(the_case, answer, None, "call", 1, relied).verdict == "pass"
    assert judged(the_case, answer, None, "call", 1, {"g": frozenset({"w", "g"})}).verdict == "fail"


@pytest.mark.parametrize("first", ["eager", "graph", "xla"])
@pytest.mark.parametrize("off", [0, 8, 32, 128, 1e9])
def test_modes_that_answer_alike_are_judged_as_if_each_were_alone(first, off):
    the_case = case({"g": SIX, "h": SIX}, expect_in={"graph": {"h": ExpectedTensor(7.0)}})
    answers = [answered(g=tensor(6.0 * (1 + off * 2.0**-23)), h=tensor(h)) for h in (6.0, 7.0)]
    oracle = answered(g=tensor(6.0), h=tensor(6.0))
    judging = Judge()
    modes = [first, "eager", "graph", "xla", "call"]
    for given_answer in answers:
        for mode in modes:
            asked = evidence(the_case, given_answer, oracle, mode)
            assert judging.judge(asked) == judge(asked)


def test_a_warning_that_is_due_is_looked_for_in_each_mode():
    the_case = case({"g": SIX}, warns="slow")
    judging = Judge()
    for mode, warnings, verdict in (("eager", ("slow",), "pass"), ("graph", (), "fail")):
        asked = evidence(the_case, answered(g=tensor(6.0), warnings=warnings), RIGHT, mode)
        assert judging.judge(asked).verdict == verdict
