"""list, show, check, report, targets: each does what its help says, and refuses the rest."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from tests.commands.corpus import SQUARE, make_corpus
from tests.conftest import Program

BROKEN = Path(__file__).parent.parent / "broken"


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
    assert "squares.yaml:5:5" in done.stderr


def test_show_says_what_is_expected_caught_and_answered(gradconf: Program, corpus: str) -> None:
    done = gradconf("show", "basics/squares/persistent_square", "--corpus", corpus)
    assert done.returncode == 0
    for part in (
        "A persistent tape answers twice",
        "contract/s8",
        "with tf.GradientTape(persistent=True) as t:",
        "first = [2.0, 6.0]   (catches relative errors from 5.7e-06)",
        "the oracle answers",
        "second = [2.0, 6.0] (float32)",
    ):
        assert part in done.stdout, part


def test_show_of_several_cases_asks_for_one(gradconf: Program, corpus: str) -> None:
    done = gradconf("show", "basics/squares", "--corpus", corpus)
    assert done.returncode == 2
    assert "is 2 cases" in done.stderr


def test_check_accepts_a_good_file(gradconf: Program, corpus: str) -> None:
    done = gradconf("check", f"{corpus}/basics/squares.yaml")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "conforms")


def test_check_takes_folders(gradconf: Program, corpus: str, tmp_path: Path) -> None:
    done = gradconf("check", corpus)
    assert done.stdout.splitlines() == ["3 cases", "conforms"]
    (tmp_path / "empty").mkdir()
    done = gradconf("check", corpus, str(tmp_path / "empty"))
    assert done.returncode == 2
    assert "a folder without case files" in done.stderr


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{g: 6.0}", "{g: 6.1}", "the oracle does not agree"),
        ("[2.0, 6.0], second", "[2.0e-4, 6.0], second", "the oracle does not agree"),
        ("{g: 6.0}", "{h: 6.0}", "(known: g, t, y)"),
        ("t.watch(x)", "import os", "not part of the case language"),
        ("x: 3.0", "x: 3", "write 3.0"),
        ("x * x", "tf.sqaure(x)", "has no tf.sqaure (did you mean tf.square"),
        ("x * x", "tf.math.sqaure(x)", "no tf.math.sqaure (did you mean tf.math.square"),
        ("x * x", "x.assign(x)", "the oracle does not agree: fail: g: got Attr"),
    ],
)
def test_check_refuses(gradconf: Program, tmp_path: Path, old: str, new: str, message: str) -> None:
    corpus = make_corpus(tmp_path, basics__squares=SQUARE.replace(old, new, 1))
    done = gradconf("check", str(corpus / "basics" / "squares.yaml"))
    assert done.returncode == 2
    assert message in done.stderr
    assert "squares.yaml:" in done.stderr


def test_check_refuses_what_is_too_coarse(gradconf: Program, tmp_path: Path) -> None:
    text = SQUARE.replace("[1.0, 3.0]", "[0.00001, 3.0]").replace("[2.0, 6.0]", "[0.00002, 6.0]")
    corpus = make_corpus(tmp_path, basics__squares=text)
    done = gradconf("check", str(corpus / "basics" / "squares.yaml"))
    assert done.returncode == 2
    assert "within: element" in done.stderr


@pytest.fixture
def record(gradconf: Program, corpus: str, tmp_path: Path) -> str:
    """A record with one shortfall in each of three cells."""
    target = str(BROKEN / "none_is_zero.py")
    gradconf("run", target, "reference", "--corpus", corpus, "--output", "r.jsonl")
    return str(tmp_path / "r.jsonl")


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
    assert len(report["stale"]) == 2, "the cell of each target"


def test_targets_names_what_can_be_asked(gradconf: Program) -> None:
    done = gradconf("targets")
    assert done.returncode == 0
    for word in ("reference", "tensorflow", "./tape.py"):
        assert word in done.stdout


def test_the_program_says_what_it_can(gradconf: Program) -> None:
    done = gradconf("--help")
    assert done.returncode == 0
    assert "usage: gradconf COMMAND" in done.stdout
    assert gradconf().returncode == 2
    assert gradconf("--version").stdout.startswith("gradconf ")
