"""The baseline's file: written as it is read, and refused with a place where it is malformed."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.answers.mismatch import ORDER
from conformance.corpus.language.case import MODES
from conformance.corpus.language.document import CaseFileError
from conformance.verdicts.baseline import Baseline, Entry
from conformance.verdicts.baseline_file import read_baseline, text_of, write_baseline
from conformance.verdicts.results import SHORTFALLS

CORPUS = ("basics/squares/square", "basics/squares/null", "unconnected/other/source")
GOOD = """\
baseline: 1
target: tape.py
lacks: [nn, "GradientTape.jacobian"]
known:
  basics/squares/square:
    eager:
      verdict: fail
      class: none
      answer:
        - "g: None"
      first_seen: "2026-01-31, version 0.3"
      last_seen: "2026-02-28"
      reason: it is not done yet
asked:
  basics/squares: [square]
"""


def read(text: str, folder: Path) -> Baseline:
    path = folder / "known.yaml"
    path.write_text(text, encoding="utf-8")
    return read_baseline(path, CORPUS)


def test_it_is_read(tmp_path: Path) -> None:
    baseline = read(GOOD, tmp_path)
    seen = ("2026-01-31, version 0.3", "2026-02-28", "it is not done yet")
    entry = Entry("fail", "none", ("g: None",), *seen)
    assert baseline.entries == {("basics/squares/square", "eager"): entry}
    assert (baseline.target, baseline.lacks) == ("tape.py", ("nn", "GradientTape.jacobian"))
    assert baseline.cases == {"basics/squares/square"}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("verdict: fail", "verdict: fial", ":7:16 $.known.basics/squares/square.eager.verdict"),
        ("verdict: fail", "verdict: fial", "did you mean fail?"),
        ("verdict: fail", "verdict: pass", "no verdict 'pass'"),
        ("class: none", "class: nnoe", "did you mean none?"),
        ("class: none", "klass: none", "unknown key 'klass' (did you mean class?)"),
        ("eager:", "egaer:", "did you mean eager?"),
        ("squares/square:", "squares/sqare:", "did you mean basics/squares/square"),
        ("baseline: 1", "baseline: 2", "another format"),
        ("baseline: 1\n", "", "missing baseline"),
        ('"2026-02-28"', "yesterday", "2026-01-31, version 1.2"),
        ("[nn", "{", "not YAML"),
        ('- "g: None"', "- [1]", "expected text, got a list"),
        ("      verdict: fail\n", "", "missing verdict"),
        ("  basics/squares: [square]", "  basics/squares: square", "expected a list"),
        ("target: tape.py", "target: &a tape.py", "anchors"),
    ],
)
def test_a_fault_is_named_with_its_place(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in GOOD
    with pytest.raises(CaseFileError) as caught:
        read(GOOD.replace(old, new), tmp_path)
    assert message in str(caught.value)
    assert "known.yaml:" in str(caught.value)


texts = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), min_size=1)
lines = texts.map(lambda text: " ".join(text.split())).filter(bool)
days = st.dates().map(str)
entries = st.builds(
    Entry,
    st.sampled_from(SHORTFALLS),
    st.sampled_from(("", *ORDER)),
    st.lists(lines, max_size=4).map(tuple),
    days,
    days,
    st.one_of(st.just(""), lines),
)
baselines = st.builds(
    Baseline,
    lines,
    st.dictionaries(st.tuples(st.sampled_from(CORPUS), st.sampled_from(MODES)), entries),
    st.just(frozenset(CORPUS)),
    st.lists(lines, max_size=30).map(tuple),
)


@settings(max_examples=60, deadline=None)
@given(baseline=baselines)
def test_what_is_written_is_read_back(
    baseline: Baseline, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("written") / "known.yaml"
    write_baseline(path, baseline)
    assert read_baseline(path, CORPUS) == baseline
    assert path.read_text(encoding="utf-8") == text_of(read_baseline(path, CORPUS))
    assert [entry.name for entry in path.parent.iterdir()] == ["known.yaml"]


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_a_damaged_file_is_read_or_refused(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    start = data.draw(st.integers(0, len(GOOD)))
    end = data.draw(st.integers(start, min(len(GOOD), start + 30)))
    text = GOOD[:start] + data.draw(st.text(max_size=8)) + GOOD[end:]
    path = tmp_path_factory.mktemp("damaged") / "known.yaml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    faults = ""
    try:
        read_baseline(path, CORPUS)
    except CaseFileError as error:
        faults = str(error)
    assert all("known.yaml:" in line for line in faults.splitlines())


def test_the_file_says_who_writes_it_and_is_sorted(tmp_path: Path) -> None:
    text = text_of(read(GOOD, tmp_path))
    assert text.startswith("# The known shortfalls of one target")
    assert GOOD.split("known:")[1].split("asked:")[0].strip() in text
