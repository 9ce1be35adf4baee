"""JSON: the model as it is, held against the published schema."""

from __future__ import annotations

import json
from collections import Counter

import jsonschema
import pytest

from conformance.closing import EXIT_CODES
from conformance.files import data_folder
from conformance.report import render
from conformance.report.of_difference import Known, report_of_difference
from conformance.verdicts.changes import changes_between
from tests.report.making import CRASH, WRONG, held, only
from tests.report.test_formats import hostile_report
from tests.report.test_of_run import RUNS
from tests.verdicts.making_sides import ABOUT, cell, side

SCHEMA = json.loads((data_folder("docs") / "schemas" / "report.json").read_text("utf-8"))


def documented(report):
    """The document of a report, which its schema admits."""
    document = json.loads(render(report, "json"))
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    return document


@pytest.mark.parametrize("name", RUNS)
def test_a_run_is_as_the_schema_says_and_counts_its_cells(name):
    document = documented(RUNS[name])
    assert (document["report"], document["kind"]) == (2, "run")
    assert document["exit_code"] == EXIT_CODES[document["word"]]
    assert document["counts"] == Counter(cell["kind"] for cell in document["cells"])
    for subject in document["subjects"]:
        own = [cell for cell in document["cells"] if cell["target"] == subject["label"]]
        score = subject["score"]
        if score:
            assert score["passed"] == sum(cell["kind"] == "pass" for cell in own)
            assert score["rate"] == (score["passed"] / score["supported"] if own else None)


def test_a_cell_has_every_mismatch_with_its_bound_and_its_commands():
    (found,) = documented(only(WRONG, modes=("eager",)))["cells"]
    (mismatch,) = found["mismatches"]
    assert (mismatch["kind"], mismatch["index"], mismatch["got"]) == ("value", [1], "6.5")
    assert 0 < mismatch["bound"] < mismatch["difference"]
    assert found["replay"] == "gradconf run tensorflow:eager math/sq/one"
    assert found["show"] == "gradconf show math/sq/one --as-python"


def test_beside_a_baseline_a_cell_has_its_standing():
    document = documented(held(WRONG, WRONG))
    assert (document["word"], document["beside"]) == ("conforms", "1 known failure")
    assert document["cells"][0]["standing"] == "known"


def test_a_difference_has_the_same_shape_and_both_sides_of_each_change():
    old, new = side(cell(1.0)), side(cell(2.0), about={**ABOUT, "version": "2.8.4"})
    report = report_of_difference(changes_between(old, new), ("implementation changed",), Known({}))
    document = documented(report)
    assert (document["kind"], document["word"], document["cells"]) == (
        "difference",
        "falls_short",
        [],
    )
    assert document["gated"] == ["implementation changed"]
    (change,) = document["changes"]
    assert (change["kind"], change["label"]) == ("implementation changed", "value")
    (fact,) = change["facts"]
    assert (fact["old"], fact["new"]) == ("[1.0] (float32)", "[2.0] (float32)")
    (mismatch,) = change["mismatches"]
    assert (mismatch["expected"], mismatch["got"]) == ("1.0", "2.0")


def test_hostile_text_stands_as_it_is_in_the_same_shape():
    assert documented(hostile_report())["kind"] == "run"


def test_each_cell_stands_on_a_line():
    text = render(only(WRONG), "json")
    cells = text.partition('"cells": [\n')[2].partition("\n]")[0].split(",\n")
    assert [json.loads(cell) for cell in cells] == json.loads(text)["cells"]


def test_infinity_is_a_string():
    document = documented(only(CRASH, seconds=float("inf")))
    assert document["seconds"] == "inf"


@pytest.mark.parametrize(
    "spoil",
    [
        lambda document: document.pop("word"),
        lambda document: document.update(report=1),
        lambda document: document.update(kind="dance"),
        lambda document: document["cells"][0].update(kind="perfect"),
        lambda document: document["sections"][0]["blocks"][0].update(more=1),
    ],
)
def test_the_schema_refuses_a_spoilt_document(spoil):
    document = json.loads(render(only(WRONG), "json"))
    spoil(document)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(SCHEMA).validate(document)
