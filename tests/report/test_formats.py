"""One run in every format: the same counts, the same words, and nothing hostile left alive."""

import json
import re
from collections import Counter
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.answers.answer import Answer
from conformance.asking.events import Cell
from conformance.closing import EXIT_CODES
from conformance.report.formats import FORMATS, render
from conformance.report.summary import LABELS

from .making import CRASH, RIGHT, WRONG, all_verdicts, raised, results_from

HOSTILE = (
    "\x1b[31m\x00 ]]> </failure></details>`````<script>alert(1)</script> | a\u202eb \ud800 &amp;"
)
FORBIDDEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2028\ud800-\udfff\ufffe\uffff]")
RUNS = {
    "every verdict": all_verdicts(),
    "all green": results_from({"tensorflow": {"one": RIGHT, "two": RIGHT}}),
    "two targets": results_from({"tensorflow": {"one": WRONG}, "./tape.py": {"one": RIGHT}}),
    "the oracle too": results_from({"reference": {"one": WRONG}, "tensorflow": {"one": WRONG}}),
    "the oracle alone": results_from({"reference": {"one": RIGHT}}, modes=("eager",)),
    "no cells": results_from({"tensorflow": {}}),
}


def hostile_results():
    target, answer = f"./{HOSTILE}.py", Answer("crash", detail=HOSTILE)
    answers = {"dies": answer, "raises": raised(HOSTILE, HOSTILE), "breaks": answer, "right": RIGHT}
    results = results_from({target: answers}, reason=HOSTILE, record=HOSTILE, complete=False)
    results.targets[target] = {"version": HOSTILE, "python": HOSTILE, HOSTILE: HOSTILE}
    results.failed["tensorflow"] = HOSTILE
    results.stale.append(Cell(HOSTILE, HOSTILE, HOSTILE))
    results.command = ("run", HOSTILE)
    return results


@pytest.fixture(params=RUNS)
def results(request):
    return RUNS[request.param]


# ----- one count under one name -----


def counts_of_text(text):
    """The table across, read back: {(target, mode): {label: cells}}."""
    lines = text[text.index("- cells -") :].splitlines()[1:]
    lines = lines[: lines.index("")]
    heads = re.split(r"  +", lines[0])
    target, counted = "", {}
    for line in lines[1:]:
        cells = re.split(r"  +", line)
        target = cells[0] or target
        counted[target, cells[1]] = dict(zip(heads[2:], map(int, cells[2:]), strict=True))
    return counted


def counts_down(text):
    """The table down, for the run in which every verdict occurs."""
    lines = text[text.index("- cells -") :].splitlines()[1:]
    target, *modes = re.split(r"  +", lines[0])
    counted = {(target, mode): {} for mode in modes}
    for line in lines[1 : lines.index("")]:
        label, *cells = re.split(r"  +", line)
        for mode, cell in zip(modes, cells, strict=True):
            counted[target, mode][label] = int(cell)
    return counted


def counts_of_markdown(text):
    head, _, *lines = [line.strip("| ") for line in text.splitlines() if line.startswith("|")]
    labels = head.split(" | ")[2:]
    counted = {}
    for line in lines:
        target, mode, *cells = line.split(" | ")
        key = re.sub("<[^>]*>", "", target), re.sub("<[^>]*>", "", mode)
        counted[key] = dict(zip(labels, map(int, cells), strict=True))
    return counted


def counts_of_json(text):
    return {
        (target["title"], row["mode"]): {"cells": row["cells"]}
        | {LABELS[verdict]: count for verdict, count in row["counts"].items()}
        for target in json.loads(text)["targets"]
        for row in target["rows"]
    }


def without_zeros(counted):
    return {
        key: {label: count for label, count in counts.items() if count or label == "cells"}
        for key, counts in counted.items()
    }


def test_the_tables_agree(results):
    text = render(results, "text")
    read = counts_down if results is RUNS["every verdict"] else counts_of_text
    in_json = without_zeros(counts_of_json(render(results, "json")))
    assert without_zeros(read(text)) == in_json
    assert without_zeros(counts_of_markdown(render(results, "markdown"))) == in_json


def test_junit_has_one_testcase_for_each_cell_and_counts_them(results):
    root = ElementTree.fromstring(render(results, "junit"))
    cells = json.loads(render(results, "json"))["cells"]
    names = [f"{case.get('classname')}/{case.get('name')}" for case in root.iter("testcase")]
    assert names == [f"{cell['case']} [{cell['target']}:{cell['mode']}]" for cell in cells]
    assert len(set(names)) == len(names)
    for element in (root, *root.iter("testsuite")):
        found = Counter(child.tag for case in element.iter("testcase") for child in case)
        assert int(element.get("tests")) == len(list(element.iter("testcase")))
        assert int(element.get("failures")) == found["failure"]
        assert int(element.get("errors")) == found["error"]
        assert int(element.get("skipped")) == found["skipped"]


def test_junit_keeps_our_word_for_each_cell(results):
    root = ElementTree.fromstring(render(results, "junit"))
    for case, cell in zip(
        root.iter("testcase"), json.loads(render(results, "json"))["cells"], strict=True
    ):
        told = [child.get("message").split(":")[0] for child in case]
        assert told == ([] if cell["verdict"] == "pass" else [LABELS[cell["verdict"]]])


def test_json_counts_its_cells(results):
    document = json.loads(render(results, "json"))
    assert document["counts"] == Counter(cell["verdict"] for cell in document["cells"])
    for target in document["targets"]:
        headline = target["headline"]
        own = [cell for cell in document["cells"] if cell["target"] == target["target"]]
        assert sum(headline["counts"].values()) == len(own)
        assert sum(row["cells"] for row in target["rows"]) == len(own)
        assert headline["compared"] == sum(cell["compared"] for cell in own)


def test_the_passed_the_short_and_those_beside_are_all_cells(results):
    text = render(results, "text").replace("\n", " ")
    found = re.findall(r"(\d+) of (\d+) applicable cells? passed \S+ \S+\)? +(.*?)\d+ facts?", text)
    sums = [int(passed) + sum(map(int, re.findall(r"\d+", rest))) for passed, _, rest in found]
    assert sum(sums) == len(results.cells)


def test_every_format_says_the_word(results):
    assert render(results, "text").endswith(f"\n{results.word}\n")
    assert render(results, "markdown").endswith(f"\n**{results.word}**\n")
    document = json.loads(render(results, "json"))
    assert (document["word"], document["exit_code"]) == (results.word, EXIT_CODES[results.word])
    root = ElementTree.fromstring(render(results, "junit"))
    words = [p.get("value") for p in root.iter("property") if p.get("name") == "word"]
    assert words == [results.word] * len(results.asked)


# ----- what each format holds of a shortfall -----


def test_junit_tells_where_what_and_how_to_see_it_again():
    root = ElementTree.fromstring(render(results_from({"tensorflow": {"one": WRONG}}), "junit"))
    case = next(root.iter("testcase"))
    assert (case.get("file"), case.get("line")) == ("cases/math/sq.yaml", "4")
    failure = case.find("failure")
    assert failure.get("type") == "fail"
    assert "got 6.5, expected 6.0" in failure.get("message")
    assert "bound 1.14e-05; relative errors from 1.9e-06" in failure.text
    assert "gradconf show math/sq/one --as-python" in failure.text
    assert "gradconf run tensorflow:eager math/sq/one" in failure.text


def test_markdown_folds_each_shortfall_with_its_program_and_commands():
    text = render(results_from({"tensorflow": {"one": WRONG}}), "markdown")
    assert text.count("<details>") == text.count("</details>") == 1
    for part in ("guide/autodiff", "g = t.gradient(y, x)", "got 6.5, expected 6.0", "bound"):
        assert part in text
    assert "gradconf run tensorflow:eager,graph,xla math/sq/one" in text


def test_markdown_stays_below_what_a_job_summary_holds(monkeypatch):
    monkeypatch.setattr("conformance.report.markdown.MOST", 2_000)
    answers = {f"case{number}": CRASH for number in range(9)}
    text = render(results_from({"tensorflow": answers}), "markdown")
    shown = text.count("<details>")
    assert 0 < shown < 9
    left = f"... and {27 - 3 * shown} more: <code>gradconf report RECORD --format text</code>"
    assert left in text


def test_json_has_every_mismatch_with_its_bound_and_its_commands():
    document = json.loads(render(results_from({"tensorflow": {"one": WRONG}}), "json"))
    cell = document["cells"][0]
    [mismatch] = cell["mismatches"]
    assert (mismatch["kind"], mismatch["index"], mismatch["got"]) == ("value", [1], "6.5")
    assert 0 < mismatch["bound"] < mismatch["difference"]
    assert cell["replay"] == "gradconf run tensorflow:eager math/sq/one"


def test_json_writes_infinity_as_a_string():
    results = results_from({"tensorflow": {"one": CRASH}}, seconds=float("inf"))
    assert json.loads(render(results, "json"))["seconds"] == "inf"


# ----- hostile text -----


@pytest.mark.parametrize("format", FORMATS)
def test_nothing_that_a_target_writes_reaches_a_terminal(format):
    text = render(hostile_results(), format)
    assert not FORBIDDEN.search(text)
    text.encode("utf-8")


@pytest.mark.parametrize("format", ["text", "markdown"])
def test_a_hostile_run_still_ends_in_its_word(format):
    results = hostile_results()
    assert render(results, format).splitlines()[-1].strip("*") == results.word == "untrustworthy"


def test_hostile_text_cannot_leave_its_element_in_junit():
    results = hostile_results()
    root = ElementTree.fromstring(render(results, "junit"))
    assert len(list(root.iter("testcase"))) == len(results.cells)
    assert not list(root.iter("script"))


def test_hostile_text_is_no_markup_in_markdown():
    text = render(hostile_results(), "markdown")
    outside = re.sub(r"^(`{3,})\w+\n.*?^\1$", "", text, flags=re.S | re.M)
    tags = set(re.findall(r"<[^>]*>", outside))
    assert tags <= {
        *("<details>", "</details>", "<summary>", "</summary>"),
        *("<b>", "</b>", "<code>", "</code>", "<br>"),
    }
    rows = [line for line in outside.splitlines() if line.startswith("|")]
    assert len({line.count("|") for line in rows}) == 1
    assert "`" not in outside


@settings(deadline=None, max_examples=40)
@given(st.text(max_size=200))
def test_any_text_keeps_every_format_whole(text):
    results = results_from({f"./{text}.py": {"one": Answer("crash", detail=text)}}, reason=text)
    root = ElementTree.fromstring(render(results, "junit"))
    assert len(list(root.iter("testcase"))) == 3
    assert json.loads(render(results, "json"))["cells"][0]["reason"] == text
    assert render(results, "text").endswith(f"\n{results.word}\n")
    markdown = render(results, "markdown")
    fences = re.findall(r"^(`{3,})\w*$", markdown, flags=re.M)
    assert len(fences) % 2 == 0
    assert not FORBIDDEN.search(markdown)
