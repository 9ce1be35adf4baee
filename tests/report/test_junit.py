"""JUnit: one testcase for each cell, counted, with our word for each."""

from __future__ import annotations

from collections import Counter
from xml.etree import ElementTree

import pytest

from conformance.report import render
from tests.report.making import WRONG, held, only
from tests.report.test_formats import hostile_report
from tests.report.test_of_run import RUNS


def read(report):
    return ElementTree.fromstring(render(report, "junit"))


@pytest.mark.parametrize("name", RUNS)
def test_there_is_one_testcase_for_each_cell_and_they_are_counted(name):
    report, root = RUNS[name], read(RUNS[name])
    names = [f"{case.get('classname')}/{case.get('name')}" for case in root.iter("testcase")]
    assert names == [f"{cell.case} {cell.where}" for cell in report.cells]
    for element in (root, *root.iter("testsuite")):
        found = Counter(child.tag for case in element.iter("testcase") for child in case)
        assert int(element.get("tests")) == len(list(element.iter("testcase")))
        assert int(element.get("failures")) == found["failure"]
        assert int(element.get("errors")) == found["error"]
        assert int(element.get("skipped")) == found["skipped"]


@pytest.mark.parametrize("name", RUNS)
def test_each_cell_keeps_our_word(name):
    report, root = RUNS[name], read(RUNS[name])
    for case, cell in zip(root.iter("testcase"), report.cells, strict=True):
        told = [child.get("message").split(":")[0] for child in case]
        assert told == ([] if cell.kind == "pass" else [cell.label])


def test_a_shortfall_tells_where_what_and_how_to_see_it_again():
    case = next(read(only(WRONG)).iter("testcase"))
    assert (case.get("file"), case.get("line")) == ("cases/math/sq.yaml", "4")
    failure = case.find("failure")
    assert (failure.get("type"), failure.get("message")) == (
        "fail",
        "fail: value: g element (1,): got 6.5, expected 6.0",
    )
    assert failure.text.splitlines()[2].startswith("  difference 0.5, bound 1.14e-05;")
    assert failure.text.endswith(
        "show:   gradconf show math/sq/one --as-python\n"
        "replay: gradconf run tensorflow:eager math/sq/one"
    )


def test_a_known_failure_is_skipped_with_its_answer():
    (case,) = read(held(WRONG, WRONG)).iter("testcase")
    message = case.find("skipped").get("message")
    assert message == "known, fail: value: g element (1,): got 6.5, expected 6.0"


def test_the_word_is_a_property():
    root = read(RUNS["two targets"])
    words = [p.get("value") for p in root.iter("property") if p.get("name") == "word"]
    assert words == ["falls_short"] * 2


def test_hostile_text_cannot_leave_its_element():
    root = read(hostile_report())
    assert len(list(root.iter("testcase"))) == len(hostile_report().cells)
    assert not list(root.iter("script"))
