"""Differences in every format: nothing hostile left alive, eighty columns, the same cells."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.answers.answer import Answer
from conformance.answers.wire import value_of
from conformance.report.difference_blocks import Known
from conformance.report.difference_formats import FORMATS, render
from conformance.report.formats import render as render_results
from conformance.report.style import WIDTH, Style, columns
from conformance.verdicts.changes import CLASSES, changes_between
from tests.answers.strategies import OBSERVATIONS, UNHURRIED
from tests.answers.wire import NONE, answered, error, listing, tensor
from tests.verdicts.making_sides import ABOUT, cell, side

from .making import LOST, RIGHT, WRONG, results_from
from .test_formats import FORBIDDEN, HOSTILE

OLDER = {**ABOUT, "version": "2.8.4"}
TEXTS = st.text(max_size=12) | st.just(HOSTILE)
CELLS = st.builds(
    cell,
    st.builds(
        Answer,
        st.sampled_from(["answered", "crash"]),
        st.dictionaries(TEXTS, OBSERVATIONS.map(value_of), max_size=2),
        st.none() | st.builds(error, TEXTS, TEXTS).map(value_of),
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
    documents = {form: render(found, form, CLASSES, known, Style()) for form in FORMATS}
    for document in documents.values():
        assert not FORBIDDEN.search(document.replace("\n", ""))
        assert document.endswith("\n")
    for line in documents["text"].splitlines():
        assert columns(line) <= WIDTH or line.startswith("to see one: ")
    prose = re.sub(r"^(`{3,})\w*\n.*?^\1$", "", documents["markdown"], flags=re.S | re.M)
    assert prose.count("<details>") == prose.count("</details>") == prose.count("<summary>")
    assert "<script" not in prose
    changes = json.loads(documents["json"])["changes"]
    assert [change["class"] for change in changes] == [change.kind for change in found.changes]


PLAIN = Style()


def text_of(old, new, style=PLAIN):
    return render(changes_between(old, new), "text", (), Known({}), style)


def test_modes_that_changed_alike_stand_on_one_line_and_the_others_apart():
    modes = ("eager", "graph", "xla")
    old = side(*(cell(1.0, mode=mode) for mode in modes))
    values = {"eager": 2.0, "graph": 3.0, "xla": 2.0}
    text = text_of(old, side(*(cell(values[mode], mode=mode) for mode in modes), about=OLDER))
    assert "area/topic/case  eager, xla\n    g: [1.0] (float32) -> [2.0] (float32)\n" in text
    assert "area/topic/case  graph\n    g: [1.0] (float32) -> [3.0] (float32)\n" in text


def test_a_value_that_is_too_long_for_a_line_is_shown_where_it_differs_most():
    old, new = (answered(g=tensor([*[1.0] * 39, last])) for last in (1.0, 2.0))
    text = text_of(side(cell(old)), side(cell(new), about=OLDER))
    assert "    g element (39,): 1.0 -> 2.0\n      difference 1, bound 7.63e-06\n" in text


def test_what_an_error_took_away_is_shown_with_all_that_was_in_it():
    value = listing(error("ValueError", "no"), NONE)
    old, new = (answered(g=g) for g in (error("ValueError", "no"), value))
    text = text_of(side(cell(old)), side(cell(new), about=OLDER))
    assert "g: ValueError: no -> [ValueError: no, None]" in text


def test_modes_that_nobody_knows_are_counted_together():
    old = side(cell(1.0), *(cell(1.0, mode=mode) for mode in ("jit", "pmap")))
    new = side(cell(1.0), *(cell(2.0, mode=mode) for mode in ("jit", "pmap")), about=OLDER)
    text = text_of(old, new)
    assert "class                   area  other  cells\n" in text
    assert "implementation changed  area      2      2\n" in text


def test_colours_are_for_those_who_have_them():
    old, new = side(cell(1.0)), side(cell(2.0), about=OLDER)
    plain, coloured = text_of(old, new), text_of(old, new, Style(colour=True))
    assert "\x1b" not in plain
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain != coloured


# ----- several versions in one run -----


@pytest.fixture
def versions():
    answers = {
        "tensorflow==2.8.4": {"one": RIGHT, "two": RIGHT},
        "tensorflow==2.21.0": {"one": {"eager": WRONG, "graph": LOST, "xla": RIGHT}, "two": RIGHT},
    }
    results = results_from(answers)
    results.targets["tensorflow==2.8.4"] = OLDER
    return results


def test_a_run_of_two_versions_prints_what_changed_between_them(versions):
    text = render_results(versions, "text")
    assert "\n6 cells compared: 2 implementation changed\n" in text
    assert "-- from tensorflow 2.8.4 to tensorflow 2.21.0 -" in text
    assert "math/sq/one  eager\n    The gradient of a square is twice its argument\n" in text
    assert "g: [2.0, 6.0] (float32) -> [2.0, 6.5] (float32)\n" in text
    assert "g: [2.0, 6.0] (float32) -> None\n" in text


def test_the_other_formats_say_the_same_of_two_versions(versions):
    markdown = render_results(versions, "markdown")
    assert "From <code>tensorflow 2.8.4</code> to <code>tensorflow 2.21.0</code>" in markdown
    assert "6 cells compared: 2 implementation changed" in markdown
    (changes,) = json.loads(render_results(versions, "json"))["changes"]
    assert (changes["old"], changes["new"]) == ("tensorflow 2.8.4", "tensorflow 2.21.0")
    assert [(c["case"], c["mode"], c["mismatch"]) for c in changes["changes"]] == [
        ("math/sq/one", "graph", "none"),
        ("math/sq/one", "eager", "value"),
    ]


def test_versions_that_agree_are_said_to(versions):
    same = results_from({label: {"one": RIGHT} for label in versions.asked})
    assert "\n3 cells compared: no change\n" in render_results(same, "text")


def test_a_run_of_one_version_says_nothing_of_changes():
    results = results_from({"tensorflow": {"one": RIGHT}})
    assert "compared: " not in render_results(results, "text")
    assert json.loads(render_results(results, "json"))["changes"] == []
