"""`gradconf report`: the exit code of the run, in every format, and what is stale."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from conformance.cli import main
from tests.cases import SQUARE, make_corpus
from tests.conftest import Program

BROKEN = Path(__file__).parent.parent / "broken"


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    return str(make_corpus(tmp_path))


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A record with one shortfall in each of three cells."""
    folder = tmp_path_factory.mktemp("record")
    words = ("run", str(BROKEN / "none_is_zero.py"), "reference", "-q", "-j1")
    main([*words, "--corpus", str(make_corpus(folder)), "--output", str(folder / "r.jsonl")])
    return str(folder / "r.jsonl")


@pytest.mark.parametrize("format", ["text", "markdown", "json", "junit"])
def test_report_has_the_exit_code_of_the_run(
    gradconf: Program, corpus: str, record: str, format: str
) -> None:
    done = gradconf("report", record, "--format", format, "--corpus", corpus)
    assert done.returncode == 1
    assert "other_source" in done.stdout
    if format == "json":
        assert len(json.loads(done.stdout)["cells"]) == 6
    if format == "junit":
        cases = ElementTree.fromstring(done.stdout).iter("testcase")
        assert len(list(cases)) == 6


def test_a_case_that_changed_is_stale_and_not_judged(
    gradconf: Program, tmp_path: Path, corpus: str, record: str
) -> None:
    make_corpus(tmp_path, basics__squares=SQUARE.replace("y = x * x", "y = x * x * x", 1))
    done = gradconf("report", record, "--format", "json", "--corpus", corpus)
    report = json.loads(done.stdout)
    assert len(report["cells"]) == 4
    (stale,) = (section for section in report["sections"] if section["kind"] == "stale")
    assert len(stale["lines"]) == 2, "the cell of each target"
