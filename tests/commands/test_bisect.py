"""`gradconf bisect`: the first version with the new answer, on environments of these tests' own."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.targets.releases import releases_between, version_key
from conformance.verdicts.bisection import bisect
from tests.cases import SQUARE, make_corpus
from tests.commands.versions import RIGHT, keep_ready
from tests.conftest import Program

OLD, NEW = RIGHT, "None"
WORDS = ("bisect", "basics/squares/square", "tensorflow:eager")


@given(st.data())
def test_the_turn_is_found_in_a_logarithm_of_questions(data: st.DataObject) -> None:
    count = data.draw(st.integers(2, 200))
    turn = data.draw(st.integers(1, count - 1))
    asked: list[str] = []

    def is_new(version: str) -> bool:
        asked.append(version)
        return int(version) >= turn

    found = bisect([str(number) for number in range(count)], is_new)
    assert (found.before, found.since, found.unknown) == (str(turn - 1), str(turn), ())
    assert len(set(asked)) == len(asked) <= count.bit_length()


@given(st.data())
def test_versions_that_cannot_be_asked_are_named(data: st.DataObject) -> None:
    count = data.draw(st.integers(2, 40))
    turn = data.draw(st.integers(1, count - 1))
    lost = data.draw(st.sets(st.integers(1, count - 1)))

    def is_new(version: str) -> bool | None:
        return None if int(version) in lost else int(version) >= turn

    found = bisect([str(number) for number in range(count)], is_new)
    before, since = int(found.before), int(found.since)
    assert before < turn <= since
    assert found.unknown == tuple(str(number) for number in range(before + 1, since))
    assert {int(version) for version in found.unknown} <= lost


def test_the_releases_between_two_are_in_order() -> None:
    between = releases_between("2.5.3", "2.22.0rc0")
    assert (between[0], between[-1]) == ("2.5.3", "2.22.0rc0")
    assert between == sorted(set(between), key=version_key)
    assert {"2.9.1", "2.15.1", "2.21.0"} <= set(between)
    assert releases_between("2.8.3", "2.9.0") == ["2.8.3", "2.8.4", "2.9.0"]


@pytest.fixture
def corpus(tmp_path: Path) -> tuple[str, str]:
    return "--corpus", str(make_corpus(tmp_path))


def ends(good: str, bad: str) -> Sequence[str]:
    return "--good", good, "--bad", bad


def test_the_first_version_with_the_new_answer_is_found(
    gradconf: Program, tmp_path: Path, corpus: tuple[str, str]
) -> None:
    versions = releases_between("2.8.0", "2.9.3")
    turn = versions.index("2.8.3")
    keep_ready(tmp_path, {v: OLD if versions.index(v) < turn else NEW for v in versions})
    cache = {"GRADCONF_CACHE": str(tmp_path)}
    done = gradconf(*WORDS, *ends("2.8.0", "2.9.3"), *corpus, **cache)
    assert done.returncode == 0, done.stderr
    assert "eager: tensorflow 2.8.3 is the first with the new answer" in done.stdout
    assert "none: g: got None, expected 6.0" in done.stdout
    assert "`expected` is what 2.8.2 answers, `got` what 2.8.3 does" in done.stdout
    assert done.stderr.count("asked tensorflow") < len(versions) + 2

    same = gradconf(*WORDS, *ends("2.8.0", "2.8.2"), *corpus, **cache)
    assert same.returncode == 2
    assert "2.8.0 and 2.8.2 give the same answer (eager): nothing turned" in same.stderr


def test_what_a_record_knows_is_not_asked_again(
    gradconf: Program, tmp_path: Path, corpus: tuple[str, str]
) -> None:
    answers = {"2.8.0": OLD, "2.8.1": OLD, "2.8.2": NEW, "2.8.3": NEW}
    keep_ready(tmp_path, answers)
    cache = {"GRADCONF_CACHE": str(tmp_path)}
    for version in answers:
        words = (f"tensorflow=={version}:eager", *corpus, "--repeat", "1")
        gradconf("run", *words, "--output", f"reports/{version}.jsonl.gz", **cache)
    shutil.rmtree(tmp_path / "environments")
    done = gradconf(*WORDS, *ends("2.8.0", "2.8.3"), *corpus, **cache)
    assert done.returncode == 0, done.stderr
    assert "tensorflow 2.8.2 is the first with the new answer" in done.stdout
    assert done.stderr == ""

    (tmp_path / "reports").rename(tmp_path / "kept")
    keep_ready(tmp_path, answers)
    (tmp_path / "kept" / "2.8.1.jsonl.gz").unlink()
    words = (*ends("2.8.0", "2.8.3"), *corpus, "--records", "kept")
    assert gradconf(*WORDS, *words, **cache).stderr == "  asked tensorflow 2.8.1\n"
    text = SQUARE.replace("y = x * x", "y = x * (x * 1.0)", 1)
    make_corpus(tmp_path, basics__squares=text)
    assert gradconf(*WORDS, *words, **cache).stderr.count("asked") > 4, "the program is another"


def test_an_unstable_answer_is_not_bisected(
    gradconf: Program, tmp_path: Path, corpus: tuple[str, str]
) -> None:
    keep_ready(
        tmp_path,
        {"2.8.0": "tf.constant(float(os.urandom(1)[0]) + os.urandom(1)[0] / 256)", "2.8.1": OLD},
    )
    cache = {"GRADCONF_CACHE": str(tmp_path)}
    done = gradconf(*WORDS, *ends("2.8.0", "2.8.1"), *corpus, **cache)
    assert done.returncode == 2
    assert "2.8.0 gives another answer each time" in done.stderr


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("nothing/of/that", *WORDS[2:], *ends("2.8.0", "2.9.0")), 2, "no case matches"),
        ((*WORDS[1:], *ends("2.9.0", "2.8.0")), 2, "--good 2.9.0 must be older than --bad 2.8.0"),
        ((*WORDS[1:], *ends("2.x", "2.8.0")), 2, "'2.x' is no version"),
        ((WORDS[1], "reference", *ends("2.8.0", "2.9.0")), 2, "only frameworks are asked for by"),
        ((*WORDS[1:], *ends("2.3.0", "2.9.0")), 5, "2.3.0 is too old"),
        (WORDS[1:], 2, "required: --good, --bad"),
    ],
)
def test_what_cannot_be_bisected_is_said(
    gradconf: Program,
    tmp_path: Path,
    corpus: tuple[str, str],
    words: Sequence[str],
    code: int,
    message: str,
) -> None:
    done = gradconf("bisect", *words, *corpus, GRADCONF_CACHE=str(tmp_path))
    assert done.returncode == code
    assert message in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
