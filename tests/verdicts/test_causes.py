"""Causes: every departure has one, faults of the file have a place, and the scripts show them."""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path

import pytest

from conformance.corpus.language.document import CaseFileError
from conformance.verdicts.causes import Causes, read_causes
from conformance.verdicts.departure_file import read_departures
from conformance.verdicts.departures import Departures
from tests.verdicts.scripts import disagreements, shipped

ENTRIES = "one", "two_in_graph", "two_in_xla", "not_there_yet"
LIST = """introduction: three departures
target: tensorflow
departures:
"""
ENTRY = """  {name}:
    cases: [area/topic/name]
    modes: [eager]
    since: "2.5"
    until: "2.9"
    answer: {{g: 1.0}}
    kind: bug
    right: mathematics
    reason: a reason
    link: https://example.org
"""
RIGHT = """target: tensorflow
causes:
  first:
    title: The first.
    severity: raises
    departures: [one]
    script: print("departs")
  second:
    title: The second.
    severity: silent value
    departures: [two_*]
    script: print("departs")
no_fault:
  old:
    why: A release lacks it.
    departures: [not_there_yet]
"""


@pytest.fixture
def listed(tmp_path: Path) -> Departures:
    path = tmp_path / "tensorflow.yaml"
    path.write_text(LIST + "".join(ENTRY.format(name=name) for name in ENTRIES))
    return read_departures(path, shown_as="tensorflow.yaml")


def read(text: str, listed: Departures, folder: Path) -> Causes:
    path = folder / "causes.yaml"
    path.write_text(text)
    return read_causes(path, [listed], "causes.yaml")


def test_the_most_severe_cause_is_first_and_what_is_no_fault_is_last(
    tmp_path: Path, listed: Departures
) -> None:
    causes = read(RIGHT, listed, tmp_path)
    assert [cause.name for cause in causes.causes] == ["second", "first", "old"]
    assert [cause.name for cause in causes.faults] == ["second", "first"]
    second = causes.causes[0]
    assert [entry.name for entry in second.departures] == ["two_in_graph", "two_in_xla"]
    assert causes.of(second.departures[1]) is second
    assert second.holds("2.9.3", ["eager"])
    assert not second.holds("2.10.0", ["eager"])
    assert not second.holds("2.9.3", ["xla"])


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("[two_*]", "[two_in_graph]", "tensorflow.yaml:25:5 $.departures.two_in_xla: two_in_xla"),
        ("[one]", "[one, ones]", "causes.yaml:6:23 $.causes.first.departures[1]: ones is no dep"),
        ("[one]", "[one, two_in_xla]", "causes.yaml:11:18 $.causes.second.departures[0]: two_in_x"),
        ("raises", "raised", "causes.yaml:5:15 $.causes.first.severity: no severity 'raised' ("),
        ("why", "title", "causes.yaml:15:5 $.no_fault.old.title: unknown key 'title'"),
        ('    script: print("departs")\n  second', "  second", "$.causes.first: missing script"),
    ],
)
def test_a_fault_of_the_file_has_its_place(
    tmp_path: Path, listed: Departures, old: str, new: str, fault: str
) -> None:
    assert RIGHT.count(old) >= 1
    with pytest.raises(CaseFileError) as raised:
        read(RIGHT.replace(old, new, 1), listed, tmp_path)
    assert fault in str(raised.value)


def test_every_shipped_departure_has_one_cause() -> None:
    assert len(shipped().faults) >= 60


def test_each_script_is_short_and_needs_tensorflow_alone() -> None:
    for cause in shipped().faults:
        assert len(cause.script.splitlines()) <= 20, cause.name
        imported = {line.split()[1] for line in cause.script.splitlines() if "import " in line[:7]}
        assert imported <= {"tensorflow", "numpy", "math", "cmath"}, cause.name


@pytest.mark.tensorflow
def test_each_script_shows_its_fault_where_the_installed_release_has_it() -> None:
    version = next(filter(None, map(_version, ("tensorflow", "tensorflow-cpu"))))
    assert list(disagreements(sys.executable, version, shipped().faults)) == []


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""
