"""`pytest cases/ --target ...`: one item for each cell, the same verdicts and the same words."""

from __future__ import annotations

import os
import shutil
import sys
import uuid
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

import conformance.pytest_plugin.cells  # noqa: F401  # NumPy is loaded once per process
from tests.cases import SQUARE, UNCONNECTED, make_corpus, move, read_shipped_files_once
from tests.conftest import Done, Program
from tests.faults.processes import MARK, left

BROKEN = Path(__file__).parent.parent / "broken"
ROOT = Path(__file__).parent.parent.parent
RIGHT = "import reference_impl as tf\n\ndef __getattr__(name):\n    return getattr(tf, name)\n\n"
ASKED = ("cases", "--corpus", "cases", "--target", "./tape.py")
RUN = ("run", "./tape.py", "--corpus", "cases")
KIND = "kind: bug\n    right: the declaration\n    reason: it is zero\n    link: a-link"


class Runner:
    """Runs pytest in a folder that has a small corpus and tape.py, which answers zeros."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.folder = pytester.path
        self._pytester = pytester
        make_corpus(self.folder)
        self.become(BROKEN / "always_zero.py")

    def become(self, target: Path) -> None:
        shutil.copy(target, self.folder / "tape.py")

    def __call__(self, *words: str) -> Done:
        """In this process."""
        done = self._pytester.runpytest_inprocess("-p", "no:randomly", *words)
        return Done(words, done.ret, done.stdout.str(), done.stderr.str())

    def alone(self, *words: str) -> Done:
        """In a process of its own."""
        done = self._pytester.runpytest_subprocess("-p", "no:randomly", *words)
        return Done(words, done.ret, done.stdout.str(), done.stderr.str())


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Runner:
    for name in [name for name in os.environ if "PYTEST" in name]:
        monkeypatch.delenv(name)
    read_shipped_files_once(monkeypatch)
    return Runner(pytester)


def outcomes(path: Path) -> dict[str, str]:
    """What became of each item, from JUnit XML."""
    found = {}
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        child = next((part.tag for part in case if part.tag in ("failure", "error", "skipped")), "")
        found[str(case.get("name"))] = child or "passed"
    return found


def test_a_cell_is_an_item(run: Runner) -> None:
    targets = ("--target", "reference", "--target", "./tape.py:eager")
    done = run("cases", *targets, "--junitxml", "junit.xml")
    assert done.returncode == 1, done.stdout
    assert "gradconf 0." in done.stdout
    assert outcomes(run.folder / "junit.xml") == {
        "square[reference:eager]": "passed",
        "square[./tape.py:eager]": "failure",
        "persistent_square[reference:eager]": "passed",
        "persistent_square[./tape.py:eager]": "failure",
        "other_source[reference:eager]": "passed",
        "other_source[./tape.py:eager]": "passed",
    }
    for part in (
        "fail  basics/squares/square",
        "  [./tape.py:eager]",
        "zero: g: got 0.0, expected 6.0",
        "difference 6, bound 1.14e-05; relative errors from 1.9e-06 are caught",
        "gradconf show basics/squares/square --as-python",
        "gradconf run ./tape.py:eager basics/squares/square --corpus",
    ):
        assert part in done.stdout, part
    assert "cells.py" not in done.stdout, "no traceback through the plugin"


def test_last_failed_and_keywords_choose_items(run: Runner) -> None:
    assert "2 failed, 1 passed" in run("cases", "--target", "./tape.py").stdout
    assert "2 failed" in run("cases", "--target", "./tape.py", "--lf").stdout
    chosen = run("cases", "--target", "./tape.py", "-k", "persistent")
    assert "1 failed, 2 deselected" in chosen.stdout
    one = run(
        "cases/unconnected/other.yaml::other_source[./tape.py:eager]", "--target", "./tape.py"
    )
    assert "1 passed" in one.stdout


def test_verdicts_that_are_no_failure(run: Runner) -> None:
    no_word = UNCONNECTED.replace("expect:", "not_applicable: {eager: no word}\n    expect:")
    wrong = SQUARE.replace("g: 6.0", "g: 7.0")
    make_corpus(run.folder, unconnected__other=no_word, basics__squares=wrong)
    (run.folder / "tape.py").write_text(RIGHT)
    done = run("cases", "--target", "./tape.py", "-rs", "--junitxml", "junit.xml")
    assert done.returncode == 1
    assert outcomes(run.folder / "junit.xml") == {
        "square[./tape.py:eager]": "error",
        "persistent_square[./tape.py:eager]": "passed",
        "other_source[./tape.py:eager]": "skipped",
    }
    assert "no word" in done.stdout
    assert "the oracle contradicts" in done.stdout
    (run.folder / "tape.py").write_text("GRADCONF_LACKS = ['GradientTape']\n")
    lacking = run("cases/basics", "--target", "./tape.py", "-rs", "-k", "persistent")
    assert "the target declares that it lacks GradientTape" in lacking.stdout


@pytest.fixture
def known(run: Runner, gradconf: Program) -> Runner:
    """A baseline of tape.py: two known failures."""
    done = gradconf(*RUN, "--baseline", "known.yaml", "--update-baseline", folder=run.folder)
    assert done.returncode == 0, done.stdout
    return run


def test_what_a_baseline_knows_is_expected_to_fail(known: Runner) -> None:
    done = known(*ASKED, "--baseline", "known.yaml", "-rx")
    assert "1 passed, 2 xfailed" in done.stdout
    assert "known; " in done.stdout
    known.become(BROKEN / "none_is_zero.py")
    done = known(*ASKED, "--baseline", "known.yaml")
    assert "1 failed, 2 passed" in done.stdout


def test_a_baseline_knows_cases_that_were_moved_since(known: Runner) -> None:
    move(known.folder / "cases")
    done = known(*ASKED, "--baseline", "known.yaml", "--strict-new")
    assert "1 passed, 2 xfailed" in done.stdout


def test_a_new_case_fails_only_where_that_is_asked_for(known: Runner) -> None:
    make_corpus(known.folder, basics__cubes=SQUARE.replace("x * x", "x * x * 1.0"))
    words = (*ASKED, "--baseline", "known.yaml")
    assert "1 passed, 4 xfailed" in known(*words).stdout
    assert "2 failed, 1 passed, 2 xfailed" in known(*words, "--strict-new").stdout


def test_documented_deviations_are_lent(known: Runner) -> None:
    text = (known.folder / "known.yaml").read_text().replace("kind: known", KIND)
    (known.folder / "documented.yaml").write_text(text)
    done = known(*ASKED, "--deviations", "documented.yaml", "-rx")
    assert "1 passed, 2 xfailed" in done.stdout
    assert "it is zero" in done.stdout
    known.become(BROKEN / "prints_noise.py")
    done = known(*ASKED, "--deviations", "documented.yaml")
    assert "2 failed, 1 passed" in done.stdout, "no longer true"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--baseline", "none.yaml"), "none.yaml: no such file"),
        (("--strict-new",), "need --baseline FILE"),
        (("--deviations", "tensorflw"), "did you mean tensorflow?"),
        (("--corpus", "nowhere"), "nowhere: no such folder"),
        (("--python", "nowhere"), "nowhere"),
        (("--target", "reference", "--baseline", "known.yaml"), "speaks of one target"),
    ],
)
def test_options_that_cannot_be_obeyed_are_usage_errors(
    run: Runner, words: tuple[str, ...], message: str
) -> None:
    done = run("cases", "--target", "./tape.py", *words)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert message in done.stderr


def test_the_interpreter_is_the_one_that_is_named(run: Runner) -> None:
    done = run(*ASKED, "--python", sys.executable, "-k", "other")
    assert "1 passed" in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--target", "tensorflw"), "did you mean tensorflow?"),
        (("--target", "reference:graph"), "one mode: eager"),
        (("--target", "./none.py"), "no file ./none.py"),
        (("--target", "reference", "--target", "reference"), "named twice"),
    ],
)
def test_a_bad_target_is_a_usage_error(run: Runner, words: tuple[str, ...], message: str) -> None:
    done = run("cases", *words)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_target_that_does_not_start_is_an_error(run: Runner) -> None:
    run.become(BROKEN / "cannot_be_imported.py")
    done = run("cases", "--target", "./tape.py")
    assert "3 errors" in done.stdout
    assert "libmissing.so" in done.stdout


def test_a_faulty_case_file_is_an_error_with_its_place(run: Runner) -> None:
    make_corpus(run.folder, basics__squares=SQUARE.replace("title:", "titel:"))
    done = run("cases", "--target", "reference")
    assert done.returncode == pytest.ExitCode.INTERRUPTED
    assert "squares.yaml:4:5 $.cases.square.titel" in done.stdout
    assert "Traceback" not in done.stdout


def test_other_yaml_files_are_left_alone(run: Runner) -> None:
    (run.folder / "known.yaml").write_text("baseline: 1\n")
    assert "3 passed" in run("--target", "reference").stdout
    assert run("known.yaml", "--target", "reference").returncode == pytest.ExitCode.INTERRUPTED


def test_it_is_inactive_unless_asked_for(run: Runner) -> None:
    (run.folder / "test_own.py").write_text(
        "import sys\n\ndef test_own():\n"
        "    assert {name for name in sys.modules if name.startswith('conformance')} <="
        " {'conformance', 'conformance.pytest_plugin'}\n"
        "    assert 'yaml' not in sys.modules\n"
    )
    done = run("--collect-only", "-q")
    assert done.stdout.splitlines()[0] == "test_own.py::test_own"
    assert "1 test collected" in done.stdout
    assert "1 passed" in run.alone().stdout
    assert run("cases").returncode == pytest.ExitCode.NO_TESTS_COLLECTED


def test_processes_share_the_items_and_leave_no_worker(
    run: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = uuid.uuid4().hex
    monkeypatch.setenv(MARK, mark)
    targets = ("--target", "reference", "--target", "./tape.py:eager")
    run.alone("cases", *targets, "-n", "2", "--junitxml", "junit.xml")
    found = Counter(outcomes(run.folder / "junit.xml").values())
    assert found == {"passed": 4, "failure": 2}
    assert left(mark) == []


@pytest.mark.tensorflow
def test_tensorflow_by_its_modes(run: Runner) -> None:
    done = run("cases", "--target", "tensorflow:eager,graph", "-k", "other")
    assert "2 passed" in done.stdout
