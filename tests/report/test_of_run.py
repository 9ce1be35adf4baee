"""The Report of a run: which blocks, under which heading, and every cell counted once."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from conformance.asking.events import Cell
from conformance.closing import EXIT_CODES
from conformance.report.building import replay_command, show_command
from conformance.report.model import LABELS, Score
from conformance.report.of_run import report_of_run
from conformance.verdicts.findings import Findings
from tests.report.making import (
    BROKEN,
    CRASH,
    INAPPLICABLE,
    LACKS,
    LOST,
    NOT_RUN,
    RAISED,
    RIGHT,
    TIMEOUT,
    WRONG,
    all_verdicts,
    deviation,
    held,
    only,
    report_from,
    results_from,
    sections,
    sections_of,
)

RUNS = {
    "every verdict": report_of_run(all_verdicts()),
    "all green": report_from({"tensorflow": {"one": RIGHT, "two": RIGHT}}),
    "two targets": report_from({"tensorflow": {"one": WRONG}, "./tape.py": {"one": RIGHT}}),
    "the oracle too": report_from({"reference": {"one": WRONG}, "tensorflow": {"one": WRONG}}),
    "the oracle alone": report_from({"reference": {"one": RIGHT}}, modes=("eager",)),
    "no cells": report_from({"tensorflow": {}}),
}


@pytest.mark.parametrize("name", RUNS)
def test_every_cell_is_counted_once_wherever_cells_are_counted(name):
    report = RUNS[name]
    verdicts = Counter(cell.kind for cell in report.cells)
    assert report.counts == verdicts
    (table,) = sections(report)["counts"].tables
    labels = [column.head for column in table.columns[3:]]
    counted = Counter()
    for _, _, cells, *numbers in table.rows:
        assert sum(numbers) == cells
        counted.update(dict(zip(labels, numbers, strict=True)))
    assert +counted == {LABELS[verdict]: count for verdict, count in verdicts.items()}
    for subject in report.subjects:
        if subject.score:
            own = [cell for cell in report.cells if cell.target == subject.label]
            assert subject.score.compared == sum(cell.compared for cell in own)
            assert sum(subject.score.counts.values()) == len(own)


@pytest.mark.parametrize(
    ("report", "word"),
    [
        (only(RIGHT), "conforms"),
        (only(WRONG), "falls_short"),
        (only(NOT_RUN), "nothing_ran"),
        (only(NOT_RUN, failed=("tensorflow",)), "no_target"),
        (only(RIGHT, complete=False, reason="truncated"), "untrustworthy"),
        (only(RIGHT, complete=False, reason="interrupted"), "interrupted"),
        (report_of_run(Findings({}, complete=True)), "nothing_ran"),
    ],
)
def test_a_report_has_the_word_and_its_exit_code(report, word):
    assert (report.word, report.exit_code) == (word, EXIT_CODES[word])


# ----- blocks -----


@pytest.mark.parametrize("answer", [WRONG, LOST, CRASH, TIMEOUT], ids=lambda answer: answer.outcome)
def test_a_shortfall_says_where_what_and_how_to_see_it_again(answer):
    (block,) = sections(only(answer))["short"].blocks
    assert (block.case, block.where) == ("math/sq/one", "[tensorflow:eager,graph,xla]")
    assert block.title == "The gradient of a square is twice its argument"
    assert block.place == "cases/math/sq.yaml:4; guide/autodiff"
    assert block.show == "gradconf show math/sq/one --as-python"
    assert block.replay == "gradconf run tensorflow:eager,graph,xla math/sq/one"
    assert "g = t.gradient(y, x)" in block.program
    assert block.told()


def test_a_wrong_value_has_index_got_expected_bound_and_floor():
    (block,) = sections(only(WRONG, modes=("eager",)))["short"].blocks
    first, second, _ = block.findings
    assert first == "value: g element (1,): got 6.5, expected 6.0"
    assert "bound 1.14e-05; relative errors from 1.9e-06" in second


def test_a_crash_says_how():
    assert sections(only(CRASH))["short"].blocks[0].note == CRASH.detail


def test_the_same_finding_in_several_modes_is_one_block_with_the_other_bounds():
    report = only({"eager": WRONG, "graph": LOST, "xla": WRONG})
    wrong, lost = sections(report)["short"].blocks
    assert (wrong.where, len(wrong.modes)) == ("[tensorflow:eager,xla]", 2)
    assert wrong.findings[-1] == "  in xla: bound 4.58e-05, detection floor 7.6e-06"
    assert (lost.where, len(lost.modes)) == ("[tensorflow:graph]", 1)


def test_the_same_finding_of_two_targets_is_two_blocks():
    report = report_from({"tensorflow": {"one": WRONG}, "./tape.py": {"one": WRONG}})
    where = [block.where for block in sections(report)["short"].blocks]
    assert where == ["[tensorflow:eager,graph,xla]", "[./tape.py:eager,graph,xla]"]


def test_shortfalls_come_before_faults_and_both_before_the_counts():
    kinds = [section.kind for section in RUNS["every verdict"].sections]
    assert kinds == ["short", "fault", "causes", "counts", "departs", "areas", "cases"]


def test_a_fault_stands_under_its_own_heading_and_not_among_the_shortfalls():
    found = sections(only(RIGHT, oracle=WRONG))
    assert "short" not in found
    assert "the oracle contradicts" in found["fault"].blocks[0].note


def test_what_does_not_occur_has_no_column_and_no_section():
    found = sections(only(RIGHT))
    assert list(found) == ["counts", "areas", "cases"]
    (table,) = found["counts"].tables
    assert [column.head for column in table.columns] == ["target", "mode", "cells", "pass"]


def test_areas_are_counted_of_what_is_supported_and_coloured_in_steps():
    answers = {"one": RIGHT, "two": {"eager": LOST, "graph": RIGHT, "xla": LACKS}}
    (table,) = sections(report_from({"tensorflow": answers}))["areas"].tables
    ((area, *shares),) = table.rows
    assert [(share.text, share.tone) for share in shares] == [
        ("1 / 2", "half"),
        ("2 / 2", "all"),
        ("1 / 1", "all"),
    ]
    assert (area, shares[2].hint) == ("math", "1 pass, 1 unsupported")


def test_every_case_has_a_row_with_its_verdicts():
    report = RUNS["every verdict"]
    (table,) = sections(report)["cases"].tables
    found = {row[0].text: [item.tone for item in row[1:]] for row in table.rows}
    for case in {cell.case for cell in report.cells}:
        assert found.pop(case) == [cell.kind for cell in report.cells if cell.case == case]
    assert not found


# ----- the rate -----


def score(**counts):
    return Score(counts, 0, 0, 0, 0, 0)


def test_no_share_is_rounded_up_to_everything():
    assert score(**{"pass": 999, "fail": 1}).share == "99.9 %"
    assert score(**{"pass": 9999, "fail": 1}).share == "99.9 %"
    assert score(**{"pass": 1}).share == "100.0 %"
    assert score(not_applicable=1).share == "no cell"


def test_what_is_declared_as_lacking_stands_beside_the_rate_and_what_is_left_out_in_it():
    found = score(**{"pass": 477, "fail": 73, "unsupported": 210, "not_applicable": 3})
    assert found.conformance == "477 of 550 supported cells (86.7 %); 210 unsupported"
    found = score(**{"pass": 3, "not_run": 3, "not_applicable": 3})
    assert found.conformance == "3 of 6 applicable cells (50.0 %)"
    assert found.beside == ["0 fall short", "3 not run", "3 n.a."]


def surveyed(answers, **options):
    """What a report says of answers to surveys that differ."""
    found = report_from(answers, expect="survey", **options)
    return [line for section in sections_of(found, "surveyed") for line in section.lines]


def test_modes_that_answer_a_survey_differently_are_told():
    answers = {"one": {"eager": RIGHT, "graph": RIGHT, "xla": WRONG}, "two": RIGHT}
    told = surveyed({"tensorflow": answers})
    assert told == ["math/sq/one: g element (1,): eager 6.0, xla 6.5"]


def test_targets_that_answer_a_survey_differently_are_told():
    answers = {
        "tensorflow": {"one": RIGHT, "two": RIGHT},
        "./tape.py": {"one": LOST, "two": RAISED},
    }
    one, *two = surveyed(answers, modes=("eager",))
    assert one == "math/sq/one: g: tensorflow:eager [2.0, 6.0] (float32), ./tape.py:eager None"
    assert any("no gradient defined" in line for line in two)


def test_what_is_judged_is_no_survey():
    assert not sections_of(
        report_from({"tensorflow": {"one": {"eager": RIGHT, "graph": WRONG, "xla": RIGHT}}}),
        "surveyed",
    )


def test_what_is_only_surveyed_is_counted_apart():
    found = score(**{"pass": 1, "fail": 1, "surveyed": 7})
    assert found.conformance == "1 of 2 applicable cells (50.0 %)"
    assert found.beside == ["0 fall short", "7 surveyed"]


def test_targets_are_never_averaged_and_called_by_what_tells_them_apart():
    report = RUNS["the oracle too"]
    told = {subject.name: subject.score.conformance for subject in report.subjects}
    assert told == {
        "reference 0.1.0": "0 of 1 applicable cell (0.0 %)",
        "tensorflow 2.21.0": "0 of 3 applicable cells (0.0 %)",
    }
    both = report_from({"tensorflow": {"one": RIGHT}, "tensorflow==2.21.0": {"one": RIGHT}})
    names = [subject.name for subject in both.subjects if subject.score]
    assert names == ["tensorflow", "tensorflow==2.21.0"]


def test_the_oracle_is_named_where_it_is_no_target():
    roles = [(subject.role, subject.name) for subject in only(RIGHT).subjects]
    assert roles == [("target", "tensorflow 2.21.0"), ("oracle", "reference 0.1.0")]


def test_a_target_that_did_not_start_says_why():
    report = only(NOT_RUN, failed=("tensorflow",))
    assert report.reservations == ("tensorflow did not start: ImportError: no module named it",)
    assert report.subjects[0].surroundings.startswith("did not start: ImportError")


def test_a_version_that_is_newer_than_the_deviations_says_so() -> None:
    answers = {"tensorflow": {"one": WRONG}}
    for newest, told in (("2.21", ()), ("2.20", ("tensorflow 2.21.0 is newer than 2.20: ",))):
        listed = replace(deviation("math/sq/one"), newest=newest)
        found = report_of_run(results_from(answers, deviations=[listed])).reservations
        assert [line.startswith(start) for line, start in zip(found, told, strict=True)] == [
            True
        ] * len(told)


def test_stale_cells_are_counted_and_listed():
    results = results_from({"tensorflow": {"one": RIGHT}})
    results.stale.append(Cell("math/sq/old", "tensorflow", "eager"))
    report = report_of_run(results)
    assert report.reservations == (
        "1 stale cell not judged: the program has changed since the record",
    )
    assert sections(report)["stale"].lines == ("math/sq/old [tensorflow:eager]",)


# ----- beside a baseline -----


def test_a_known_failure_shows_its_answer_under_its_own_heading_and_beside_the_word():
    report = held(WRONG, WRONG)
    assert (report.word, report.beside) == ("conforms", "1 known failure")
    assert report.verdict_text == "conforms (1 known failure)"
    assert report.headline == ("1 known by the baseline known.yaml",)
    section = sections(report)["known"]
    assert section.title == "known by the baseline known.yaml (1 cell)"
    assert section.blocks[0].findings[0] == "value: g element (1,): got 6.5, expected 6.0"
    assert report.subjects[0].score.beside == ["0 fall short", "1 known failure"]
    (cell,) = report.cells
    assert (cell.standing, cell.falls_short, cell.label) == ("known", False, "fail")


def test_what_is_worse_says_what_it_was():
    report = held(WRONG, LOST)
    assert (report.word, report.beside) == ("falls_short", "")
    (block,) = sections(report)["short"].blocks
    assert block.reason == "was g: None"
    assert block.since == "first seen 2026-01-31"


def test_what_is_better_says_what_it_is_now_and_what_it_was():
    (block,) = sections(held(RIGHT, WRONG))["better"].blocks
    assert (block.label, block.kind) == ("now passes", "pass")
    assert block.reason.startswith("was g: [2.0, 6.5]")


def test_a_new_case_does_not_fall_short_and_is_said_with_the_word():
    report = held(WRONG, RIGHT, asked=frozenset({"math/sq/other"}))
    assert (report.word, report.beside) == ("conforms", "1 short in new cases")
    assert len(sections(report)["new"].blocks) == 1


def test_lacking_what_was_had_is_worse_and_says_why():
    report = held(LACKS, RIGHT)
    (block,) = sections(report)["short"].blocks
    assert (block.label, report.cells[0].falls_short) == ("unsupported", True)
    assert block.reason == "the baseline does not say that the target lacks this"


# ----- commands -----


@pytest.mark.parametrize(
    ("command", "carried"),
    [
        ((), ""),
        (("run", "tensorflow", "-q"), ""),
        (("run", "--corpus", "mine"), " --corpus mine"),
        (("run", "--corpus=my cases"), " --corpus 'my cases'"),
        (("run", "--python", "/env/python", "--corpus", "a"), " --python /env/python --corpus a"),
        (("run", "--corpus"), ""),
    ],
)
def test_a_replay_asks_the_corpus_and_the_interpreter_of_the_run(command, carried):
    cell = Cell("a/b/c", "tensorflow", "eager")
    assert replay_command(cell, command=command) == f"gradconf run tensorflow:eager a/b/c{carried}"


def test_a_script_is_of_the_mode_that_fell_short():
    assert show_command(Cell("a/b/c", "tensorflow", "eager")).endswith("--as-python")
    assert show_command(Cell("a/b/c", "tensorflow", "xla")).endswith("--as-python --mode xla")
    assert show_command(Cell("a/b/c", "tensorflow", "call")).endswith("--as-python --mode call")


def test_a_command_is_safe_to_copy():
    report = report_from({"./my tape;rm -rf x.py": {"one": WRONG}})
    (block,) = sections(report)["short"].blocks
    assert block.replay == "gradconf run './my tape;rm -rf x.py:eager,graph,xla' math/sq/one"


def test_the_command_that_shows_all_is_of_the_record_and_its_corpus():
    results = results_from({"tensorflow": {"one": BROKEN}}, record="a b.jsonl")
    results.command = ("run", "--corpus", "mine")
    wanted = "gradconf report 'a b.jsonl' --corpus mine --format text"
    assert report_of_run(results).all_of_it == wanted


def test_what_does_not_apply_is_no_part_of_the_rate():
    assert only(INAPPLICABLE).subjects[0].score.share == "no cell"
