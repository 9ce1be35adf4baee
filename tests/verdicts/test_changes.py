"""Differences: each class of change is assigned where its rule holds, and its neighbour beside."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.answers.answer import Answer
from conformance.asking.events import Answered, Cell
from conformance.corpus.language.loader import load_text
from conformance.corpus.language.lowering import lower
from conformance.verdicts.changes import (
    CLASSES,
    changes_between,
    changes_between_versions,
    suspects,
)
from conformance.verdicts.departures import Departures
from conformance.verdicts.findings import Findings, Reviewer
from tests.answers.strategies import UNHURRIED
from tests.answers.wire import NONE, answered, tensor
from tests.report.making import LOST, RIGHT, WRONG, results_from
from tests.verdicts.making import departure
from tests.verdicts.making_sides import ABOUT, CASE, cell, changes, kind, side

OLDER = {**ABOUT, "version": "2.8.4"}
TWO = answered(y=tensor(2.0))
OLD, NEW = side(cell(1.0)), side(cell(2.0))


def warned(*warnings):
    return answered(g=tensor([1.0]), warnings=warnings)


def about(**parts):
    return {**ABOUT, **parts}


# ----- the classes -----


def test_the_same_answer_is_no_change():
    assert kind(OLD, side(cell(1.0), about=OLDER)) is None


def test_another_version_is_another_implementation():
    assert kind(OLD, side(cell(2.0), about=OLDER)) == "implementation changed"


@pytest.mark.parametrize("missing", ["", None])
def test_an_unknown_version_is_another_implementation_whatever_else_differs(missing):
    old = side(cell(1.0), about=about(version=missing))
    new = side(cell(2.0), about=about(version=missing, numpy="1.26.4"))
    assert kind(old, new) == "implementation changed"
    assert kind(OLD, new) == "implementation changed"


@pytest.mark.parametrize(
    ("part", "cause"),
    [
        ({"python": "3.12.1"}, "Python 3.11.7 -> 3.12.1"),
        ({"numpy": "1.26.4"}, "numpy 2.4.6 -> 1.26.4"),
        ({"distribution": "tensorflow"}, "distribution tensorflow-cpu -> tensorflow"),
        ({"platform": "Darwin arm64"}, "platform Linux x86_64 -> Darwin arm64"),
        ({"packages": {"keras": "2.15.0"}}, "keras 3.12.0 -> 2.15.0"),
        ({"packages": {}}, "keras 3.12.0 -> none"),
        (
            {"numpy": "1.26.4", "packages": {"keras": "3.12.0", "protobuf": "5.1"}},
            "numpy 2.4.6 -> 1.26.4, protobuf none -> 5.1",
        ),
    ],
)
def test_the_same_version_elsewhere_is_another_environment(part, cause):
    (change,) = changes_between(OLD, side(cell(2.0), about=about(**part))).changes
    assert change.kind == "environment changed"
    assert change.cause == f"tensorflow 2.21.0; {cause}"


@pytest.mark.parametrize(
    "part", [{"packages": None}, {"packages": ["keras"]}, {"numpy": None}, {"distribution": ""}]
)
def test_what_one_side_does_not_know_does_not_speak_for_the_environment(part):
    assert kind(OLD, side(cell(2.0), about=about(**part))) == "unstable"


def test_a_release_that_answers_differently_in_one_environment_is_unstable():
    (change,) = changes_between(OLD, NEW).changes
    assert change.kind == "unstable"
    assert "nothing that is known differs" in change.cause


@pytest.mark.parametrize("target", ["./tape.py", "package.tape", "package.tape:tf"])
def test_a_file_or_module_changes_under_one_version(target):
    old, new = (side(cell(value, target=target)) for value in (1.0, 2.0))
    assert kind(old, new) == "implementation changed"


def test_another_text_of_a_file_goes_before_another_environment():
    old = side(cell(1.0, target="./tape.py"), about=about(digest="a"))
    for digest, expected in (("b", "implementation changed"), ("a", "environment changed")):
        new = side(cell(2.0, target="./tape.py"), about=about(digest=digest, numpy="1.26.4"))
        assert kind(old, new) == expected


def test_the_oracle_changes_by_itself_beside_a_target_and_alone():
    old, new = (side(cell(value, target="reference"), about=OLDER) for value in (1.0, 2.0))
    assert kind(old, new) == "oracle changed"
    old, new = (side(cell(3.0), cell(value, target="reference")) for value in (1.0, 2.0))
    assert kind(old, new) == "oracle changed"


def test_another_declaration_is_a_change_where_the_answers_agree():
    new = side(cell(1.0, expectation="other"), about=OLDER)
    assert kind(OLD, new) == "expectation changed"
    new = side(cell(2.0, expectation="other"), about=OLDER)
    assert kind(OLD, new) == "implementation changed"


@pytest.mark.parametrize("value", [1.0, 2.0])
def test_answers_to_another_program_are_not_compared(value):
    (change,) = changes_between(OLD, side(cell(value, program="other", expectation="o"))).changes
    assert (change.kind, change.mismatches, change.why) == ("program changed", (), "")


def test_a_witness_only_changes_its_answer():
    """Programs, declarations and presence are those of the target's own cells."""
    old = side(cell(1.0), cell(1.0, target="reference", program="q"), cell(1.0, "a/b/c"))
    new = side(cell(1.0), cell(1.0, target="reference"), cell(1.0, "a/b/c"))
    found = changes_between(old, new)
    assert (found.changes, found.compared) == ((), 2)
    bare = replace(new, answers=new.answers[::2])
    assert changes_between(old, bare).changes == changes_between(bare, old).changes == ()


# ----- unstable -----


@pytest.mark.parametrize(
    ("repeats", "expected"),
    [
        ((1.0, 1.0), "implementation changed"),
        ((1.0, 3.0), "unstable"),
        ((2.0,), "unstable"),
        ((Answer("crash"),), "unstable"),
    ],
)
def test_a_cell_that_answers_otherwise_each_time_is_unstable(repeats, expected):
    repeated = side(cell(1.0), repeats=repeats)
    assert kind(repeated, side(cell(2.0), about=OLDER)) == expected
    assert kind(side(cell(2.0), about=OLDER), repeated) == expected


def test_an_unstable_cell_that_answers_the_same_is_no_change():
    assert kind(side(cell(1.0), repeats=(2.0,)), OLD) is None


def test_the_oracle_may_be_unstable_too():
    old = side(cell(1.0, target="reference"), repeats=(2.0,))
    assert kind(old, side(cell(2.0, target="reference"))) == "unstable"
    old = side(cell(1.0, target="reference"), cell(3.0), repeats=(2.0,))
    assert kind(old, side(cell(2.0, target="reference"), cell(3.0))) == "unstable"


def test_a_repetition_that_is_within_the_bounds_of_both_is_a_sign_too():
    """1 and 1 + 1.5 bounds differ; what lies between agrees with each of them."""
    bound = 64 * 2.0**-23
    new = side(cell(1.0 + 1.5 * bound), about=OLDER)
    assert kind(side(cell(1.0)), new) == "implementation changed"
    assert kind(side(cell(1.0), repeats=(1.0 + 0.75 * bound,)), new) == "unstable"


# ----- added and removed -----


def test_cells_of_one_side_are_added_or_removed():
    old = side(cell(1.0), cell(1.0, mode="xla"))
    new = side(cell(1.0), cell(1.0, "area/topic/new"))
    assert changes(old, new) == [("removed", CASE, "xla"), ("added", "area/topic/new", "eager")]


def test_a_cell_that_was_not_run_has_no_answer():
    old = side(cell(1.0), cell(1.0, "a/b/c"))
    new = side(cell(1.0), cell(Answer("not_run", detail="no worker"), "a/b/c"))
    assert changes(old, new) == [("removed", "a/b/c", "eager")]
    assert changes(new, new) == []


# ----- pairing -----


def test_targets_are_paired_by_their_label_or_else_by_their_name():
    old = side(cell(1.0, target="tensorflow==2.8.4"), about=OLDER)
    assert changes(old, OLD) == []
    both = side(
        cell(1.0, target="tensorflow==2.8.4"), cell(2.0, target="tensorflow==2.21.0"), about={}
    )
    found = changes_between(old, both)
    assert found.pairs == (("tensorflow==2.8.4", "tensorflow==2.8.4"),)
    assert [(c.kind, c.cell.target) for c in found.changes] == [("added", "tensorflow==2.21.0")]


def test_two_versions_on_one_side_have_no_partner_of_another_version():
    both = side(cell(1.0, target="tensorflow==2.8.4"), cell(1.0, target="tensorflow==2.15.1"))
    found = changes_between(both, OLD)
    assert (found.pairs, found.compared) == ((), 0)
    assert found.counts == {"removed": 2, "added": 1}


def test_different_targets_have_nothing_in_common_even_with_one_oracle():
    oracle = cell(1.0, target="reference")
    found = changes_between(side(cell(1.0), oracle), side(cell(1.0, target="./tape.py"), oracle))
    assert (found.compared, found.word()) == (0, "nothing_ran")


# ----- order and word -----


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ((), ("slow",), "warning changed"),
        (("slow",), (), "warning changed"),
        (("slow", "deprecated"), ("deprecated", "slow", "slow"), None),
        (("x of 0x7f12 in cond_1",), ("x of 0x8f13 in cond_2",), None),
        (("WARNING from /a/b/tape.py",), ("WARNING from /c/d/tape.py",), None),
        ((), ("From array_ops.py: calling gather. Instructions for updating: none",), None),
    ],
)
def test_a_warning_is_a_change_of_its_own(old, new, expected):
    sides = side(cell(warned(*old))), side(cell(warned(*new)), about=OLDER)
    assert kind(*sides) == expected
    if expected:
        (mismatch,) = changes_between(*sides).changes[0].mismatches
        texts = ["; ".join(told) or "nothing of it" for told in (old, new)]
        assert [mismatch.expected, mismatch.got] == texts
        assert changes_between(*sides).changes[0].mismatch == "warning"


def test_another_answer_is_no_mere_warning():
    assert kind(OLD, side(cell(answered(g=tensor([2.0]), warnings=("slow",))))) == "unstable"


def test_a_warning_that_comes_and_goes_is_unstable():
    old = side(cell(warned("slow")), repeats=(warned(),))
    assert kind(old, side(cell(warned()), about=OLDER)) == "unstable"


def crash(how):
    return Answer("crash", detail=how)


def test_a_crash_is_that_crash_whatever_was_said_last():
    said = "ended by signal SIGSEGV; last output: I0000 00:00:1795.22 813 port.cc:1]"
    old, new = (side(cell(crash(f"{said} {word}"))) for word in ("one", "two"))
    assert kind(old, new) is None
    other = side(cell(crash("ended by signal SIGABRT")), about=OLDER)
    (change,) = changes_between(old, other).changes
    assert change.why == "crash SIGSEGV became crash SIGABRT"


def test_after_a_crash_the_new_answer_is_told():
    crashed, sound = side(cell(crash("ended by signal SIGSEGV"))), side(cell(2.0), about=OLDER)
    (change,) = changes_between(crashed, sound).changes
    (told,) = change.mismatches
    assert (told.name, told.expected, told.got) == ("g", "crash SIGSEGV", "[2.0] (float32)")
    assert (change.why, change.mismatch) == ("crash became answered", "outcome")
    (back,) = changes_between(sound, crashed).changes
    (told,) = back.mismatches
    assert (told.expected, told.got) == ("[2.0] (float32)", "crash SIGSEGV")


@pytest.mark.parametrize(
    ("since", "until", "turn"),
    [
        ("2.5", "2.8", "until 2.8"),
        ("2.9", "2.22", "since 2.9"),
        ("2.5", "2.22", ""),
        ("2.1", "2.2", ""),
        ("", "", ""),
    ],
)
def test_a_change_carries_the_departure_that_began_or_ended_with_it(since, until, turn):
    entry = departure(cases=(CASE,), since=since, until=until)
    old, new = side(cell(1.0), about=OLDER), side(cell(2.0))
    for name, explains in (("tensorflow", bool(turn)), ("tape.py", False)):
        (change,) = changes_between(old, new, [Departures(name, (entry,))]).changes
        assert change.explained_by == (entry if explains else None)
        assert change.turn == (turn if explains else "")


def test_the_most_severe_change_comes_first_and_what_is_unstable_last():
    new = side(
        cell(2.0, "a/b/unstable"),
        cell(1.0, "a/b/added"),
        cell(1.0, "a/b/program", program="q"),
        cell(1.0, "a/b/expectation", expectation="f"),
        cell(1.0, "a/b/oracle", target="reference"),
        cell(warned("slow"), "a/b/warning"),
        cell(2.0, "a/b/value"),
        cell(answered(g=NONE), "z/b/none", mode="graph"),
        cell(answered(g=NONE), "z/b/none"),
        about=OLDER,
    )
    before = ("unstable", "removed", "program", "expectation", "value", "warning")
    old = side(
        *(cell(1.0, f"a/b/{name}") for name in before),
        cell(2.0, "a/b/oracle", target="reference"),
        cell(1.0, "z/b/none"),
        cell(1.0, "z/b/none", mode="graph"),
        repeats=(5.0,),
    )
    assert changes(old, new) == [
        ("implementation changed", "z/b/none", "eager"),
        ("implementation changed", "z/b/none", "graph"),
        ("implementation changed", "a/b/value", "eager"),
        ("oracle changed", "a/b/oracle", "eager"),
        ("warning changed", "a/b/warning", "eager"),
        ("expectation changed", "a/b/expectation", "eager"),
        ("program changed", "a/b/program", "eager"),
        ("removed", "a/b/removed", "eager"),
        ("added", "a/b/added", "eager"),
        ("unstable", "a/b/unstable", "eager"),
    ]
    found = changes_between(old, new)
    assert list(found.counts) == [k for k in CLASSES if k != "environment changed"]


def test_the_word_is_about_what_was_gated():
    found = changes_between(OLD, side(cell(2.0), about=OLDER))
    assert found.word() is None
    assert found.word(["implementation changed"]) == "falls_short"
    assert found.word(["environment changed", "removed"]) == "conforms"


@pytest.mark.parametrize("gated", [(), CLASSES])
def test_a_cut_side_is_not_to_be_trusted(gated):
    cut = side(cell(1.0), complete=False, reason="truncated")
    assert (
        changes_between(OLD, cut).word(gated)
        == changes_between(cut, OLD).word(gated)
        == "untrustworthy"
    )
    assert changes_between(cut, side(cell(1.0, target="./tape.py"))).word(gated) == "untrustworthy"


# ----- what holds of all sides -----

NAMES = st.sampled_from(["a", "b", "c"])
CELLS = st.builds(
    cell,
    st.sampled_from([1.0, 2.0, Answer("crash"), Answer("not_run")]),
    st.builds("area/{}/{}".format, NAMES, NAMES),
    st.sampled_from(["tensorflow", "tensorflow==2.8.4", "reference", "./tape.py"]),
    st.sampled_from(["eager", "graph"]),
    st.sampled_from(["p", "q"]),
    st.sampled_from(["e", "f"]),
)
SIDES = st.builds(
    lambda cells, repeats, version: side(
        *{answered.cell: answered for answered in cells}.values(),
        repeats=repeats if cells else (),
        about=about(version=version),
    ),
    st.lists(CELLS, max_size=8),
    st.lists(st.sampled_from([1.0, 2.0]), max_size=2),
    st.sampled_from(["", "1", "2"]),
)


@UNHURRIED
@given(SIDES)
def test_a_side_has_no_difference_from_itself(one):
    assert changes_between(one, one).changes == ()


@UNHURRIED
@given(SIDES, SIDES)
def test_a_difference_is_the_same_cells_in_both_directions(one, other):
    turned = {"removed": "added", "added": "removed"}
    forth, back = changes_between(one, other), changes_between(other, one)
    partners = dict(forth.pairs)

    def seen(found):
        cells = [(change.kind, change.cell) for change in found.changes]
        return {(k, c.case, partners.get(c.target, c.target), c.mode) for k, c in cells}

    assert {(turned.get(kind, kind), *rest) for kind, *rest in seen(forth)} == seen(back)
    assert forth.compared == back.compared


# ----- the versions of one run -----


def test_each_version_of_a_run_is_compared_with_the_next():
    answers = {
        "tensorflow==2.8.4": {"one": RIGHT},
        "./tape.py": {"one": WRONG},
        "tensorflow==2.15.1": {"one": {"eager": LOST, "graph": RIGHT, "xla": RIGHT}},
        "tensorflow==2.21.0": {"one": {"eager": LOST, "graph": LOST, "xla": RIGHT}},
    }
    results = results_from(answers)
    for label in answers:
        results.targets[label] = about(version=label.partition("==")[2])
    found = list(changes_between_versions(results))
    assert [(d.old.title, d.new.title) for d in found] == [
        ("tensorflow 2.8.4", "tensorflow 2.15.1"),
        ("tensorflow 2.15.1", "tensorflow 2.21.0"),
    ]
    assert [[(c.kind, c.mismatch, c.cell.mode) for c in d.changes] for d in found] == [
        [("implementation changed", "none", "eager")],
        [("implementation changed", "none", "graph")],
    ]


def test_a_run_of_one_version_has_no_changes():
    answers = {"tensorflow": {"one": RIGHT}, "./tape.py": {"one": WRONG}}
    assert list(changes_between_versions(results_from(answers))) == []


def test_what_one_version_of_a_run_was_not_asked_is_no_change():
    labels = ["tensorflow==2.8.4", "tensorflow==2.21.0"]
    lost = {"eager": LOST, "graph": RIGHT}
    not_run = {"eager": Answer("not_run"), "graph": Answer("not_run")}
    for one, compared in (({"eager": LOST, "graph": Answer("not_run")}, [1]), (not_run, [])):
        answers = {labels[0]: {"one": lost}, labels[1]: {"one": one}}
        found = list(changes_between_versions(results_from(answers, modes=("eager", "graph"))))
        assert [(d.compared, d.changes) for d in found] == [(n, ()) for n in compared]


def test_the_repetitions_of_a_run_tell_what_is_unstable():
    labels = ["tensorflow==2.8.4", "tensorflow==2.21.0"]
    results = results_from({labels[0]: {"one": RIGHT}, labels[1]: {"one": WRONG}}, modes=("eager",))
    for label in labels:
        results.targets[label] = about(version=label.partition("==")[2])
    (judged,) = (judged for judged in results.everything if judged.cell.target == labels[0])
    again = cell(WRONG, judged.cell.case, labels[0])
    for repeats, expected in (({}, "implementation changed"), ({judged.cell: [again]}, "unstable")):
        results.repeats = repeats
        (found,) = changes_between_versions(results)
        assert [change.kind for change in found.changes] == [expected]


# ----- what is asked again -----


def test_what_does_not_plainly_pass_and_what_versions_answer_otherwise_is_asked_again():
    labels = ["tensorflow==2.8.4", "tensorflow==2.21.0"]
    same = {"right": RIGHT, "wrong": WRONG, "lost": RIGHT}
    findings = results_from({labels[0]: same, labels[1]: {**same, "lost": LOST}}, modes=("eager",))
    found = suspects(findings)
    due = {(label, f"math/sq/{name}") for label in labels for name in ("wrong", "lost")}
    assert {(suspect.target, suspect.case) for suspect in found} == due
    first = min(found, key=str)
    findings.repeats[first] = []
    assert suspects(findings) == found - {first}


def test_what_may_be_answered_in_several_ways_is_asked_again():
    text = """\
introduction: A choice.
cases:
  choice:
    title: Two answers
    source: guide/autodiff
    inputs: {x: 1.0}
    run: |
      y = x * 2.0
    expect: {y: {any_of: [2.0, null]}}
"""
    cases = load_text(text, "area/topic", "cases/area/topic.yaml")
    findings = Findings({"reference": ("eager",)})
    reviewer = Reviewer(findings, cases, [])
    told = Answered(Cell(cases[0].id, "reference", "eager"), lower(cases[0]).hash, TWO)
    assert [finding.verdict for finding in reviewer.add(told)] == ["pass"]
    assert suspects(findings) == {told.cell}
