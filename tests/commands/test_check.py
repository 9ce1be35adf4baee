"""`gradconf check`: what it accepts, and each kind of fault that it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases import SQUARE, make_corpus
from tests.conftest import Program

BROKEN = Path(__file__).parent.parent / "broken"


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
        ("x * x", "x.assign(x)", "the oracle does not agree: fail: g: got Attr"),
    ],
)
def test_check_refuses(gradconf: Program, tmp_path: Path, old: str, new: str, message: str) -> None:
    corpus = make_corpus(tmp_path, basics__squares=SQUARE.replace(old, new, 1))
    done = gradconf("check", str(corpus / "basics" / "squares.yaml"))
    assert done.returncode == 2
    assert message in done.stderr
    assert "squares.yaml:" in done.stderr


LACKS = ("x * x", "tf.math.lbeta([x])")


def test_an_operation_that_the_oracle_lacks_is_no_fault_unless_only_it_could_tell(
    gradconf: Program, tmp_path: Path
) -> None:
    text = SQUARE.replace(*LACKS, 1)
    for expect, code in (("{g: 6.0}", 0), ("{g: 6.0, y: oracle}", 2)):
        corpus = make_corpus(tmp_path, basics__squares=text.replace("{g: 6.0}", expect, 1))
        done = gradconf("check", str(corpus / "basics" / "squares.yaml"))
        assert done.returncode == code, done.stderr
    assert ".expect.y: the oracle has no tf.math.lbeta: declare the value" in done.stderr


DERIVED = ("{g: 6.0}", "{g: derivative, y: oracle}")


@pytest.mark.parametrize("words", [(), ("reference",), (str(BROKEN / "off_by_one_percent.py"),)])
def test_a_derivative_that_exists_is_accepted(
    gradconf: Program, tmp_path: Path, words: tuple[str, ...]
) -> None:
    corpus = make_corpus(tmp_path, basics__squares=SQUARE.replace(*DERIVED, 1))
    done = gradconf("check", str(corpus / "basics" / "squares.yaml"), "--derivative", *words)
    assert done.returncode == 0, done.stderr
    assert "derivative: 1 checked, 0 that the target lacks" in done.stdout


@pytest.mark.parametrize(
    ("forward", "x"),
    [
        ("tf.abs(x)", "0.0"),
        ("tf.nn.relu(x)", "0.001"),
        ("tf.maximum(x, 1.0)", "1.0"),
        ("1.0 / x", "0.0"),
        ("tf.math.acos(x)", "1.0"),
        ("tf.sqrt(x)", "0.0"),
        ("tf.floor(x)", "2.0"),
    ],
)
def test_a_derivative_is_refused_where_there_is_none(
    gradconf: Program, tmp_path: Path, forward: str, x: str
) -> None:
    text = SQUARE.replace("x * x", forward, 1).replace("3.0", x, 1).replace(*DERIVED, 1)
    corpus = make_corpus(tmp_path, basics__squares=text)
    done = gradconf("check", str(corpus / "basics" / "squares.yaml"), "--derivative")
    assert done.returncode == 2
    assert ".expect.g: there is no derivative" in done.stderr
    assert "Traceback" not in done.stderr


def test_check_refuses_what_is_too_coarse(gradconf: Program, tmp_path: Path) -> None:
    text = SQUARE.replace("[1.0, 3.0]", "[0.00001, 3.0]").replace("[2.0, 6.0]", "[0.00002, 6.0]")
    corpus = make_corpus(tmp_path, basics__squares=text)
    done = gradconf("check", str(corpus / "basics" / "squares.yaml"))
    assert done.returncode == 2
    assert "within: element" in done.stderr
