"""Injected faults lose no cell, leave no process and end clearly; the checks of it can fail."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import uuid
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cases import make_corpus
from tests.faults.checks import CHECKS, Ended, cells_in
from tests.faults.injection import main
from tests.faults.processes import MARK, left


@pytest.mark.slow
def test_a_few_faults_lose_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["--faults", "4", "--seed", "5"])
    said = capsys.readouterr().out
    kinds = "disk full 1, host SIGKILL 1, host SIGTERM 1, worker SIGKILL 1"
    assert said.startswith(f"faults injected: 4 ({kinds}), cells lost: 0, "), said
    assert code == 0


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Ended:
    """A run that met no fault."""
    folder = tmp_path_factory.mktemp("whole")
    corpus, record = make_corpus(folder), folder / "run.jsonl"
    words = ["run", "reference", "--corpus", str(corpus), "--output", str(record)]
    done = subprocess.run(
        [sys.executable, "-m", "conformance.cli", *words],
        capture_output=True,
        text=True,
        check=True,
    )
    cells = frozenset(cells_in(record))
    return Ended("none", 0, record, corpus, done.stdout, done.stderr, frozenset({0}), cells, cells)


@pytest.fixture
def whole(once: Ended, tmp_path: Path) -> Ended:
    """That run, with a record to spoil."""
    return replace(once, record=Path(shutil.copy(once.record, tmp_path)))


def found(run: Ended) -> set[str]:
    return {what for what, check in CHECKS.items() if check(run)}


def rewritten(run: Ended, change: Callable[[list[dict]], None]) -> Ended:
    """The run with its record changed."""
    lines = [json.loads(line) for line in run.record.read_text().splitlines()]
    change(lines)
    run.record.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return run


def first_cell(lines: list[dict]) -> int:
    return next(number for number, line in enumerate(lines) if "case" in line)


def lose_a_cell(lines: list[dict]) -> None:
    del lines[first_cell(lines)]
    lines[-1]["footer"]["cells"] -= 1


def double_a_cell(lines: list[dict]) -> None:
    lines.insert(2, lines[first_cell(lines)])


def two_crashes(lines: list[dict]) -> None:
    for line in [line for line in lines if "case" in line][-2:]:
        line["outcome"] = "crash"


def test_the_checks_accept_a_whole_run(whole: Ended) -> None:
    assert found(whole) == set()


def test_the_checks_refuse_a_lost_cell(whole: Ended) -> None:
    assert found(rewritten(whole, lose_a_cell)) == {"cells lost"}


def test_the_checks_refuse_a_finished_cell_that_a_killed_run_lost(whole: Ended) -> None:
    killed = replace(whole, code=-9, codes=frozenset({-9}), stdout="", stderr="")
    assert found(killed) == set()
    lines = whole.record.read_text().splitlines(keepends=True)
    last = max(number for number, line in enumerate(lines) if '"case"' in line)
    whole.record.write_text("".join(lines[:last]))
    assert found(killed) == {"cells lost"}
    assert found(replace(killed, finished_before=frozenset())) == set()


def test_the_checks_refuse_a_cell_that_was_announced_and_not_recorded(whole: Ended) -> None:
    announcing = replace(whole, stderr="99/99 cells  1.0 s\n")
    assert found(announcing) == {"cells lost"}


def test_the_checks_refuse_a_double_cell(whole: Ended) -> None:
    assert found(rewritten(whole, double_a_cell)) == {"cells double", "records unreadable"}


def test_the_checks_refuse_a_fault_that_costs_two_cells(whole: Ended) -> None:
    costly = replace(
        rewritten(whole, two_crashes), code=1, codes=frozenset({1}), stdout="falls_short"
    )
    assert found(costly) == {"cells lost besides the one that a worker may cost"}


def test_the_checks_refuse_a_record_that_is_none(whole: Ended) -> None:
    text = whole.record.read_text()
    whole.record.write_text(text.replace('{"record"', '{"rekord"', 1))
    assert "records unreadable" in found(whole)


@pytest.mark.parametrize(
    "change",
    [
        {"code": 1},
        {"code": -15, "stdout": ""},
        {"stdout": "no word\n"},
        {"stdout": ""},
        {"stderr": "Traceback (most recent call last):\n"},
    ],
)
def test_the_checks_refuse_an_unclear_ending(whole: Ended, change: dict) -> None:
    assert "endings unclear" in found(replace(whole, **change))


def test_the_checks_refuse_what_resuming_lost(whole: Ended) -> None:
    resumed = whole.record.with_name("resumed.jsonl")
    text = whole.record.read_text()
    resumed.write_text(text)
    after = replace(whole, resumed=resumed)
    assert found(after) == set()
    assert found(replace(after, resumed_code=4)) == {"cells lost by resuming"}
    for changed in (text.replace('"outcome":"answered"', '"outcome":"not_run"', 1), "{}\n"):
        resumed.write_text(changed)
        assert found(after) == {"cells lost by resuming"}


def test_the_checks_refuse_a_process_that_is_left(whole: Ended) -> None:
    mark = uuid.uuid4().hex
    sleeping = subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(3600)"], env={**os.environ, MARK: mark}
    )
    try:
        assert found(replace(whole, left=left(mark, 0.5))) == {"processes left"}
    finally:
        sleeping.kill()
        sleeping.wait()
    assert left(mark) == []
