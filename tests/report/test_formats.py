"""Every format of every kind of report: nothing hostile left alive, every cell accounted for."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from conformance.answers.answer import Answer
from conformance.answers.wire import value_of
from conformance.asking.events import Cell
from conformance.report import FORMATS, render
from conformance.report.of_difference import Known, report_of_difference
from conformance.report.of_run import report_of_run
from conformance.report.text import WIDTH
from conformance.verdicts.changes import CLASSES, changes_between
from tests.answers.strategies import OBSERVATIONS, UNHURRIED
from tests.report.making import RIGHT, raised, report_from, results_from
from tests.report.test_of_run import RUNS
from tests.verdicts.making_sides import ABOUT, cell, side

HOSTILE = (
    "\x1b[31m\x00 ]]> </failure></details>`````<script>alert(1)</script> | a\u202eb \ud800 &amp;"
    "](javascript:alert(2)) ::error::x\n::error::y"
)
FORBIDDEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2028\ud800-\udfff\ufffe\uffff]")
TAGS = {
    *("<details>", "</details>", "<summary>", "</summary>"),
    *("<b>", "</b>", "<code>", "</code>", "<br>"),
}
COPIED = ("show:", "replay:")
"""Lines of text that may be wider than the page: what they hold is copied."""


def hostile_report():
    target, answer = f"./{HOSTILE}.py", Answer("crash", detail=HOSTILE)
    answers = {"dies": answer, "raises": raised(HOSTILE, HOSTILE), "breaks": answer, "right": RIGHT}
    results = results_from({target: answers}, reason=HOSTILE, record=HOSTILE, complete=False)
    results.targets[target] = {"version": HOSTILE, "python": HOSTILE, HOSTILE: HOSTILE}
    results.failed["tensorflow"] = HOSTILE
    results.stale.append(Cell(HOSTILE, HOSTILE, HOSTILE))
    results.command = ("run", HOSTILE)
    return report_of_run(results)


@pytest.mark.parametrize("format", FORMATS["run"])
def test_nothing_that_a_target_writes_reaches_a_terminal(format):
    text = render(hostile_report(), format)
    assert not FORBIDDEN.search(text)
    text.encode("utf-8")


@pytest.mark.parametrize("format", ["text", "markdown", "github"])
def test_no_line_of_a_report_is_a_command_to_ci(format):
    lines = render(hostile_report(), format).splitlines()
    own = [line for line in lines if re.match(r"\s*::", line)]
    assert own == (lines if format == "github" else [])
    assert not [line for line in own if not re.match(r"::(error|warning|notice) [a-z]+=", line)]


@pytest.mark.parametrize("format", ["text", "markdown"])
@pytest.mark.parametrize("name", [*RUNS, "hostile"])
def test_a_report_ends_in_its_word(format, name):
    report = hostile_report() if name == "hostile" else RUNS[name]
    assert render(report, format).splitlines()[-1].strip("*") == report.word


def tags_outside_code(markdown):
    outside = re.sub(r"^(`{3,})\w+\n.*?^\1$", "", markdown, flags=re.S | re.M)
    assert "`" not in outside
    assert "javascript:" not in outside
    rows = [line for line in outside.splitlines() if line.startswith("|")]
    assert len({line.count("|") for line in rows}) <= 1
    return set(re.findall(r"<[^>]*>", outside))


def test_hostile_text_is_no_markup_in_markdown():
    assert tags_outside_code(render(hostile_report(), "markdown")) <= TAGS


@settings(deadline=None, max_examples=40)
@given(st.text(max_size=200))
def test_any_text_keeps_every_format_whole(text):
    answers = {f"./{text}.py": {"one": Answer("crash", detail=text)}}
    report = report_from(answers, reason=text)
    root = ElementTree.fromstring(render(report, "junit"))
    assert len(list(root.iter("testcase"))) == 3
    assert json.loads(render(report, "json"))["cells"][0]["detail"] == text
    assert tags_outside_code(render(report, "markdown")) <= TAGS
    for line in render(report, "text").splitlines():
        assert cell_len(line) <= WIDTH or line.strip().startswith(COPIED)


# ----- differences of arbitrary records -----

TEXTS = st.text(max_size=12) | st.just(HOSTILE)
CELLS = st.builds(
    cell,
    st.builds(
        Answer,
        st.sampled_from(["answered", "crash"]),
        st.dictionaries(TEXTS, OBSERVATIONS.map(value_of), max_size=2),
        detail=TEXTS,
    ),
    st.sampled_from(["area/topic/case", "area"]) | TEXTS,
    st.sampled_from(["tensorflow", "reference"]) | TEXTS,
    st.sampled_from(["eager", "xla"]) | TEXTS,
    st.sampled_from(["p", "q"]),
    st.sampled_from(["e", "f"]),
)
SIDES = st.builds(
    lambda cells, about, texts: side(
        *{answered.cell: answered for answered in cells}.values(),
        about=about,
        title=texts[0],
        complete=not texts[1],
        reason=texts[1],
    ),
    st.lists(CELLS, max_size=4),
    st.dictionaries(st.sampled_from([*ABOUT, "digest"]) | TEXTS, TEXTS, max_size=4),
    st.tuples(TEXTS, TEXTS),
)


@UNHURRIED
@given(SIDES, SIDES)
def test_arbitrary_records_are_told_in_every_format_and_nothing_of_them_is_obeyed(old, new):
    found = changes_between(old, new)
    known = Known({HOSTILE: HOSTILE}, ["diff", "--corpus", HOSTILE])
    report = report_of_difference(found, CLASSES, known)
    documents = {form: render(report, form) for form in FORMATS["difference"]}
    for document in documents.values():
        assert not FORBIDDEN.search(document)
        assert document.endswith("\n")
    for line in documents["text"].splitlines():
        assert cell_len(line) <= WIDTH or line.strip().startswith(COPIED)
    assert tags_outside_code(documents["markdown"]) <= TAGS
    changes = json.loads(documents["json"])["changes"]
    assert [change["kind"] for change in changes] == [change.kind for change in found.changes]


def test_a_format_that_a_kind_of_report_has_not_is_refused():
    report = report_of_difference(changes_between(side(), side()), (), Known({}))
    with pytest.raises(ValueError, match="not written as junit"):
        render(report, "junit")


@pytest.mark.parametrize("format", ["json", "junit", "github", "markdown", "html"])
def test_what_a_format_does_not_need_is_not_loaded(run_python, format):
    script = (
        "import sys; from conformance.report import render;"
        "from conformance.report.model import Report;"
        f"render(Report('run', '', 'conforms'), {format!r}); print(sorted(sys.modules))"
    )
    loaded = run_python(script)
    assert "'rich'" not in loaded
    assert ("'jinja2'" in loaded) == (format in ("markdown", "html"))
