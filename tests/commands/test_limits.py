"""--memory and --no-confine, and what is said of confinement."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cases import make_corpus
from tests.conftest import Program

RUN = ("run", "./tape.py", "--corpus", "cases", "-q", "--output", "r.jsonl")
HOGS = """
import reference_impl as tf

kept = bytearray(600_000_000)

def __getattr__(name):
    return getattr(tf, name)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    make_corpus(tmp_path)
    (tmp_path / "tape.py").write_text(HOGS)
    return tmp_path


def confined(folder: Path) -> list[list[str]]:
    lines = [json.loads(line) for line in (folder / "r.jsonl").read_text().splitlines()]
    return [line["about"]["confined"] for line in lines if "about" in line]


def test_targets_says_what_holds_here(gradconf: Program) -> None:
    assert "\nconfined here        " in gradconf("targets").stdout


def test_the_record_says_what_held(gradconf: Program, folder: Path) -> None:
    assert gradconf(*RUN, "-j", "1").returncode == 0
    assert all("memory" in held for held in confined(folder))
    assert gradconf(*RUN, "-j", "1", "--no-confine").returncode == 0
    assert {*map(tuple, confined(folder))} == {()}


def test_memory_is_shared_among_the_workers(gradconf: Program, folder: Path) -> None:
    done = gradconf(*RUN, "-j", "1", "--memory", "1G")
    assert done.returncode == 5
    assert "./tape.py cannot be imported: MemoryError" in " ".join(done.stdout.split())
    assert gradconf(*RUN, "-j", "1", "--memory", "4G").returncode == 0


@pytest.mark.parametrize("size", ["0G", "8", "many", "1.5G", "-1G"])
def test_what_is_no_size_is_refused(gradconf: Program, folder: Path, size: str) -> None:
    done = gradconf(*RUN, f"--memory={size}")
    assert done.returncode == 2
    assert f"'{size}' is no size such as 500M or 8G" in done.stderr
