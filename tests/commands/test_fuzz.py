"""`gradconf fuzz`: what is wrong is found, made small and replayed; what is right is left alone."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.suite.drawing import drawn
from conformance.suite.programs import any_text, case_of
from tests.conftest import Program

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "fuzz.md").read_text(encoding="utf-8")
WRONG = """
import functools
import reference_impl as tf
from reference_impl.rules import PRIMITIVES

rule = PRIMITIVES["Mul"].rule

@functools.wraps(rule)
def wrong(*arguments, **attributes):
    x, y = rule(*arguments, **attributes)
    return x, y * 1.5

PRIMITIVES["Mul"].rule = wrong

def __getattr__(name):
    return getattr(tf, name)
"""
TIRED = """
import reference_impl as tf

class GradientTape(tf.GradientTape):
    asked = 0
    def gradient(self, *arguments, **options):
        GradientTape.asked += 1
        told = super().gradient(*arguments, **options)
        return told if GradientTape.asked < 20 else None

def __getattr__(name):
    return getattr(tf, name)
"""


def test_the_oracle_in_another_precision_is_another_and_right(
    gradconf: Program, run_python: Callable[[str], str]
) -> None:
    differ = (
        "import reference_impl as tf\nx = tf.constant([0.1 * k for k in range(1, 40)])\n"
        "before = tf.exp(x).numpy()\nimport tests.suite.in_double\n"
        "print((tf.exp(x).numpy() != before).sum(), tf.exp(x).numpy().dtype)"
    )
    count, dtype = run_python(differ).split()
    assert int(count) > 5
    assert dtype == "float32"
    done = gradconf("fuzz", str(ROOT / "tests" / "suite" / "in_double.py"), "--examples", "40")
    assert done.returncode == 0, done.stdout


def test_a_wrong_rule_is_found_made_small_and_replayed(tmp_path: Path, gradconf: Program) -> None:
    (tmp_path / "wrong.py").write_text(WRONG)
    words = ("--examples", "60", "--relations", "derivative", "--output", "found")
    done = gradconf("fuzz", "./wrong.py", *words)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (1, "falls_short")
    assert done.stdout.startswith("1. ./wrong.py:eager and reference: ")
    assert max(map(len, done.stdout.splitlines())) <= 80
    first, *_ = sorted((tmp_path / "found" / "fuzz").glob("oracle_*_1.yaml"))
    text = first.read_text()
    assert re.match(r"# gradconf \S+ fuzz, seed 1, hypothesis \S+\n# reference ", text)
    assert len(re.findall(r"^ +v\d = ", text, re.MULTILINE)) <= 2
    replayed = gradconf("run", "./wrong.py", "--corpus", "found", "-q")
    assert replayed.returncode == 1, replayed.stdout
    assert gradconf("run", "reference", "--corpus", "found", "-q").returncode != 1


def test_the_oracle_has_nothing_to_tell_of_itself(gradconf: Program) -> None:
    done = gradconf("fuzz", "reference", "--examples", "100")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "conforms")
    assert "100 programs of seed 1, " in done.stdout


def test_what_depends_on_what_ran_before_is_set_aside(tmp_path: Path, gradconf: Program) -> None:
    (tmp_path / "tired.py").write_text(TIRED)
    done = gradconf("fuzz", "./tired.py", "--examples", "60", "--relations", "zeros")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (4, "untrustworthy")
    assert re.search(r"^set aside: \d+ programs: not so in fresh processes$", done.stdout, re.M)
    assert "more than 20% of the programs say nothing" in done.stdout


def test_a_campaign_ends_with_its_time(gradconf: Program) -> None:
    done = gradconf("fuzz", "reference", "--time", "1s", "--relations", "zeros")
    assert done.returncode == 0
    assert 0 < int(re.findall(r"(\d+) programs? of seed", done.stdout)[0]) < 2_000


def test_a_seed_draws_the_same_programs_again() -> None:
    first = drawn(1, 0, any_text)
    assert first == drawn(1, 0, any_text)
    assert first[1:] != drawn(2, 0, any_text)[1:]
    assert len(case_of(first[:20])) == 20


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "the following arguments are required: TARGET"),
        (("reference", "--relations", "zero"), "no relation named 'zero' (did you mean zeros"),
        (("reference", "--time", "10"), "'10' is no time such as 90s, 10m or 2h"),
        (("reference", "--examples", "0"), "must be above zero"),
        (("reference", "--output", "."), "--output .: not empty: name a new folder"),
        (("refrence",), "no target named 'refrence'"),
    ],
)
def test_a_wrong_word_is_refused(
    words: tuple[str, ...], told: str, tmp_path: Path, gradconf: Program
) -> None:
    (tmp_path / "something").touch()
    done = gradconf("fuzz", *words)
    assert done.returncode == 2
    assert told in done.stderr


def test_a_target_that_does_not_start_is_told(tmp_path: Path, gradconf: Program) -> None:
    (tmp_path / "broken.py").write_text("1 / 0")
    done = gradconf("fuzz", "./broken.py", "--examples", "1")
    assert done.returncode == 5
    assert done.stdout.startswith("./broken.py cannot be imported: ZeroDivisionError")


def test_what_was_found_is_told_when_the_drawing_is_interrupted(tmp_path: Path) -> None:
    (tmp_path / "wrong.py").write_text(WRONG)
    words = [sys.executable, "-m", "conformance.cli", "fuzz", "./wrong.py", "--time", "10m"]
    terminal, theirs = os.openpty()
    host = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=theirs, text=True)
    os.close(theirs)
    shown = b""
    while not re.search(rb"\b[1-9]\d* findings?\b", shown):
        shown += os.read(terminal, 4096)
    host.send_signal(signal.SIGINT)
    printed, _ = host.communicate(timeout=120)
    os.close(terminal)
    assert (host.returncode, printed.splitlines()[-1]) == (130, "interrupted")
    assert "./wrong.py:eager and " in printed


def test_without_hypothesis_the_extra_is_named(
    gradconf: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("campaign", "drawing", "programs"):
        monkeypatch.delitem(sys.modules, f"conformance.suite.{name}", raising=False)
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    done = gradconf("fuzz", "reference")
    assert done.returncode == 2
    assert done.stderr.startswith("gradconf: gradconf fuzz needs hypothesis: pip install")


@pytest.mark.slow
def test_every_command_of_the_page_does_what_the_page_says(
    tmp_path: Path, gradconf: Program
) -> None:
    (tmp_path / "tape.py").write_text(WRONG)
    commands = re.findall(r"^\$ gradconf (.*?) +# exit (\d)$", PAGE, re.MULTILINE)
    assert len(commands) >= 3
    for command, code in commands:
        assert gradconf(*command.split()).returncode == int(code), command


def test_the_strategy_is_used_as_the_page_shows(pytester: pytest.Pytester) -> None:
    (text,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    pytester.makepyfile(text)
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)
