"""The page: it says what the other formats say, and nothing hostile in it is alive."""

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest

from conformance.report import html, render
from conformance.report.model import Section
from conformance.report.of_difference import Known, report_of_difference
from conformance.verdicts.changes import changes_between
from tests.report.making import CRASH, RIGHT, WRONG, held, mended, only, report_from, sections_of
from tests.report.test_formats import HOSTILE, hostile_report
from tests.report.test_of_run import RUNS
from tests.verdicts.making_sides import ABOUT, CASE, cell, side

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


def read(report):
    return Page(render(report, "html"))


def test_a_long_list_is_folded_and_nothing_of_it_is_lost():
    report = RUNS[next(iter(RUNS))]
    lines = tuple(f"line {number}" for number in range(12))
    long = replace(report, sections=(Section("long", "surveyed", lines=lines),))
    shown, folded = render(long, "html").split("<summary>4 more</summary>")
    assert all(line in shown for line in lines[:8])
    assert all(line in folded for line in lines[8:])


@pytest.mark.parametrize("name", RUNS)
def test_the_tables_are_those_of_the_report(name):
    report = RUNS[name]
    found = read(report)
    (counts,) = sections_of(report, "counts")[0].tables
    head, *rows = found.tables[0]
    assert [row[:2] + row[3:] for row in rows] == [list(map(str, row)) for row in counts.rows]
    assert head[:2] + head[3:] == [column.head for column in counts.columns]
    for section in sections_of(report, "areas"):
        wanted = [[getattr(item, "text", item) for item in row] for row in section.tables[0].rows]
        assert found.tables[1][1:] == wanted
    for section in sections_of(report, "cases"):
        _, *rows = found.tables[-1]
        for row, (case, *items) in zip(rows, section.tables[0].rows, strict=True):
            assert row == [f"#{case.text}{case.hint}", *(html.MARKS[item.tone] for item in items)]


def test_a_block_says_everything():
    text = render(only(WRONG), "html")
    for words in ("got 6.5, expected 6.0", "Falls short (3 cells)", "def case(x):", "falls_short"):
        assert words in text
    assert "gradconf run tensorflow:eager,graph,xla math/sq/one" in text


def test_every_case_and_every_block_has_a_visible_link_to_its_own_anchor():
    found = read(RUNS["every verdict"])
    ids = [given["id"] for _, given in found.elements if "id" in given]
    assert len(ids) == len(set(ids))
    links = [unquote(given["href"]) for given in found.named("a")]
    assert {f"#{name}" for name in ids if "/" in name} == {a for a in links if a[0] == "#"}
    assert "#math/sq/wrong" in links
    assert "#falls_short/math/sq/wrong[tensorflow:eager,graph,xla]" in links


def test_known_failures_stand_with_their_answers_and_beside_the_word():
    text = render(held(WRONG, WRONG), "html")
    assert '<span class="word conforms">conforms</span>' in text
    assert '<span class="beside">1 known failure</span>' in text
    known = text.split("Known by the baseline known.yaml (1 cell)")[1]
    assert "value: g element (1,): got 6.5, expected 6.0" in known


def test_a_difference_is_a_page_with_both_values_and_what_explains_it():
    sides = side(cell(1.0), about={**ABOUT, "version": "2.8.4"}), side(cell(2.0))
    changes = changes_between(*sides, mended(CASE, reason="it is <mended>"))
    found = read(report_of_difference(changes, (), Known({})))
    (table,) = [table for table in found.tables if table[0] == ["", "was", "is"]]
    assert table[1] == ["g", "[1.0] (float32)", "[2.0] (float32)"]
    assert {"href": "https://example.org/1", "rel": "noreferrer"} in found.named("a")


def test_many_blocks_are_counted_and_not_written(monkeypatch):
    monkeypatch.setattr(html, "MOST_BLOCKS", 2)
    text = render(report_from({"tensorflow": {f"n{i}": CRASH for i in range(5)}}), "html")
    assert text.count("<details") == 2
    assert "... and 3 more" in text


def test_hostile_text_is_no_markup():
    mine = read(report_from({"./tape.py": {"one": CRASH, "two": CRASH, "three": RIGHT}}))
    found = read(hostile_report())
    assert {tag for tag, _ in found.elements} <= {*(tag for tag, _ in mine.elements), "p"}
    assert len(found.named("script")) == 1
    assert "alert(1)" in HOSTILE
    assert not [name for _, given in found.elements for name in given if name.startswith("on")]
    assert all(given["href"].startswith("#") for given in found.named("a"))


def test_only_the_page_s_own_script_may_run_and_nothing_is_fetched():
    text = render(RUNS["every verdict"], "html")
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = [meta["content"] for meta in Page(text).named("meta") if "http-equiv" in meta]
    assert policy == f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    assert not re.search(r"""src\s*=|url\(|@import""", text)


def test_a_table_can_be_read_on_a_narrow_screen():
    found = read(RUNS["every verdict"])
    (folding,) = [given for given in found.named("table") if given.get("class") == "folding"]
    heads = [given.get("data-head") for given in found.named("td")]
    assert folding
    assert {"cells", "pass", "n.a."} <= set(heads), "each cell says its column where it is folded"
