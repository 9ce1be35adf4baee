"""The Report of a difference: every change with both values, its class, and why it is one."""

from __future__ import annotations

import pytest

from conformance.answers.answer import Answer, NoneValue, Raised
from conformance.report.of_difference import Known, report_of_difference
from conformance.verdicts.changes import changes_between
from tests.answers.wire import NONE, answered, error, listing, tensor
from tests.report.making import LOST, RIGHT, WRONG, mended, report_from, report_of, results_from
from tests.verdicts.making_sides import ABOUT, CASE, cell, side

OLDER = {**ABOUT, "version": "2.8.4"}


def report(old, new, gated=(), departures=()):
    found = changes_between(old, new, departures)
    return report_of_difference(found, gated, Known({CASE: "A title"}))


def blocks(old, new):
    found = report(side(*old), side(*new, about=OLDER))
    return [block for section in found.sections for block in section.blocks]


def facts(old, new):
    (block,) = blocks([cell(old)], [cell(new)])
    return [(fact.where, fact.old, fact.new, fact.note) for fact in block.facts]


def test_a_change_has_both_values_its_modes_its_cause_and_its_title():
    modes = ("eager", "graph", "xla")
    values = {"eager": 2.0, "graph": 3.0, "xla": 2.0}
    first, second = blocks(
        [cell(1.0, mode=mode) for mode in modes],
        [cell(values[mode], mode=mode) for mode in modes],
    )
    assert (first.case, first.where) == (CASE, "[tensorflow:eager,xla]")
    assert (first.label, first.kind, first.title) == ("value", "implementation changed", "A title")
    assert first.cause == "tensorflow 2.21.0 -> 2.8.4"
    assert first.show == f"gradconf show {CASE} --as-python"
    (fact,) = first.facts
    assert (fact.where, fact.old, fact.new) == ("g", "[1.0] (float32)", "[2.0] (float32)")
    assert (second.modes, second.facts[0].new) == (("graph",), "[3.0] (float32)")


def test_a_value_that_is_too_long_for_a_line_is_shown_where_it_differs_most():
    old, new = (answered(g=tensor([*[1.0] * 39, last])) for last in (1.0, 2.0))
    note = "difference 1, bound 7.63e-06"
    assert facts(old, new) == [("g element (39,)", "1.0", "2.0", note)]


def test_what_an_error_took_away_is_shown_with_all_that_was_in_it():
    lost = error("ValueError", "no")
    old, new = answered(g=lost), answered(g=listing(lost, NONE))
    assert facts(old, new) == [("g", "ValueError: no", "[ValueError: no, None]", "")]


def test_an_error_in_other_words_is_told_apart_from_an_error_and_said_once():
    def raised(kind, message):
        ended = Raised(kind, (), message)
        return Answer("answered", {"g": ended}, ended)

    other, reworded = raised("TypeError", "no"), raised("ValueError", "never")
    for new, label in ((other, "error"), (reworded, "message")):
        (block,) = blocks([cell(raised("ValueError", "no"))], [cell(new)])
        assert (block.label, len(block.facts)) == (label, 1)


def test_after_a_crash_the_new_answer_is_shown_without_times_and_addresses():
    crash = Answer("crash", detail="2026-11-22 03:04:05.123456: SIGSEGV at 0x7f3a, pid 4242")
    old, new = facts(crash, Answer("answered", {"g": NoneValue()}))
    assert old[:3] == ("the outcome", "crash: SIGSEGV at #, pid ", "answered")
    assert new == ("g", "crash", "None", "")


def test_two_crashes_that_say_the_same_but_for_the_time_are_no_change():
    old, new = (Answer("crash", detail=f"2026-11-22 03:04:0{n}: died") for n in (1, 2))
    assert blocks([cell(old)], [cell(new)]) == []


def test_a_changed_program_is_not_compared_and_a_changed_expectation_says_so():
    (program,) = blocks([cell(1.0)], [cell(2.0, program="q")])
    assert (program.label, program.note) == ("program changed", "the answers are not compared")
    assert [(f.where, f.old, f.new) for f in program.facts] == [("the program", "p", "q")]
    (declared,) = blocks([cell(1.0)], [cell(1.0, expectation="f")])
    assert declared.note == "the answers are what they were"


def test_the_departure_that_explains_a_change_stands_at_it():
    old, new = side(cell(1.0), about=OLDER), side(cell(2.0))
    found = report(old, new, departures=mended(CASE))
    (block,) = found.sections[0].blocks
    assert block.explanation == "until 2.8, a bug: it is *mended* (https://example.org/1)"
    (changed,) = found.changes
    assert (changed.since, changed.reason) == ("until 2.8, a bug", "it is *mended*")
    assert changed.link == "https://example.org/1"


def test_other_warnings_are_a_class_of_their_own():
    old, new = (Answer("answered", warnings=(text,)) for text in ("one", "two"))
    found = report(side(cell(old)), side(cell(new), about=OLDER))
    (block,) = found.sections[0].blocks
    assert (block.label, block.kind) == ("warning", "warning changed")
    assert [(fact.old, fact.new) for fact in block.facts] == [("one", "two")]


def test_changes_are_counted_by_class_area_and_mode():
    old = side(cell(1.0), *(cell(1.0, mode=mode) for mode in ("jit", "pmap")))
    new = side(cell(1.0), *(cell(2.0, mode=mode) for mode in ("jit", "pmap")), about=OLDER)
    found = report(old, new)
    assert found.headline == ("3 cells compared: 2 implementation changed",)
    assert (found.counts, found.compared) == ({"implementation changed": 2}, 3)
    (table,) = found.sections[-1].tables
    assert [column.head for column in table.columns] == ["class", "area", "other", "cells"]
    ((kind, *rest),) = table.rows
    assert (kind.text, *rest) == ("implementation changed", "area", 2, 2)


def test_what_is_unstable_is_told_apart_from_changes():
    found = report(side(cell(1.0)), side(cell(2.0), repeats=(3.0,), about=OLDER))
    assert found.headline == ("1 cell compared: no change; 1 unstable",)
    (block,) = found.sections[0].blocks
    assert block.cause == "tensorflow 2.21.0 -> 2.8.4; another answer in a fresh process"


def test_a_mode_an_area_and_a_target_of_one_side_are_one_line_each():
    cases = [f"basics/squares/{number}" for number in range(9)]
    old = side(*(cell(1.0, case) for case in cases))
    new = side(
        *(cell(1.0, case, mode=mode) for case in cases[:8] for mode in ("eager", "xla")),
        *(cell(1.0, f"watching/variables/{number}") for number in range(7)),
        *(cell(1.0, case, "./tape.py") for case in cases),
        cell(1.0, "basics/squares/new"),
    )
    removed, added, counts = report(old, new).sections
    assert removed.lines == ("basics/squares/8 [tensorflow:eager]",)
    assert added.heading == "added (25 cells)"
    assert added.lines == (
        "target ./tape.py: 9 cells only in NEW",
        "mode xla of tensorflow: 8 cells only in NEW",
        "area watching of tensorflow: 7 cells only in NEW",
        "basics/squares/new [tensorflow:eager]",
    )
    assert [[str(getattr(c, "text", c)) for c in row] for row in counts.tables[0].rows] == [
        ["removed", "", "1", "0", "1"],
        ["added", "", "17", "8", "25"],
    ]


@pytest.mark.parametrize("gated", [(), ("implementation changed",)])
def test_what_cannot_be_compared_says_so_before_the_word(gated):
    cut = side(cell(1.0), complete=False, reason="interrupted")
    found = report(side(cell(1.0)), cut, gated)
    assert (found.word, found.exit_code) == ("untrustworthy", 4)
    assert found.reservations == ("NEW is not complete: interrupted",)
    strangers = report(side(cell(1.0)), side(cell(1.0, "else/where/x")), gated)
    assert (strangers.word, strangers.exit_code) == ("nothing_ran", 3)


def test_only_what_is_gated_gives_a_word():
    old, new = side(cell(1.0)), side(cell(2.0), about=OLDER)
    assert (report(old, new).word, report(old, new).exit_code) == (None, 0)
    assert report(old, new, ("implementation changed",)).exit_code == 1
    assert report(old, new, ("removed",)).word == "conforms"


def test_each_side_is_named_with_its_targets():
    told = [(s.role, s.name, s.surroundings) for s in report(side(cell(1.0)), side()).subjects]
    assert told == [
        ("old", "a.jsonl", ""),
        ("old", "tensorflow 2.21.0", "Python 3.11.7, numpy 2.4.6, Linux x86_64"),
        ("new", "a.jsonl", ""),
    ]


# ----- several versions in one run -----


def test_a_run_of_two_versions_says_what_changed_between_them():
    answers = {
        "tensorflow==2.8.4": {"one": RIGHT, "two": RIGHT},
        "tensorflow==2.21.0": {"one": {"eager": WRONG, "graph": LOST, "xla": RIGHT}, "two": RIGHT},
    }
    results = results_from(answers)
    results.targets["tensorflow==2.8.4"] = OLDER
    found = report_of(results)
    (section,) = (s for s in found.sections if s.kind == "changes")
    assert section.heading == "from tensorflow 2.8.4 to tensorflow 2.21.0"
    assert section.lines == ("6 cells compared: 2 implementation changed",)
    lost, wrong = section.blocks
    assert [(f.old, f.new) for f in wrong.facts] == [
        ("[2.0, 6.0] (float32)", "[2.0, 6.5] (float32)")
    ]
    assert (lost.modes, lost.facts[0].new, lost.label) == (("graph",), "None", "none")
    cause = "tensorflow 2.8.4 -> 2.21.0"
    assert [(c.case, *c.modes, c.label, c.cause) for c in found.changes] == [
        ("math/sq/one", "graph", "none", cause),
        ("math/sq/one", "eager", "value", cause),
    ]


def test_versions_that_agree_are_said_to():
    labels = ("tensorflow==2.8.4", "tensorflow==2.21.0")
    found = report_from({label: {"one": RIGHT} for label in labels})
    (section,) = (s for s in found.sections if s.kind == "changes")
    assert section.lines == ("3 cells compared: no change",)


def test_a_run_of_one_version_says_nothing_of_changes():
    found = report_from({"tensorflow": {"one": RIGHT}})
    assert (found.changes, [s for s in found.sections if s.kind == "changes"]) == ((), [])
