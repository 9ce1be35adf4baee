"""What the numeric check refuses: wrong rules and wrong declared values, in one line each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases import SQUARE
from tests.conftest import Program
from tests.suite.numeric.making import SQUARE_RULE, cases_of, checked, entry, wrong_oracle

TAPE = "with tf.GradientTape() as t:\n    t.watch(x)\n"
SQUARES = entry(TAPE + "    y = tf.square(x)\ng = t.gradient(y, x)", inputs="{x: [3.0, 0.0, 5.0]}")


def test_a_wrong_rule_is_refused_where_case_and_oracle_agree(tmp_path: Path) -> None:
    """The declared value is the wrong oracle's own: no other check of the suite can object."""
    target = wrong_oracle(tmp_path, *SQUARE_RULE, "return (ct * conj(x),)")
    declared = SQUARES.replace("{g: oracle}", "{g: [3.0, 0.0, 5.0]}")
    numeric = checked(cases_of(squares=declared), target)
    (line,) = numeric.faults
    assert ":11 " in line
    assert "squares: mathematics contradicts gradient of source 0 element (2,)" in line
    assert "got 5.0, numeric 10.0" in line
    assert "(bound 1.0e-07)" in line


@pytest.mark.parametrize(
    ("file", "old", "new", "program"),
    [
        (*SQUARE_RULE, "return (ct * (conj(x) * 2.02),)", "    y = tf.square(x)"),
        (*SQUARE_RULE, "return (ct * (conj(x) * 2.000001),)", "    y = tf.square(x)"),
        (*SQUARE_RULE, "return (None,)", "    y = tf.square(x)"),
        (*SQUARE_RULE, "return (ct * 0.0,)", "    y = tf.square(x)"),
        (*SQUARE_RULE, "return (ct * float('nan'),)", "    y = tf.square(x)"),
        (
            "trace.py",
            "if ct is not None and key in self.producer:",
            "if ct is not None and key in self.producer and key not in cotangents:",
            "    y = x * x",
        ),
    ],
    ids=["1%", "1e-6", "None", "zero", "nan", "lost"],
)
def test_a_wrong_oracle_is_refused(
    tmp_path: Path, file: str, old: str, new: str, program: str
) -> None:
    target = wrong_oracle(tmp_path, file, old, new)
    case = entry(TAPE + f"{program}\ng = t.gradient(y, x)")
    (line,) = checked(cases_of(wrong=case), target).faults
    assert "mathematics contradicts" in line


@pytest.mark.parametrize(
    "query",
    [
        "g = t.jacobian(tf.reshape(y, [1]), x)",
        "g = t.batch_jacobian(tf.reshape(y, [1, 1]), tf.reshape(x, [1, 1]))",
    ],
)
def test_a_query_after_the_tape_finds_no_path(query: str) -> None:
    numeric = checked(cases_of(late=entry(TAPE + f"    y = tf.square(x)\n{query}")))
    assert numeric.faults == []


def test_a_wrong_rule_inside_what_is_recomputed_is_refused(tmp_path: Path) -> None:
    """The stand-in takes the recomputed gradient at its word; the query inside it does not."""
    target = wrong_oracle(tmp_path, *SQUARE_RULE, "return (ct * conj(x),)")
    case = entry(TAPE + "    y = tf.recompute_grad(tf.square)(x)\ng = t.gradient(y, x)")
    faults = checked(cases_of(wrong=case), target).faults
    assert faults
    assert all("got 3.0, numeric 6.0" in fault for fault in faults)


def test_a_wrong_tangent_is_refused(tmp_path: Path) -> None:
    target = wrong_oracle(tmp_path, *SQUARE_RULE, "return (ct * conj(x),)")
    case = entry(
        """
with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as a:
    y = tf.square(x)
g = a.jvp(y)"""
    )
    faults = checked(cases_of(wrong=case), target).faults
    assert any("contradicts jvp" in fault for fault in faults)


def test_a_wrong_imaginary_part_of_a_tangent_is_refused(tmp_path: Path) -> None:
    target = wrong_oracle(tmp_path, *SQUARE_RULE, "return (2 * ct * x,)")
    case = entry(
        """
with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0 + 2.0j, tf.complex128)) as a:
    y = tf.square(x)
g = a.jvp(y)""",
        inputs="{x: {constant: 3+4j, dtype: complex128}}",
    )
    assert checked(cases_of(right=case)).faults == []
    (fault,) = checked(cases_of(wrong=case), target).faults
    assert "contradicts jvp" in fault


def test_a_wrong_declared_value_is_refused_where_the_oracle_rounds_alike() -> None:
    """The bound is the case's own: 2e-6 of the largest; an error of 1e-4 is beyond it."""
    case = SQUARES.replace("{g: oracle}", "{g: [6.0, 0.0, 10.001]}")
    (line,) = checked(cases_of(squares=case)).faults
    assert "$.cases.squares.expect.g: mathematics contradicts the declared value" in line
    assert "got 10.0 in float64, declared 10.001" in line


def test_a_value_beyond_float32_is_not_held_against_float64() -> None:
    case = entry(
        TAPE + "    y = tf.exp(x) * tf.exp(x)\ng = t.gradient(y, x)",
        inputs="{x: 60.0}",
        expect="{y: .inf, g: .inf}",
    )
    numeric = checked(cases_of(beyond=case))
    assert numeric.faults == []
    assert numeric.partly["beyond the range of its dtype"] == 2


# ----- the command -----


def test_the_command_refuses_a_wrong_declared_gradient(gradconf: Program, tmp_path: Path) -> None:
    file = tmp_path / "squares.yaml"
    file.write_text(SQUARE.replace("g: 6.0", "g: 6.1"))
    done = gradconf("check", "--numeric", str(file))
    assert done.returncode == 2
    lines = done.stderr.splitlines()
    assert any(
        "contradicts the declared value" in line and "declared 6.1" in line for line in lines
    )
    assert lines[-1] == "usage"


def test_the_command_counts(gradconf: Program, tmp_path: Path) -> None:
    file = tmp_path / "squares.yaml"
    file.write_text(SQUARE)
    done = gradconf("check", "--numeric", str(file))
    assert done.returncode == 0, done.stderr
    assert (
        "2 cases checked (3 answers, 5 elements, 5 of them not zero), 0 not; 100.0%" in done.stdout
    )


def test_zero_checked_is_an_error(gradconf: Program, tmp_path: Path) -> None:
    file = tmp_path / "kinks.yaml"
    file.write_text(
        SQUARE.replace("tags: [scalar]", "tags: [kink]").split("  persistent_square")[0]
    )
    assert gradconf("check", str(file)).returncode == 0
    done = gradconf("check", "--numeric", "--verbose", str(file))
    assert done.returncode == 2
    assert "--numeric checked nothing" in done.stderr
    assert "1 not checked: tagged kink" in done.stdout
    assert "/square" in done.stdout
