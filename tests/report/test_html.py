"""The page: it says what the other formats say, and nothing hostile in it is alive."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest

from conformance.report.formats import render
from conformance.report.html import page
from conformance.report.summary import LABELS

from .making import CRASH, LOST, RIGHT, WRONG, all_verdicts, results_from
from .test_formats import HOSTILE, RUNS, hostile_results

VOID = {"meta", "input", "br"}


class Page(HTMLParser):
    """A page read back: its elements with their attributes, and the rows of its tables."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.elements, self.tables = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        assert len(dict(attrs)) == len(attrs)
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "table" in self.open and ("td" in self.open or "th" in self.open):
            self.tables[-1][-1][-1] += data.strip()

    def named(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


def read(results):
    return Page(render(results, "html"))


@pytest.mark.parametrize("name", RUNS)
def test_the_tables_agree_with_json(name):
    results = RUNS[name]
    document = json.loads(render(results, "json"))
    head, *rows = read(results).tables[0]
    found = {(row[0], row[1]): dict(zip(head[3:], map(int, row[3:]), strict=True)) for row in rows}
    titles = {target["target"]: target["title"] for target in document["targets"]}
    wanted = {
        (titles[target["target"]], row["mode"]): {
            "cells": row["cells"],
            **{LABELS[verdict]: count for verdict, count in row["counts"].items()},
        }
        for target in document["targets"]
        for row in target["rows"]
    }
    assert {
        key: {label: count for label, count in counts.items() if count or label == "cells"}
        for key, counts in found.items()
    } == wanted


def test_every_case_has_a_row_with_its_verdicts():
    results = all_verdicts()
    _, *rows = read(results).tables[-1]
    assert len(rows) == len({judged.cell.case for judged in results.cells})
    for row, case in zip(rows, dict.fromkeys(j.cell.case for j in results.cells), strict=True):
        verdicts = [judged.verdict for judged in results.cells if judged.cell.case == case]
        assert row[0].startswith(case)
        assert row[1:] == [page.MARKS[verdict] for verdict in verdicts]


def test_areas_are_counted_of_what_is_applicable():
    answers = {"one": RIGHT, "two": {"eager": LOST, "graph": RIGHT, "xla": RIGHT}, "dead": CRASH}
    head, row = read(results_from({"tensorflow": answers})).tables[1]
    assert (head, row) == (
        ["area", "eager", "graph", "xla"],
        ["math", "1 / 3", "2 / 3", "2 / 3"],
    )


def test_a_failure_says_everything():
    text = render(results_from({"tensorflow": {"one": WRONG}}), "html")
    for words in ("got 6.5, expected 6.0", "Falls short (3)", "def case(x):", "falls_short"):
        assert words in text
    assert "gradconf run tensorflow:eager,graph,xla math/sq/one" in text


def test_versions_that_differ_are_shown_with_both_values():
    versions = {"tensorflow==2.20.0": {"one": RIGHT}, "tensorflow==2.21.0": {"one": WRONG}}
    found = read(results_from(versions))
    (table,) = [table for table in found.tables if table[0] == ["", "was", "is"]]
    assert "6.0" in table[1][1]
    assert "6.5" in table[1][2]


def test_many_blocks_are_counted_and_not_written(monkeypatch):
    monkeypatch.setattr(page, "MOST_BLOCKS", 2)
    text = render(results_from({"tensorflow": {f"n{i}": CRASH for i in range(5)}}), "html")
    assert text.count("<details>") == 2
    assert "... and 3 more" in text


def test_hostile_text_is_no_markup():
    mine = read(results_from({"./tape.py": {"one": CRASH, "two": CRASH, "three": RIGHT}}))
    found = read(hostile_results())
    assert {tag for tag, _ in found.elements} <= {*(tag for tag, _ in mine.elements), "p"}
    assert len(found.named("script")) == 1
    assert "alert(1)" in HOSTILE
    assert not [name for _, given in found.elements for name in given if name.startswith("on")]


def test_only_the_page_s_own_script_may_run_and_nothing_is_fetched():
    text = render(all_verdicts(), "html")
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = [meta["content"] for meta in Page(text).named("meta") if "http-equiv" in meta]
    assert policy == f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    assert not re.search(r"""(?:src|href)\s*=|url\(|@import""", text)
