"""A file of departures: written as it is read, and refused with a place where it is malformed."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.answers.answer import ENDING, Value
from conformance.answers.compare import compare_value, expectation_of
from conformance.answers.tolerances import Bounds
from conformance.closing import UsageError
from conformance.corpus.language.case import (
    Case,
    ExpectedAnyOf,
    ExpectedCalls,
    ExpectedError,
    ExpectedNone,
    ExpectedRaised,
    ExpectedTensor,
    ExpectedWatched,
)
from conformance.corpus.language.document import CaseFileError
from conformance.verdicts.departure_file import (
    INTRODUCTION,
    lent,
    read_departures,
    read_folder,
    text_of,
    write_departures,
)
from conformance.verdicts.departures import Departure, Departures
from tests.answers.wire import case
from tests.cases import whole_corpus
from tests.report.making import WRONG, deviation, results_from
from tests.verdicts.making import VALUES, departure

GOOD = """\
introduction: What tape gets wrong.
target: tape.py
newest: "2.15"
lacks: [nn, GradientTape.jacobian]
departures:
  area/topic/one:
    cases: [area/topic/one]
    modes: [eager, graph]
    since: "2.8"
    until: "2.15"
    kind: bug
    answer:
      g: {raised: ValueError, message: no gradient}
      h: null
    ends: {raised: TypeError, message: at the end}
    right: the documentation
    reason: it is doubled
    link: https://example.org/1
  crashes:
    cases: [area/*/one]
    modes: [xla]
    ends: {crash: SIGSEGV}
    kind: known
    first_seen: 2026-01-31, version 0.3
    last_seen: "2026-02-28"
asked:
  area/topic: [one]
"""
CASES = [case({"g": ExpectedTensor(6.0), "h": ExpectedNone()})]


def read(text: str, folder: Path, cases: list[Case] | None = CASES) -> Departures:
    path = folder / "known.yaml"
    path.write_text(text, encoding="utf-8")
    return read_departures(path, cases)


def test_it_is_read(tmp_path: Path) -> None:
    found = read(GOOD, tmp_path)
    assert (found.target, found.lacks) == ("tape.py", ("nn", "GradientTape.jacobian"))
    assert (found.introduction, found.asked) == ("What tape gets wrong.", {"area/topic/one"})
    doubled, crashes = found.entries
    answer = {
        "g": ExpectedRaised("ValueError", "no gradient"),
        "h": ExpectedNone(),
        ENDING: ExpectedRaised("TypeError", "at the end"),
    }
    name = "area/topic/one"
    due = departure(name=name, cases=(name,), place=doubled.place, answer=answer)
    assert doubled == due
    assert (crashes.ends, crashes.kind, crashes.last_seen) == (
        "crash SIGSEGV", "known", "2026-02-28"
    )  # fmt: skip
    assert str(doubled.place).endswith("known.yaml:7:5 $.departures.area/topic/one")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("kind: bug", "kind: bgu", ":11:11 $.departures.area/topic/one.kind"),
        ("kind: bug", "kind: bgu", "no kind 'bgu' (did you mean bug?)"),
        ("reason: it", "raeson: it", "unknown key 'raeson' (did you mean reason?)"),
        ("    reason: it is doubled\n", "", "missing reason"),
        ("[eager, graph]", "[egaer]", "no mode named 'egaer' (did you mean eager?)"),
        ("[eager, graph]", "[]", "names no mode or no case"),
        ("cases: [area/topic/one]", "cases: []", "names no mode or no case"),
        ("[area/topic/one]", "[area/topic/noe]", "(did you mean area/topic/one?)"),
        ("[area/topic/one]", "[area/gone/*]", "area/gone/* matches no case"),
        ("      h: null", "      z: null", "area/topic/one does not observe 'z'"),
        ('"2.8"', '"2.16"', "since 2.16 is after until 2.15"),
        ('"2.15"', "latest", "'latest' is no version"),
        ("{raised: ValueError, message: no gradient}", "oracle", "oracle is no answer"),
        ("ends: {crash: SIGSEGV}", "ends: {crush: 1}", "ends is timeout, {crash: SIGSEGV}"),
        ("ends: {crash: SIGSEGV}", "answer: undefined", "an undefined answer is a bug"),
        ("    ends: {crash: SIGSEGV}\n", "", "does not say what the target answers"),
        (
            "    ends: {crash: SIGSEGV}\n    kind: known\n",
            "    kind: unsupported\n",
            "does not say what",
        ),
        ('"2026-02-28"', "yesterday", "2026-01-31, version 1.2"),
        ("target: tape.py\n", "", "missing target"),
        ('newest: "2.15"', "newest: the last", "'the last' is no version"),
        ("[nn", "{", "not YAML"),
        ("[one]", "one", "expected a list"),
        ("target: tape.py", "target: &a tape.py", "anchors"),
        ("lacks:", "baseline: 1\nlacks:", "a baseline of the old form: move the file away and"),
        ("lacks:", "baseline: 1\nlacks:", "known.yaml --update-baseline"),
    ],
)
def test_a_fault_is_named_with_its_place(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in GOOD
    with pytest.raises(CaseFileError) as caught:
        read(GOOD.replace(old, new), tmp_path)
    assert message in str(caught.value)
    assert "known.yaml:" in str(caught.value)


def test_a_baseline_of_the_old_form_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(CaseFileError) as caught:
        read("baseline: 1\ntarget: tape.py\nlacks: []\nknown: {}\nasked: {}\n", tmp_path)
    assert len(str(caught.value).splitlines()) == 1


def test_a_list_may_be_read_without_a_corpus(tmp_path: Path) -> None:
    text = GOOD.replace("area/topic/one]", "area/topic/two]")
    assert read(text, tmp_path, None).entries[0].cases == ("area/topic/two",)


def test_the_lists_of_a_folder_are_read_with_all_their_faults(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.yaml").write_text(GOOD.replace("tape.py", name))
    assert [found.target for found in read_folder(tmp_path, CASES)] == ["one", "two"]
    for name in ("one", "two"):
        (tmp_path / f"{name}.yaml").write_text(GOOD.replace("kind: bug", "kind: bgu"))
    with pytest.raises(CaseFileError) as caught:
        read_folder(tmp_path, CASES)
    assert len(caught.value.faults) == 2


def test_a_list_is_lent_by_its_name_or_by_its_file(tmp_path: Path) -> None:
    ours = lent("tensorflow", "./build/proxy.py", whole_corpus())
    assert ours.target == "proxy.py"
    assert ours.entries
    assert ours.file == "deviations/tensorflow.yaml"
    (tmp_path / "own.yaml").write_text(GOOD)
    own = lent(str(tmp_path / "own.yaml"), "./proxy.py", CASES)
    assert (own.target, len(own.entries)) == ("proxy.py", 2)
    for word, hint in (("tensorflwo", "did you mean tensorflow?"), ("no/such.yaml", "known:")):
        with pytest.raises(UsageError, match=re.escape(hint)):
            lent(word, "./proxy.py")


def test_a_lent_list_documents_what_another_target_answers() -> None:
    documented = deviation("math/sq/one").lent_to("./build/proxy.py")
    for lists, verdict in (([documented], "known_deviation"), ([], "fail")):
        answers = {"./build/proxy.py": {"one": WRONG}}
        findings = results_from(answers, modes=("eager",), deviations=lists)
        assert [finding.verdict for finding in findings.cells] == [verdict]


# ----- written and read again -----


def written(entry: Departure, folder: Path) -> Departure:
    """The entry as it stands in a file that was written and read."""
    path = folder / "known.yaml"
    write_departures(path, Departures("tape.py", (entry,)))
    (found,) = read_departures(path).entries
    return replace(found, place=entry.place)


texts = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), min_size=1)
lines = texts.map(lambda text: " ".join(text.split())).filter(bool)
plain = st.sampled_from(
    [
        ExpectedNone(),
        ExpectedTensor(6.5),
        ExpectedTensor((1, 2), "int32"),
        ExpectedTensor((1.0, 2.5), "float64", None, "element"),
        ExpectedTensor((), "float32", (0, 3)),
        ExpectedError("ValueError", "with 'this' in it: and that", "g"),
        ExpectedCalls(3),
        ExpectedWatched(("x", "y")),
        ExpectedAnyOf((ExpectedNone(), ExpectedTensor(0.0))),
    ]
)
names = st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True)
ends = st.sampled_from(["", "timeout", "exit 3", "crash SIGSEGV", "crash"])
entries = st.builds(
    departure,
    name=lines,
    cases=st.lists(lines, min_size=1, max_size=3).map(tuple),
    kind=st.sampled_from(["bug", "change", "limit", "convention", "known"]),
    answer=st.dictionaries(names, plain, max_size=3),
    ends=ends,
    since=st.sampled_from(["", "2.8"]),
    right=lines,
    reason=lines,
    first_seen=st.sampled_from(["", "2026-01-31", "2026-01-31, version 1.2"]),
).filter(lambda entry: entry.answer or entry.ends or entry.kind == "known")


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(entry=entries)
def test_what_is_written_is_read_back(
    entry: Departure, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("written")
    assert written(entry, folder) == entry
    assert [file.name for file in folder.iterdir()] == ["known.yaml"]


@settings(max_examples=150, deadline=None)
@given(value=VALUES)
def test_every_answer_is_kept_whole(value: Value, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("whole")
    entry = departure(kind="known", answer={"g": expectation_of(value)})
    kept = written(entry, folder).answer["g"]
    assert not compare_value(kept, value, Bounds()).mismatches


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64", "bool", "complex64"])
@pytest.mark.parametrize("size", [64, 65])
def test_a_long_tensor_stands_as_raw_data(tmp_path: Path, dtype: str, size: int) -> None:
    elements = tuple((np.arange(size) * 0.37).astype(dtype).tolist())
    entry = departure(kind="known", answer={"g": ExpectedTensor(elements, dtype)})
    (found,) = [written(entry, tmp_path).answer["g"]]
    assert isinstance(found, ExpectedTensor)
    assert np.array_equal(np.array(found.value, dtype), np.array(elements, dtype))
    text = (tmp_path / "known.yaml").read_text()
    assert ("data:" in text) == (size > 64)


def test_what_fails_everywhere_has_a_list_of_several_megabytes(tmp_path: Path) -> None:
    path, reason = tmp_path / "known.yaml", "a long reason " * 300
    entries = [departure(name=f"{n}", kind="known", reason=reason.strip()) for n in range(300)]
    write_departures(path, Departures("tape.py", tuple(entries)))
    assert path.stat().st_size > 1_000_000
    assert len(read_departures(path).entries) == len(entries)


def test_the_file_is_what_a_person_would_write(tmp_path: Path) -> None:
    path = tmp_path / "known.yaml"
    found = read(GOOD, tmp_path)
    order = GOOD.replace("    kind: bug\n    answer:", "    answer:")
    order = order.replace("at the end}\n", "at the end}\n    kind: bug\n")
    moved = order.replace('    since: "2.8"\n    until: "2.15"\n', "")
    moved = moved.replace("    kind: bug", '    since: "2.8"\n    until: "2.15"\n    kind: bug')
    assert text_of(found) == moved
    write_departures(path, replace(found, introduction=""))
    assert read_departures(path, CASES).introduction == INTRODUCTION


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
        read_departures(path, CASES)
    except CaseFileError as error:
        faults = str(error)
    assert all("known.yaml:" in line for line in faults.splitlines())
