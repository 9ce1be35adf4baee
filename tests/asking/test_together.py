"""Records of several targets, shown side by side."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cases import make_corpus
from tests.conftest import Program

BROKEN = Path(__file__).parent.parent / "broken"


@pytest.fixture
def records(gradconf: Program, tmp_path: Path) -> list[str]:
    """The record of a target that is right, and of one that is wrong."""
    corpus = str(make_corpus(tmp_path))
    shutil.copy(BROKEN / "oracle_but.py", tmp_path)
    shutil.copy(BROKEN / "off_by_one_percent.py", tmp_path / "wrong.py")
    (tmp_path / "right.py").write_text("import oracle_but\n__getattr__ = oracle_but.__getattr__\n")
    names = []
    for name in ("right", "wrong"):
        gradconf("run", f"./{name}.py", "--corpus", corpus, "--output", f"{name}.jsonl", "-q")
        names.append(f"{name}.jsonl")
    return [*names, "--corpus", corpus]


@pytest.mark.parametrize("format", ["text", "markdown", "html", "json", "junit", "github"])
def test_each_format_has_every_target(gradconf: Program, records: list[str], format: str) -> None:
    done = gradconf("report", *records, "--format", format)
    assert done.returncode == 1, done.stdout + done.stderr
    if format != "github":  # which says what falls short alone
        assert "right.py" in done.stdout
    assert "wrong.py" in done.stdout


def test_the_cells_are_those_of_both_records(gradconf: Program, records: list[str]) -> None:
    first, second, *corpus = records

    def cells(*words: str) -> list[object]:
        done = gradconf("report", *words, *corpus, "--format", "json")
        told = json.loads(done.stdout)["cells"]
        return [{**cell, "show": "", "replay": ""} for cell in told]  # which name the command

    assert cells(first, second) == cells(first) + cells(second)


def test_one_target_twice_is_refused(gradconf: Program, records: list[str]) -> None:
    first, _, *corpus = records
    done = gradconf("report", first, first, *corpus)
    assert done.returncode == 2
    assert "right.jsonl has ./right.py, as right.jsonl does: compare them with" in done.stderr


def test_records_of_other_oracles_are_refused(
    gradconf: Program, records: list[str], tmp_path: Path
) -> None:
    path = tmp_path / records[1]
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        line.pop("sum")
        if line.get("target") == "reference" and "about" in line:
            line["about"]["digest"] = "another"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    done = gradconf("report", *records)
    assert done.returncode == 2
    assert "wrong.jsonl was made with another oracle than right.jsonl" in done.stderr
