"""`gradconf show`: what is expected, caught and answered."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases import make_corpus
from tests.conftest import Program


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    return str(make_corpus(tmp_path))


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


def test_show_says_whether_a_case_is_portable_and_why_not(gradconf: Program) -> None:
    assert "\nportable yes\n" in gradconf("show", "unconnected/none/unrelated_variable").stdout
    done = gradconf("show", "registry/no_gradient/spelling_camel_case")
    assert (
        "\nportable no: TensorFlow's graphs and their compatibility names (graphs); " in done.stdout
    )
