"""`gradconf list --operations` and `gradconf show --operation`: the catalogue on a terminal."""

from __future__ import annotations

import pytest

from tests.cases import whole_catalogue
from tests.conftest import Program


def test_the_operations_are_listed_by_family(gradconf: Program) -> None:
    done = gradconf("list", "--operations")
    lines = done.stdout.splitlines()
    assert done.returncode == 0
    assert max(map(len, lines)) <= 80
    families = [line for line in lines[:-1] if not line.startswith(" ")]
    operations = whole_catalogue()
    assert families == sorted({found.family for found in operations.values()})
    listed = [line.split()[0] for line in lines[:-1] if line.startswith(" ")]
    assert listed == [*operations]
    assert lines[-1].startswith(f"{len(operations)} operations, ")


def test_words_choose_among_them(gradconf: Program) -> None:
    done = gradconf("list", "--operations", "--ids", "-k", "einsum or (matmul and batch)")
    names = ["batch_matmul", "batch_matmul_v1", "batch_matmul_v3", "einsum", "einsum_of_one"]
    assert {*names} <= {*done.stdout.splitlines()}
    done = gradconf("list", "--operations", "-k", "matmull")
    assert done.returncode == 3
    assert "no operation matches -k 'matmull' (did you mean matmul" in done.stdout


def test_they_are_no_cases(gradconf: Program) -> None:
    for words in (["scalar"], ["--area", "scalar"], ["--tag", "kink"]):
        done = gradconf("list", "--operations", *words)
        assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.parametrize("name", [*whole_catalogue()][::25])
def test_each_is_shown_within_80_columns(gradconf: Program, name: str) -> None:
    done = gradconf("show", "--operation", name)
    assert done.returncode == 0
    assert done.stdout.splitlines()[0] == name
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_one_is_shown_whole(gradconf: Program) -> None:
    shown = gradconf("show", "--operation", "atan2").stdout
    for fact in ("binary", "Atan2", "float16 bfloat16 float32 float64", "exists", "y = 0, x = 0"):
        assert fact in shown
    assert "    tf.math.atan2(y, x)\n      y: shape [2, 3], -2 to 2\n" in shown


def test_edge_points_are_shown_with_what_is_declared_there(gradconf: Program) -> None:
    shown = gradconf("show", "--operation", "selu").stdout
    assert "  limits, declared: the limit of the derivative; by convention" in shown
    assert "      gradient of x: w * 1.05" in shown
    shown = gradconf("show", "--operation", "sign").stdout
    assert "  nan, surveyed: no document says" in shown


def test_an_unknown_one_is_a_line_with_the_nearest(gradconf: Program) -> None:
    done = gradconf("show", "--operation", "atan")
    assert done.returncode == 0
    done = gradconf("show", "--operation", "arctan2")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no operation 'arctan2' (did you mean atan2" in done.stderr.splitlines()[0]


@pytest.mark.parametrize("words", [(), ("a/b/c", "--operation", "atan2")])
def test_show_takes_a_case_or_an_operation(gradconf: Program, words: tuple[str, ...]) -> None:
    done = gradconf("show", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert "show takes a case, or --operation and a name" in done.stderr
