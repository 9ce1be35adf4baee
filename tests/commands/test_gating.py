"""`gradconf run --baseline` as a CI server meets it: exit codes, the file, and what is refused."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cases import SQUARE, make_corpus
from tests.conftest import Program

BROKEN = Path(__file__).parent.parent / "broken"


@pytest.fixture
def gate(gradconf: Program, tmp_path: Path) -> Program:
    """Runs tape.py with the baseline known.yaml on a small corpus."""
    make_corpus(tmp_path)
    become(tmp_path, "always_zero")
    words = ("run", "./tape.py", "--corpus", "cases", "--baseline", "known.yaml", "-q")
    return lambda *more, **environment: gradconf(*words, *more, **environment)


def become(folder: Path, name: str) -> None:
    shutil.copy(BROKEN / f"{name}.py", folder / "tape.py")


def last_line(text: str) -> str:
    return text.rstrip("\n").splitlines()[-1]


def test_the_life_of_a_baseline(gate: Program, gradconf: Program, tmp_path: Path) -> None:
    missing = gate()
    assert (missing.returncode, last_line(missing.stderr)) == (2, "usage")
    assert "known.yaml: no such file" in missing.stderr
    assert "--update-baseline" in missing.stderr

    written = gate("--update-baseline")
    assert (written.returncode, last_line(written.stdout)) == (0, "conforms")
    assert "known.yaml written: 2 known, 2 new, 0 changed, 0 gone" in written.stdout
    text = (tmp_path / "known.yaml").read_text()

    same = gate()
    assert (same.returncode, last_line(same.stdout)) == (0, "conforms")
    assert "2 known by the baseline known.yaml" in same.stdout
    assert "1 of 3 applicable cells (" in same.stdout
    assert (tmp_path / "known.yaml").read_text() == text

    become(tmp_path, "none_is_zero")
    other = gate("--output", "record.jsonl")
    assert (other.returncode, last_line(other.stdout)) == (1, "falls_short")
    assert "now passes  basics/squares/square" in other.stdout
    assert "falls short (1 cell)" in other.stdout

    options = ("--corpus", "cases", "--baseline", "known.yaml")
    report = gradconf("report", "record.jsonl", *options)
    assert (report.returncode, last_line(report.stdout)) == (1, "falls_short")
    assert "1 worse, 2 better" in report.stdout

    again = gate("--update-baseline")
    assert "known.yaml written: 1 known, 1 new, 0 changed, 2 gone" in again.stdout


def test_a_new_case_is_told_and_fails_only_when_asked_to(gate: Program, tmp_path: Path) -> None:
    gate("--update-baseline")
    make_corpus(tmp_path, basics__cubes=SQUARE.replace("x * x", "x * x * 1.0"))
    done = gate()
    assert (done.returncode, last_line(done.stdout)) == (0, "conforms")
    assert "2 new case" in done.stdout
    assert gate("--strict-new").returncode == 1


def test_fail_fast_stops_at_what_is_worse_and_not_at_what_is_known(
    gate: Program, tmp_path: Path
) -> None:
    gate("--update-baseline")
    done = gate("--fail-fast")
    assert (done.returncode, last_line(done.stdout)) == (0, "conforms")
    become(tmp_path, "dies")
    assert "not complete: fail-fast" in gate("--fail-fast").stdout


@pytest.mark.parametrize("words", [("basics",), ("-k", "square"), ("--area", "basics")])
def test_a_part_of_the_corpus_writes_no_baseline(
    gate: Program, tmp_path: Path, words: tuple[str, ...]
) -> None:
    done = gate("--update-baseline", *words)
    assert (done.returncode, last_line(done.stderr)) == (2, "usage")
    assert not (tmp_path / "known.yaml").exists()


@pytest.mark.parametrize(
    ("how", "word", "code"),
    [("fail-fast", "falls_short", 1), ("suite", "untrustworthy", 4), ("target", "no_target", 5)],
)
def test_a_run_that_is_not_whole_writes_no_baseline(
    gate: Program, tmp_path: Path, how: str, word: str, code: int
) -> None:
    gate("--update-baseline")
    text = (tmp_path / "known.yaml").read_text()
    if how == "suite":
        make_corpus(tmp_path, basics__squares=SQUARE.replace("g: 6.0", "g: 7.0"))
    become(tmp_path, "cannot_be_imported" if how == "target" else "dies")
    done = gate("--update-baseline", *(["--fail-fast"] if how == "fail-fast" else []))
    assert (done.returncode, last_line(done.stdout)) == (code, word)
    assert "known.yaml is left as it is" in done.stdout
    assert (tmp_path / "known.yaml").read_text() == text


KNOWN = """
introduction: For a test.
target: tape.py
departures:
  basics/squares/square:
    cases: [basics/squares/square]
    modes: [eager]
    answer: {g: {value: 0.0, dtype: float32}}
    kind: known
    first_seen: 2026-11-22, version 0.1.0
    last_seen: 2026-11-22, version 0.1.0
asked:
  basics/squares: [persistent_square, square]
  unconnected/other: [other_source]
"""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("run", "./tape.py", "--update-baseline"), "need --baseline FILE"),
        (("run", "./tape.py", "--strict-new"), "need --baseline FILE"),
        (("run", "reference", "./tape.py", "--baseline", "k.yaml"), "speaks of one target"),
        (("run", "reference", "--baseline", "known.yaml"), "the baseline of tape.py, not of ref"),
        (("run", "./tape.py", "--baseline", "/no/k.yaml", "--update-baseline"), "No such file"),
        (
            ("run", "./tape.py", "--baseline", "old.yaml"),
            "gradconf run TARGET --baseline old.yaml --update-baseline",
        ),
        (
            ("run", "./tape.py", "--baseline", "renamed.yaml"),
            "(did you mean basics/squares/square",
        ),
    ],
)
def test_usage(gradconf: Program, tmp_path: Path, words, message: str) -> None:
    make_corpus(tmp_path)
    become(tmp_path, "always_zero")
    (tmp_path / "known.yaml").write_text(KNOWN)
    (tmp_path / "old.yaml").write_text("baseline: 1\ntarget: tape.py\nknown: {}\n")
    (tmp_path / "renamed.yaml").write_text(KNOWN.replace("squares/square]", "squares/sqare]"))
    done = gradconf(*words, "--corpus", "cases", "-q")
    assert (done.returncode, last_line(done.stderr)) == (2, "usage")
    assert message in done.stderr
    assert "Traceback" not in done.stderr
