"""list, targets, coverage and the program's own help."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.suite import mutation
from tests.cases import SQUARE, make_corpus
from tests.conftest import Program


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    return str(make_corpus(tmp_path))


def test_list_prints_ids_and_titles(gradconf: Program, corpus: str) -> None:
    done = gradconf("list", "--corpus", corpus)
    assert done.stdout.splitlines()[:2] == [
        "basics/squares/square",
        "    The square has slope two x",
    ]
    assert done.stdout.endswith("3 cases\n")


def test_list_ids_alone(gradconf: Program, corpus: str) -> None:
    done = gradconf("list", "--ids", "basics", "--corpus", corpus)
    assert done.stdout.split() == ["basics/squares/square", "basics/squares/persistent_square"]


def test_list_of_what_is_portable(gradconf: Program, tmp_path: Path) -> None:
    own = SQUARE.replace("[scalar]", "[scalar]\n    warns: words of a log")
    corpus = str(make_corpus(tmp_path, basics__squares=own))
    both = gradconf("list", "--ids", "--corpus", corpus).stdout.split()
    some = gradconf("list", "--ids", "--portable", "--corpus", corpus).stdout.split()
    assert {*both} - {*some} == {"basics/squares/square"}
    assert gradconf("list", "--ids", "--no-portable", "--corpus", corpus).stdout.split() == both


def test_list_of_nothing_is_not_green(gradconf: Program, corpus: str) -> None:
    done = gradconf("list", "basics/squres", "--corpus", corpus)
    assert done.returncode == 3
    assert "did you mean basics/squares" in done.stdout


def test_list_sees_a_changed_file(gradconf: Program, tmp_path: Path, corpus: str) -> None:
    cache = str(tmp_path / "cache")
    for title in ("The square has slope two x", "Another title"):
        make_corpus(tmp_path, basics__squares=SQUARE.replace("The square has slope two x", title))
        assert title in gradconf("list", "--corpus", corpus, GRADCONF_CACHE=cache).stdout


def test_list_reports_every_fault(gradconf: Program, tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path, basics__squares=SQUARE.replace("title:", "titel:"))
    done = gradconf("list", "--corpus", str(corpus))
    assert done.returncode == 2
    assert "squares.yaml:4:5" in done.stderr


def test_targets_names_what_can_be_asked(gradconf: Program) -> None:
    done = gradconf("targets")
    assert done.returncode == 0
    for word in ("reference", "tensorflow", "./tape.py"):
        assert word in done.stdout


def test_coverage_counts_claims_and_says_what_is_excused(gradconf: Program) -> None:
    done = gradconf("coverage", "--missing")
    assert done.returncode == 0, done.stderr
    assert "source documents        78 of   79 claims (99%), 1 excused\n" in done.stdout
    assert "    contract/35: the type of its source" in done.stdout
    assert done.stdout.endswith("conforms\n")


def test_a_claim_that_no_mutant_breaks_falls_short(
    monkeypatch: pytest.MonkeyPatch, gradconf: Program
) -> None:
    mutants = [m for m in mutation.load_mutants() if "contract/71" not in m.breaks]
    monkeypatch.setattr(mutation, "load_mutants", lambda: mutants)
    done = gradconf("coverage", "--missing")
    assert done.returncode == 1
    assert "contract/71: lacks a mutant: nested `with t:`" in done.stdout
    assert done.stdout.endswith("falls_short\n")


def test_the_program_says_what_it_can(gradconf: Program) -> None:
    done = gradconf("--help")
    assert done.returncode == 0
    assert "usage: gradconf COMMAND" in done.stdout
    assert gradconf().returncode == 2
    assert gradconf("--version").stdout.startswith("gradconf ")
