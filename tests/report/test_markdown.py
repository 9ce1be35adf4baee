"""Markdown: folded blocks, one table line for each row, and no more than a job summary holds."""

from __future__ import annotations

from conformance.report import markdown, render
from conformance.report.of_difference import Known, report_of_difference
from conformance.verdicts.changes import changes_between
from tests.report.making import CRASH, WRONG, held, mended, only, report_from, sections_of
from tests.report.test_of_run import RUNS
from tests.verdicts.making_sides import ABOUT, cell, side


def test_a_shortfall_is_folded_with_its_findings_its_program_and_its_commands():
    text = render(only(CRASH, modes=("eager",)), "markdown")
    assert text.startswith(
        "## ❌ gradconf: falls_short\n\n"
        "- <code>tensorflow 2.21.0</code>: 0 of 1 applicable cell (0.0 %); 1 fall short\n"
        "  <br>0 facts compared; cells by witnesses: none\n\n"
        "### cells\n\n"
        "| target | mode | cells | pass | crash |\n"
        "| :-- | :-- | --: | --: | --: |\n"
        "| tensorflow 2.21.0 | eager | 1 | 0 | 1 |\n"
    )
    assert (
        "<details><summary><b>crash</b> <code>math/sq/one &#91;tensorflow&#58;eager&#93;</code>"
        "</summary>\n\nThe gradient of a square is twice its argument"
        " (<code>cases/math/sq.yaml&#58;4; guide/autodiff</code>)\n\n"
        "```text\nthe worker died of SIGSEGV in cell 4\n```\n\n"
        "```python\nx = tf.constant([1.0, 3.0])\n"
    ) in text
    assert (
        "```sh\ngradconf show math/sq/one --as-python\n"
        "gradconf run tensorflow:eager math/sq/one\n```\n\n</details>"
    ) in text
    assert text.endswith("\n\n**falls_short**\n")


def test_every_row_of_the_counts_is_one_line_of_the_table():
    for report in RUNS.values():
        lines = [line for line in render(report, "markdown").splitlines() if line.startswith("|")]
        (section,) = sections_of(report, "counts")
        (table,) = section.tables
        assert len(lines) == 2 + len(table.rows)
        for line, row in zip(lines[2:], table.rows, strict=True):
            assert line.strip("| ").split(" | ")[2:] == [str(number) for number in row[2:]]


def test_known_failures_stand_with_their_answers_and_beside_the_word():
    text = render(held(WRONG, WRONG), "markdown")
    assert text.startswith("## ✅ gradconf: conforms (1 known failure)\n")
    known = text.split("### known by the baseline known.yaml (1 cell)")[1]
    assert "value: g element (1,): got 6.5, expected 6.0" in known


def test_a_document_stays_below_what_a_job_summary_holds(monkeypatch):
    monkeypatch.setattr(markdown, "MOST", 2_000)
    text = render(report_from({"tensorflow": {f"n{i}": CRASH for i in range(9)}}), "markdown")
    shown = text.count("<details>")
    assert 0 < shown < 9
    left = f"... and {27 - 3 * shown} more: <code>gradconf report RECORD --format text</code>"
    assert left in text


def explained(*cases, **departure):
    """The Report of a change of these cases that a departure explains."""
    old = side(*(cell(1.0, case) for case in cases), about={**ABOUT, "version": "2.8.4"})
    new = side(*(cell(2.0, case) for case in cases))
    found = changes_between(old, new, mended(*cases, **departure))
    return report_of_difference(found, (), Known(dict.fromkeys(cases, "A title")))


def test_changes_of_one_kind_stand_under_what_explains_them():
    text = render(explained("area/topic/one", "area/topic/two"), "markdown")
    assert (
        "**until 2.8, a bug:** it is &#42;mended&#42; ([source](https://example.org/1))"
        " tensorflow 2.8.4 -&#62; 2.21.0\n\n"
        "- **value** <code>area/topic/one</code>, <code>area/topic/two</code> in eager: A title\n"
        "  - <code>g</code> was <code>&#91;1.0&#93; (float32)</code>,"
        " is <code>&#91;2.0&#93; (float32)</code>\n"
        "  - <code>gradconf show area/topic/one --as-python</code>\n"
    ) in text


def test_a_link_that_is_none_of_the_web_is_no_link():
    report = explained("area/topic/one", link="javascript:alert(1)")
    assert "javascript" not in render(report, "markdown")
    assert "javascript" not in render(report, "html").split("<body>")[1]
