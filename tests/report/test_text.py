"""The page that a person reads on a terminal: in which order, how wide, and how coloured."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from conformance.answers.answer import Answer
from conformance.report import render
from conformance.report.model import LABELS, Column, Table
from conformance.report.text import (
    Look,
    no_command,
    print_report,
    report_lines,
    table_lines,
)
from tests.report.making import CRASH, WRONG, held, only, report_from
from tests.report.streams import Stream
from tests.report.test_of_run import RUNS

ESCAPE = "\x1b"
COPIED = ("show:", "replay:")
"""Lines that may be wider than the page: what they hold is copied."""


def page(report, **options):
    stream = Stream()
    print_report(report, stream, **options)
    return stream.text


def test_a_small_report_from_its_first_line_to_its_last():
    report = report_from({"tensorflow": {"one": CRASH}}, modes=("eager",), record="r.jsonl")
    assert render(report, "text").splitlines() == [
        "gradconf 0.1.0, corpus 1",
        "  tensorflow 2.21.0: eager (Python 3.11.7, numpy 2.4.6, Linux x86_64)",
        "  oracle: reference 0.1.0 (Python 3.11.7, numpy 2.4.6, Linux x86_64)",
        "",
        f"-- falls short (1 cell) {'-' * 56}",
        "crash  math/sq/one",
        "  [tensorflow:eager]",
        "  The gradient of a square is twice its argument",
        "  (cases/math/sq.yaml:4; guide/autodiff)",
        "    the worker died of SIGSEGV in cell 4",
        "  show:   gradconf show math/sq/one --as-python",
        "  replay: gradconf run tensorflow:eager math/sq/one",
        "",
        f"-- causes {'-' * 70}",
        "crash (1 cell)",
        "",
        f"-- cells {'-' * 71}",
        "target             mode   cells  pass  crash",
        "tensorflow 2.21.0  eager      1     0      1",
        "",
        "conformance: 0 of 1 applicable cell (0.0 %)",
        "  1 fall short",
        "  0 facts compared; cells by witnesses: none",
        "record: r.jsonl",
        "falls_short",
    ]


def test_a_known_failure_is_told_in_few_lines_with_its_answer():
    text = render(held(WRONG, WRONG), "text")
    assert (
        "\nfail  math/sq/one\n  [./tape.py:eager]\n"
        "    value: g element (1,): got 6.5, expected 6.0\n    first seen 2026-01-31\n"
    ) in text
    assert text.endswith("\n1 known by the baseline known.yaml\nconforms\n")


def test_more_blocks_than_the_limit_are_counted_in_cells():
    many = report_from({"tensorflow": {f"case{number}": WRONG for number in range(6)}})
    text = page(many, limit=2)
    assert text.count("replay:") == 2
    assert "... and 12 more: gradconf report RECORD --format text shows all" in text
    assert render(many, "text").count("replay:") == 6


# ----- width -----

NAMES = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=120)
NUMBERS = st.lists(st.integers(0, 10**6), min_size=12, max_size=12)


@settings(deadline=None)
@given(st.lists(st.tuples(NAMES, NUMBERS), min_size=1, max_size=4), st.integers(1, 12))
def test_a_table_fits_eighty_columns_and_keeps_its_numbers(rows, count):
    heads = ["cells", *LABELS.values()][:count]
    named = (Column("target", number=False), *map(Column, heads))
    table = Table(named, tuple((name, *numbers[:count]) for name, numbers in rows))
    lines = list(table_lines(table, Look()))
    assert max(map(cell_len, lines)) <= 80
    told = "\n".join(lines)
    for _, numbers in rows:
        assert all(re.search(rf"\b{number}\b", told) for number in numbers[:count] if number)


@settings(deadline=None, max_examples=40)
@given(st.text(max_size=300), st.text(max_size=300))
def test_every_line_that_is_not_copied_fits_eighty_columns(detail, reason):
    report = only(Answer("crash", detail=detail), reason=reason)
    for line in report_lines(report, Look()):
        assert cell_len(line) <= 80 or line.strip().startswith(COPIED)


# ----- colour -----


@pytest.fixture
def environment(monkeypatch):
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM", "CI"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


@pytest.mark.parametrize(
    ("terminal", "variables", "coloured"),
    [
        (True, {}, True),
        (False, {}, False),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"NO_COLOR": ""}, True),
        (True, {"TERM": "dumb"}, False),
        (False, {"FORCE_COLOR": "1"}, True),
        (True, {"FORCE_COLOR": "0"}, False),
        (True, {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
    ],
)
def test_colour_is_for_terminals_and_for_those_who_ask(environment, terminal, variables, coloured):
    for name, value in variables.items():
        environment.setenv(name, value)
    stream = Stream(terminal=terminal)
    print_report(RUNS["every verdict"], stream)
    assert (ESCAPE in stream.text) is coloured


@pytest.mark.parametrize("name", RUNS)
def test_colour_changes_no_word(environment, name):
    plain = page(RUNS[name])
    environment.setenv("FORCE_COLOR", "1")
    coloured = page(RUNS[name])
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == plain != coloured


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_a_stream_that_is_not_utf8_gets_ascii_marks(encoding):
    stream = Stream(encoding=encoding)
    print_report(only(Answer("crash", detail="∂ is not there")), stream)
    assert stream.text.isascii()
    assert "-- falls short" in stream.text
    assert "\\u2202 is not there" in stream.text


@pytest.mark.parametrize(
    ("line", "harmless"),
    [
        ("  ::error::x", "  : :error::x"),
        ("see ::error::x", "see ::error::x"),
        ("a ##[group]", "a ## [group]"),
        ("plain", "plain"),
    ],
)
def test_no_line_is_a_command_to_ci(line, harmless):
    assert no_command(line) == harmless
