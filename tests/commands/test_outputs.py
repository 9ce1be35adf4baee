"""--output: whole or as it was, and never what the command reads."""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.cli import main
from tests.cases import make_corpus
from tests.conftest import Program

RUN = ("run", "reference", "--corpus", "cases", "-q", "--output")


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    words = ("run", "reference", "--corpus", str(make_corpus(folder)), "-q", "-j1", "--output")
    assert main([*words, str(folder / "r.jsonl")]) == 0
    return folder / "r.jsonl"


@pytest.fixture
def folder(record: Path, tmp_path: Path) -> Path:
    make_corpus(tmp_path)
    (tmp_path / "tape.py").write_text("from reference_impl import *\n")
    shutil.copy(record, tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        ("report", "r.jsonl", "--corpus", "cases", "--output", "r.jsonl"),
        ("report", "r.jsonl", "--corpus", "cases", "--output", "./cases/../r.jsonl"),
        ("report", "r.jsonl", "--corpus", "cases", "--format", "history", "--output", "r.jsonl"),
        (*RUN, "r.jsonl", "--shard", "1/2", "--durations", "r.jsonl"),
        ("run", "./tape.py:eager", "--corpus", "cases", "--output", "tape.py"),
    ],
)
def test_what_a_command_reads_is_not_its_output(
    gradconf: Program, folder: Path, words: tuple[str, ...]
) -> None:
    before = {file: file.read_bytes() for file in folder.iterdir() if file.is_file()}
    done = gradconf(*words)
    assert (done.returncode, "is what this command reads" in done.stderr) == (2, True), done.stderr
    assert {file: file.read_bytes() for file in folder.iterdir() if file.is_file()} == before


def test_a_report_that_cannot_be_written_is_printed_and_leaves_what_was_there(
    folder: Path,
) -> None:
    (folder / "report.txt").write_text("precious\n")
    words = ["report", "r.jsonl", "--corpus", "cases", "--output", "report.txt"]
    done = subprocess.run(
        [sys.executable, "-m", "conformance.cli", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10)),
    )
    assert done.returncode == 2
    assert "--output report.txt: File too large" in done.stderr
    assert "conforms" in done.stdout
    assert (folder / "report.txt").read_text() == "precious\n"
    assert {file.name for file in folder.iterdir()} == {"cases", "tape.py", "r.jsonl", "report.txt"}
