"""The page that a person reads: what stands on it, in which order, how wide, and how coloured."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.closing import EXIT_CODES
from conformance.report.formats import render
from conformance.report.style import Style, columns
from conformance.report.summary import LABELS, Row
from conformance.report.tables import table
from conformance.report.terminal import print_results, report_lines
from conformance.verdicts.results import Results

from .making import (
    CRASH,
    INAPPLICABLE,
    LOST,
    NOT_RUN,
    RIGHT,
    TIMEOUT,
    WRONG,
    all_verdicts,
    results_from,
)
from .streams import Stream

ESCAPE = "\x1b"
FREE = ("show:", "replay:")
"""Lines that may be wider than the page: what they hold is copied."""


def page(results, **options):
    stream = Stream()
    print_results(results, stream, **options)
    return stream.text


def only(answer, **options):
    return results_from({"tensorflow": {"one": answer}}, **options)


# ----- content -----


@pytest.mark.parametrize(
    "results",
    [
        all_verdicts(),
        only(RIGHT),
        only(WRONG),
        only(NOT_RUN),
        only(NOT_RUN, failed=("tensorflow",)),
        only(RIGHT, complete=False, reason="truncated: the record has no footer"),
        only(RIGHT, complete=False, reason="interrupted"),
        Results({}, complete=True),
    ],
    ids=lambda results: results.word,
)
def test_the_last_line_is_the_closing_word(results):
    last = page(results).splitlines()[-1]
    assert last == results.word
    assert last in EXIT_CODES


@pytest.mark.parametrize("answer", [WRONG, LOST, CRASH, TIMEOUT], ids=lambda answer: answer.outcome)
def test_a_shortfall_has_the_commands_that_show_and_replay_it(answer):
    text = page(only(answer))
    assert "gradconf show math/sq/one --as-python\n" in text
    assert "gradconf run tensorflow:eager,graph,xla math/sq/one\n" in text


def test_a_wrong_value_has_index_got_expected_bound_and_floor():
    text = page(only(WRONG, modes=("eager",)))
    assert "g element (1,): got 6.5, expected 6.0" in text
    assert "bound 1.14e-05" in text
    assert "relative errors from 1.9e-06" in text


def test_a_crash_says_how():
    assert "SIGSEGV" in page(only(CRASH))


def test_a_mode_with_another_bound_says_so_in_the_block_that_it_shares():
    text = page(only(WRONG))
    assert text.count("gradconf show") == 1
    assert "in xla: bound 4.58e-05, detection floor 7.6e-06" in text


def test_the_same_finding_in_several_modes_is_one_block():
    text = page(only({"eager": LOST, "graph": LOST, "xla": WRONG}))
    assert "[tensorflow:eager,graph]" in text
    assert "[tensorflow:xla]" in text
    assert text.count("gradconf show") == 2


def test_the_same_finding_of_two_targets_is_two_blocks():
    text = page(results_from({"tensorflow": {"one": WRONG}, "./tape.py": {"one": WRONG}}))
    assert "[tensorflow:eager,graph,xla]" in text
    assert "[./tape.py:eager,graph,xla]" in text


def test_shortfalls_come_before_faults_and_both_before_the_counts():
    lines = page(all_verdicts()).splitlines()
    headings = [line for line in lines if line.startswith("──")]
    assert [heading.split()[1] for heading in headings] == ["falls", "at", "cells"]


def test_a_fault_stands_under_its_own_heading_and_not_among_the_shortfalls():
    text = page(only(RIGHT, oracle=WRONG))
    assert "at fault: the suite" in text
    assert "falls short (" not in text
    assert "the oracle contradicts the declared expectation of g" in text


def test_what_does_not_occur_has_no_column_and_no_heading():
    text = page(only(RIGHT))
    assert "falls short (" not in text
    assert not any(label in text for label in ("crash", "timeout", "n.a.", "not run"))


def test_more_blocks_than_the_limit_are_counted_in_cells():
    many = results_from({"tensorflow": {f"case{number}": WRONG for number in range(6)}})
    text = page(many, limit=2)
    assert text.count("replay:") == 2
    assert "... and 12 more: gradconf report RECORD --format text shows all" in text
    assert render(many, "text").count("replay:") == 6


def test_no_share_is_rounded_up_to_everything():
    answers = {f"case{number}": RIGHT for number in range(40)} | {"last": LOST}
    text = page(results_from({"tensorflow": answers}, modes=("eager",)))
    assert "40 of 41 applicable cells passed (97.5 %)" in text


def test_what_is_declared_as_lacking_or_left_out_does_not_raise_the_share():
    answers = {"right": RIGHT, "left": NOT_RUN, "inapplicable": INAPPLICABLE}
    text = page(results_from({"tensorflow": answers}))
    assert "3 of 6 applicable cells passed (50.0 %)" in text
    assert "0 fall short, 3 not run, 3 n.a." in text


def test_targets_are_never_averaged():
    text = page(results_from({"tensorflow": {"one": WRONG}, "reference": {"one": RIGHT}}))
    assert "conformance: tensorflow 2.21.0: 0 of 3" in text
    assert "conformance: reference 0.1.0: 1 of 1 applicable cell passed" in text


def test_two_targets_of_one_version_keep_their_labels():
    both = {"tensorflow": {"one": RIGHT}, "tensorflow==2.21.0": {"one": RIGHT}}
    text = page(results_from(both))
    assert "conformance: tensorflow: 3 of 3" in text
    assert "conformance: tensorflow==2.21.0: 3 of 3" in text


def test_a_target_that_did_not_start_says_why():
    text = page(only(NOT_RUN, failed=("tensorflow",)))
    assert "tensorflow did not start: ImportError: no module named it" in text
    assert text.endswith("no_target\n")


def test_a_command_is_safe_to_copy():
    target = "./my tape;rm -rf x.py"
    text = page(results_from({target: {"one": WRONG}}))
    assert "gradconf run './my tape;rm -rf x.py:eager,graph,xla' math/sq/one" in text


# ----- width -----

NAMES = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=120)
COUNTS = st.dictionaries(st.sampled_from(list(LABELS)), st.integers(0, 10**6))
MODES = st.lists(st.sampled_from(["eager", "graph", "xla", "call"]), min_size=1, unique=True)


@settings(deadline=None)
@given(st.lists(st.tuples(NAMES, MODES, COUNTS), min_size=1, max_size=4, unique_by=lambda t: t[0]))
def test_the_table_fits_eighty_columns(targets):
    rows = [Row(name, mode, counts) for name, modes, counts in targets for mode in modes]
    names = {name: name for name, _, _ in targets}
    lines = table(rows, names, Style())
    assert max(map(columns, lines)) <= 80
    told = "\n".join(lines)
    assert all(f" {row.cells}" in told for row in rows)


@settings(deadline=None, max_examples=40)
@given(st.text(max_size=300), st.text(max_size=300))
def test_every_line_that_is_not_copied_fits_eighty_columns(detail, version):
    crash = type(CRASH)("crash", detail=detail)
    results = only(crash, reason=detail)
    results.targets["tensorflow"] = {"version": version, "platform": detail}
    for line in report_lines(results, Style()):
        assert columns(line) <= 80 or line.strip().startswith(FREE)


def test_a_page_of_every_verdict_fits_eighty_columns():
    lines = page(all_verdicts()).splitlines()
    assert max(len(line) for line in lines if not line.strip().startswith(FREE)) <= 80


# ----- colour -----


@pytest.fixture
def environment(monkeypatch):
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM", "CI"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


@pytest.mark.parametrize(
    ("terminal", "variables", "color", "coloured"),
    [
        (True, {}, "auto", True),
        (False, {}, "auto", False),
        (True, {"NO_COLOR": "1"}, "auto", False),
        (True, {"NO_COLOR": ""}, "auto", True),
        (True, {"TERM": "dumb"}, "auto", False),
        (False, {"FORCE_COLOR": "1"}, "auto", True),
        (True, {"FORCE_COLOR": "0"}, "auto", False),
        (True, {"NO_COLOR": "1", "FORCE_COLOR": "1"}, "auto", False),
        (True, {"NO_COLOR": "1"}, "always", True),
        (True, {}, "never", False),
    ],
)
def test_colour_is_for_terminals_and_for_those_who_ask(
    environment, terminal, variables, color, coloured
):
    for name, value in variables.items():
        environment.setenv(name, value)
    stream = Stream(terminal=terminal)
    print_results(all_verdicts(), stream, color=color)
    assert (ESCAPE in stream.text) is coloured


def test_colour_changes_no_word(environment):
    plain, coloured = Stream(), Stream()
    print_results(all_verdicts(), plain)
    print_results(all_verdicts(), coloured, color="always")
    stripped = coloured.text
    for code in ("0", "1", "2", "31", "32", "33", "35", "1;31", "1;35"):
        stripped = stripped.replace(f"{ESCAPE}[{code}m", "")
    assert stripped == plain.text


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_a_stream_that_is_not_utf8_gets_ascii_marks(encoding):
    stream = Stream(encoding=encoding)
    results = only(type(CRASH)("crash", detail="∂ is not there"))
    print_results(results, stream)
    assert stream.text.isascii()
    assert "-- falls short" in stream.text
    assert "\\u2202 is not there" in stream.text
