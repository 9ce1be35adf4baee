"""The mode `call`: what becomes a function, what it takes and returns, what is in its way."""

from __future__ import annotations

import ast
import textwrap

import pytest

from conformance.corpus.language.call_mode import CallProgram, call_program
from conformance.corpus.language.lowering import lower
from tests.cases import one_case, varied_corpus


def rewritten(text: str, *observed: str, guarded: tuple[str, ...] = ()) -> CallProgram:
    return call_program(textwrap.dedent(text).lstrip(), ["x"], observed or ("g",), guarded)


def functions(program: CallProgram) -> dict[str, tuple[list[str], str]]:
    """Each function of a program: its parameters, and what it returns."""
    return {
        part.name: (
            [argument.arg for argument in part.args.args],
            ast.unparse(part.body[-1].value) if isinstance(part.body[-1], ast.Return) else "",
        )
        for part in ast.walk(ast.parse(program.text))
        if isinstance(part, ast.FunctionDef) and part.name.startswith("recorded_ops")
    }


def test_a_function_returns_exactly_what_is_read_later_or_observed() -> None:
    program = rewritten(
        """
        with tf.GradientTape() as t:
            t.watch(x)
            a = x * x
            b = a * 2.0
            c = b + 1.0
            d = b - 1.0
        g = t.gradient(c, x)
        """,
        "g",
        "d",
    )
    assert functions(program) == {"recorded_ops": (["x"], "(c, d)")}


def test_what_concerns_the_tape_stays_outside() -> None:
    program = rewritten(
        """
        with tf.GradientTape(persistent=True) as t:
            t.watch(x)
            y = x * x
            t.watch(y)
            z = y * x
        g = t.gradient(z, y)
        """
    )
    assert functions(program) == {
        "recorded_ops": (["x"], "y"),
        "recorded_ops_2": (["x", "y"], "z"),
    }
    assert program.obstacle == ""


def test_variables_and_functions_are_closed_over() -> None:
    program = rewritten(
        """
        def f(value):
            return value * w
        with tf.GradientTape() as t:
            y = f(x) * w
        g = t.gradient(y, w)
        """
    )
    assert functions(program) == {"recorded_ops": (["x"], "y")}


def test_a_name_inside_a_definition_is_another_name() -> None:
    program = rewritten(
        """
        def f(value):
            y = value * value
            return y
        with tf.GradientTape() as t:
            t.watch(x)
            y = f(x)
            z = y * y
        g = t.gradient(z, x)
        """
    )
    assert functions(program) == {"recorded_ops": (["x"], "z")}


def test_a_definition_inside_the_block_is_not_moved() -> None:
    program = rewritten(
        """
        with tf.GradientTape() as t:
            t.watch(x)
            @tf.custom_gradient
            def f(value):
                def grad(upstream):
                    return upstream * 2.0
                return value, grad
            y = f(x)
        g = t.gradient(y, x)
        """
    )
    assert functions(program) == {"recorded_ops": (["x"], "y")}


def test_a_guarded_statement_keeps_its_own_guard() -> None:
    program = rewritten(
        """
        with tf.GradientTape() as t:
            y = x * x
            z = tf.bitcast(y)
        """,
        "y",
        "z",
        guarded=("z",),
    )
    assert functions(program) == {"recorded_ops": (["x"], "y")}


def test_numpy_stays_outside() -> None:
    program = rewritten(
        """
        with tf.GradientTape() as t:
            y = x * x
            m = np.mean(y)
            z = x * m
        g = t.gradient(z, x)
        """
    )
    assert list(functions(program)) == ["recorded_ops", "recorded_ops_2"]


def test_only_the_outermost_tape_is_eager() -> None:
    program = rewritten(
        """
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = x * x * x
            dy = inner.gradient(y, x)
        g = outer.gradient(dy, x)
        """
    )
    assert functions(program) == {"recorded_ops": (["x"], "dy")}
    assert program.obstacle == ""


def test_an_inner_tape_that_stays_eager_is_asked_eagerly() -> None:
    program = rewritten(
        """
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = np.mean(x) * x
            dy = inner.gradient(y, x)
        g = outer.gradient(dy, x)
        """
    )
    assert functions(program) == {}


def test_the_numpy_functions_of_the_framework_stand_in_functions() -> None:
    program = rewritten(
        """
        with tf.GradientTape() as t:
            y = tf.experimental.numpy.multiply(x, x)
            z = x * x.numpy()
        g = t.gradient([y, z], x)
        """
    )
    assert functions(program) == {"recorded_ops": (["x"], "y")}


def test_a_tape_in_a_loop_is_found() -> None:
    program = rewritten(
        """
        for step in range(2):
            with tf.GradientTape() as t:
                t.watch(x)
                y = x * x
            g = t.gradient(y, x)
            x = x + 1.0
        """
    )
    assert functions(program) == {"recorded_ops": (["x"], "y")}


@pytest.mark.parametrize(
    ("text", "obstacle"),
    [
        ("g = x * x", "records nothing on a tape"),
        (
            "with tf.GradientTape() as t:\n    t.watch(x)\ng = t.gradient(x, x)",
            "nothing that a tape",
        ),
        (
            "with tf.GradientTape() as t:\n    t.watch(x)\n    y = x * x\n    z = y * y\n"
            "g = t.gradient(z, y)",
            "the source y is computed inside",
        ),
        (
            "with tf.GradientTape() as t:\n    y = x * x\n    z = y * y\n"
            "g = t.gradient([y, z], [z, y])",
            "the source y is computed inside",
        ),
        (
            "with tf.GradientTape() as t:\n"
            "    with tf.GradientTape() as inner:\n        y = x * x\n"
            "g = inner.gradient(y, x)",
            "the tape inner is used after",
        ),
    ],
)
def test_an_obstacle_is_named(text: str, obstacle: str) -> None:
    assert obstacle in rewritten(text).obstacle


CASE = """
title: A case
source: contract/s7
inputs: {x: 3.0}
run: |
  with tf.GradientTape() as t:
      t.watch(x)
      y = x * x
      z = tf.bitcast(y)
  g = t.gradient(z, y)
expect: {g: 18.0}
"""


def test_steps_inside_a_function_are_steps_of_the_program() -> None:
    lowered = lower(one_case(CASE), "call")
    lines = lowered.source.splitlines()
    (line,) = (number for number, text in enumerate(lines, 1) if "bitcast" in text)
    assert lowered.step_at(line) == "z"
    assert lowered.obstacle


def test_the_other_modes_share_one_text() -> None:
    case = one_case(CASE)
    assert lower(case) is lower(case, "graph") is lower(case, "xla")
    assert lower(case).hash != lower(case, "call").hash


def test_every_case_of_the_corpus_can_be_rewritten() -> None:
    for case in varied_corpus():
        lowered = lower(case, "call")
        *_, function = ast.parse(lowered.source).body
        assert isinstance(function, ast.FunctionDef), case.id
        assert tuple(argument.arg for argument in function.args.args) == lowered.parameters
        assert lowered.observed == case.observed
        compile(lowered.source, case.id, "exec")
