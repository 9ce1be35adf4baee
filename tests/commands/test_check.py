"""`gradconf check`: what it accepts, and each kind of fault that it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases import SQUARE, make_corpus
from tests.conftest import Program


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    return str(make_corpus(tmp_path))


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
        ("x * x", "tf.sqaure(x)", "(did you mean tf.square"),
        ("x * x", "tf.math.lbeta([x])", "the oracle has no tf.math.lbeta"),
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
