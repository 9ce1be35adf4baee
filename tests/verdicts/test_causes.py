"""Causes: every departure has one, faults of the file have a place, and the scripts show them."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import pytest

from conformance.commands.gating import our_causes
from conformance.corpus.language.document import CaseFileError
from conformance.files import data_folder
from conformance.verdicts.causes import Causes, read_causes
from conformance.verdicts.departure_file import read_departures, read_folder
from conformance.verdicts.departures import Departures
from tests.verdicts.scripts import disagreements, shipped

FRAMEWORKS = "autograd", "jax", "mlx", "mygrad", "tensorflow", "torch"
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
    return read_causes(path, listed, "causes.yaml")


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
        ("[one]", "[one, ones]", "causes.yaml:6:23 $.causes.first.departures[1]: ones is none of"),
        ("target: tensorflow", "target: jax", "causes.yaml:1:9 $.target: got jax, expected tensor"),
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


def test_causes_that_say_not_what_is_no_fault_account_for_the_bugs_alone(
    tmp_path: Path, listed: Departures
) -> None:
    only_bugs = RIGHT.partition("no_fault")[0]
    with pytest.raises(CaseFileError, match=r"not_there_yet has no cause in causes\.yaml"):
        read(only_bugs, listed, tmp_path)
    *bugs, last = listed.entries
    chosen = replace(listed, entries=(*bugs, replace(last, kind="convention")))
    assert len(read(only_bugs, chosen, tmp_path).causes) == 2


def test_a_list_without_causes_is_refused() -> None:
    lists = read_folder(data_folder("deviations"))
    with pytest.raises(CaseFileError, match=r"deviations/causes/mine\.yaml:1:1 \$: cannot be read"):
        our_causes([*lists, Departures("mine")])


def test_every_shipped_fault_has_one_cause() -> None:
    assert {name: bool(causes.faults) for name, causes in shipped().items()} == {
        name: True for name in FRAMEWORKS
    }
    assert len(shipped()["tensorflow"].faults) >= 60


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_each_script_is_short_and_needs_its_framework_alone(framework: str) -> None:
    for cause in shipped()[framework].faults:
        assert len(cause.script.splitlines()) <= 20, cause.name
        imported = set(re.findall(r"^(?:import|from) (\w+)", cause.script, re.MULTILINE))
        assert framework in imported, cause.name
        assert imported - sys.stdlib_module_names <= {framework, "numpy"}, cause.name


@pytest.mark.parametrize(
    "framework",
    [
        pytest.param(name, marks=[pytest.mark.tensorflow] if name == "tensorflow" else [])
        for name in FRAMEWORKS
    ],
)
def test_each_script_shows_its_fault_where_the_installed_release_has_it(framework: str) -> None:
    distributions = [framework, *(["tensorflow-cpu"] if framework == "tensorflow" else [])]
    version = next(filter(None, map(_version, distributions)), "")
    if not version:
        pytest.skip(f"{framework} is not installed")
    plain = version.partition("+")[0]
    assert list(disagreements(sys.executable, plain, shipped()[framework].faults)) == []


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""
