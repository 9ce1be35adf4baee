"""`gradconf init`: what it writes runs, lacks nothing that it has, and is gated as it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conformance.corpus.language.lowering import lower
from conformance.corpus.selection import Selection, select
from tests.cases import make_corpus, whole_corpus
from tests.conftest import Program

PAGE = (Path(__file__).parent.parent.parent / "docs" / "target.md").read_text(encoding="utf-8")


def test_the_start_runs_and_lacks_nothing_that_it_has(tmp_path: Path, gradconf: Program) -> None:
    written = gradconf("init", "my_tape.py")
    assert (written.returncode, written.stdout.splitlines()[-1]) == (0, "conforms")
    assert (tmp_path / "my_tape.py").read_text().startswith('"""my_tape: a gradient tape on NumPy')
    done = gradconf("run", "./my_tape.py", "--area", "watching", "--area", "persistence")
    (passed,) = re.findall(r"conformance: (\d+) of \d+ supported cells", done.stdout)
    assert int(passed) >= 25
    assert "which the target has" not in done.stderr


def test_the_commands_that_are_told_gate_the_start(tmp_path: Path, gradconf: Program) -> None:
    corpus = str(make_corpus(tmp_path))
    told = re.findall(r"^  gradconf (run .*)$", gradconf("init", "my_tape.py").stdout, re.MULTILINE)
    assert [line.split()[1] for line in told] == ["./my_tape.py"] * 2
    for line in told:
        assert gradconf(*line.split(), "--corpus", corpus).returncode == 0


@pytest.mark.parametrize(
    ("file", "told"),
    [
        ("there.py", "there.py: it is there: name a new file"),
        ("tape.txt", "tape.txt: a target is a file of Python: name it tape.py"),
        ("no/tape.py", "no/tape.py: No such file or directory: name a file to write"),
    ],
)
def test_a_file_that_cannot_be_written_is_refused(
    tmp_path: Path, gradconf: Program, file: str, told: str
) -> None:
    (tmp_path / "there.py").write_text("mine = 1\n")
    done = gradconf("init", file)
    assert (done.returncode, done.stderr.splitlines()[0]) == (2, f"gradconf: {told}")
    assert (tmp_path / "there.py").read_text() == "mine = 1\n"


def test_the_first_names_of_the_page_get_the_first_300_cells() -> None:
    (line,) = re.findall(r"The first 300 portable cases use (.*?):", PAGE, re.DOTALL)
    names = {*re.findall(r"`(\w+)`", line)}
    portable = select(whole_corpus(), Selection(portable=True))
    alone = [case for case in portable if lower(case, "eager").uses <= names]
    assert len(alone) >= 300
