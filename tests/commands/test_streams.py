"""Streams that are closed, full or read by nobody: the exit code and the record stay the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.asking.record import read_record
from tests.cases import make_corpus

BROKEN = Path(__file__).parent.parent / "broken"


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    """A run that falls short."""
    target, corpus = str(BROKEN / "always_zero.py"), str(make_corpus(tmp_path))
    program = [sys.executable, "-m", "conformance.cli", "run", target, "--corpus", corpus, "-j1"]
    return [*program, "--output", str(tmp_path / "run.jsonl")]


def test_a_reader_who_left_changes_nothing(words: list[str], tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(words, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert read_record(tmp_path / "run.jsonl").complete


@pytest.mark.parametrize("closing", [">&-", ">&- 2>&- <&-"])
def test_streams_that_were_never_open_change_nothing(
    words: list[str], tmp_path: Path, closing: str
) -> None:
    done = subprocess.run(["sh", "-c", f'exec "$@" {closing}', "sh", *words], check=False)
    assert done.returncode == 1
    assert len(read_record(tmp_path / "run.jsonl").answers) == 6


def test_progress_that_cannot_be_shown_is_dropped(words: list[str], tmp_path: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=full, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (1, "falls_short")


def test_a_report_that_cannot_be_written_is_an_error(words: list[str]) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 4
    assert done.stderr.splitlines()[-2:] == [
        "gradconf: [Errno 28] No space left on device",
        "untrustworthy",
    ]
