"""Lowering: the program's own lines, with inputs before them, guards and counters between them."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.corpus.cases import load_corpus
from conformance.corpus.language.case import Case, Input
from conformance.corpus.language.literals import drawn
from conformance.corpus.language.lowering import construction, lower
from conformance.corpus.language.program import RECENT, names_of_scope
from tests.cases import one_case, varied_corpus, whole_corpus

ENTRY = """
title: A fact
source: contract/84
inputs: {x: 3.0, v: {variable: [1.0, -0.0], trainable: false}}
run: |
  with tf.GradientTape() as t:
      t.watch(x)
      y = x * v  # a comment stays

  first = t.gradient(y, x)
  second = t.gradient(y, x)
expect:
  first: 6.0
  second: {error: RuntimeError}
"""
LOWERED = """\
x = tf.constant(3.0)
v = tf.Variable([1.0, -0.0], trainable=False, name="v")


def case(x):
    with tf.GradientTape() as t:
        t.watch(x)
        y = x * v  # a comment stays

    first = t.gradient(y, x)
    try:
        second = t.gradient(y, x)
    except Exception as raised:
        second = raised
    return {'first': first, 'second': second}
"""


def with_(old: str, new: str) -> Case:
    assert old in ENTRY
    return one_case(ENTRY.replace(old, new))


def test_the_whole_text() -> None:
    assert lower(one_case(ENTRY)).source == LOWERED


def test_the_hash_is_pinned() -> None:
    """Where this changes, every record becomes stale: raise HASHED, and say so."""
    assert lower(one_case(ENTRY)).hash == "84dbdaafab4aa4f4"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("A fact", "Another title"),
        ("contract/84", "contract/85"),
        ("first: 6.0", "first: [1.0, 2.0]"),
        ("RuntimeError}", "ValueError, message: no, at: second}"),
        ("{error: RuntimeError}", "{any_of: [{error: RuntimeError}, 6.0]}"),
        ("expect:", "tags: [kink]\nexpect_in: {graph: {first: 7.0}}\nexpect:"),
        ("expect:", "warns: something\nexpect:"),
    ],
)
def test_the_hash_is_the_programs_alone(old: str, new: str) -> None:
    assert lower(with_(old, new)).hash == lower(one_case(ENTRY)).hash


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x * v", "x + v"),
        ("x: 3.0", "x: 3.5"),
        ("x: 3.0", "x: {constant: 3.0, dtype: float64}"),
        (", trainable: false", ""),
        ("-0.0", "0.0"),
        ("  first: 6.0\n", ""),
        ("second: {error: RuntimeError}", "second: 6.0"),
        ("run: |", "setup: |\n  tf.random.set_seed(1)\nrun: |"),
    ],
)
def test_the_hash_changes_with_the_program(old: str, new: str) -> None:
    assert lower(with_(old, new)).hash != lower(one_case(ENTRY)).hash


def test_every_case_of_the_corpus_lowers_alike_twice() -> None:
    again = {case.id: case for case in load_corpus()}
    for one in varied_corpus():
        other = again[one.id]
        assert lower(one).source == lower(other).source, one.id
        assert lower(one).hash == lower(other).hash


def test_the_function_binds_the_names_of_the_program() -> None:
    for case in varied_corpus():
        *_, function = ast.parse(lower(case).source).body
        assert isinstance(function, ast.FunctionDef)
        own = names_of_scope(ast.parse(case.run))
        assert names_of_scope(*function.body) == own, case.id
        assert {argument.arg for argument in function.args.args} <= {i.name for i in case.inputs}


def test_the_programs_of_the_whole_corpus_are_kept() -> None:
    """Where fewer are, who goes through the corpus twice makes every program twice."""
    assert len(whole_corpus()) <= RECENT


def test_steps_stand_on_their_own_lines() -> None:
    lowered = lower(one_case(ENTRY))
    lines = LOWERED.splitlines()
    assert lowered.step_at(lines.index("        y = x * v  # a comment stays") + 1) == "y"
    assert lowered.step_at(lines.index("        second = t.gradient(y, x)") + 1) == "second"
    assert lowered.step_at(6) == "t"
    assert lowered.step_at(4) is None
    assert lowered.step_at(None) is None


GUARDED = """
title: A fact
source: contract/84
inputs: {x: 3.0}
run: |
  for k in range(2):
      if x > 0.0:
          a, b = tf.unstack(
              x,
          )
      else:
          a, b = x, x
  @tf.function
  def f(y):
      return y
expect: {a: {error: ValueError}, f: {calls: 1}}
"""


def test_guards_reach_into_blocks_and_bind_every_name() -> None:
    assert (
        lower(one_case(GUARDED)).source
        == """\
x = tf.constant(3.0)
calls = {'f': 0}


def case(x):
    for k in range(2):
        if x > 0.0:
            try:
                a, b = tf.unstack(
                    x,
                )
            except Exception as raised:
                a = b = raised
        else:
            try:
                a, b = x, x
            except Exception as raised:
                a = b = raised
    @tf.function
    def f(y):
        calls['f'] += 1
        return y
    return {'a': a, 'f': calls['f']}
"""
    )


def test_functions_of_setup_are_counted_too() -> None:
    case = one_case("""
title: A fact
source: contract/84
inputs: {x: 3.0}
setup: |
  def f(y):
      return y
run: |
  g = f(x)
expect: {g: 3.0, f: {calls: 1}}
""")
    source = lower(case).source
    namespace = {"tf": type("tf", (), {"constant": staticmethod(float)})}
    exec(source, namespace)
    assert namespace["case"](namespace["x"]) == {"g": 3.0, "f": 1}  # type: ignore[operator]


def test_an_error_among_the_choices_is_guarded() -> None:
    case = with_("{error: RuntimeError}", "{any_of: [6.0, {error: RuntimeError}]}")
    assert lower(case).source == LOWERED


def test_an_input_that_is_bound_or_deleted_becomes_a_parameter() -> None:
    for line in ("v = v * 2.0", "v += 1.0", "del v"):
        case = with_("first = t", f"w = v\n  {line}\n  first = t")
        assert lower(case).parameters == ("x", "v"), line
    assert lower(one_case(ENTRY)).parameters == ("x",)


def test_what_a_target_is_asked_for_includes_the_inputs() -> None:
    assert lower(one_case(ENTRY)).uses == {"constant", "Variable", "GradientTape"}


def test_a_value_depends_on_what_its_branch_depends_on() -> None:
    relied = lower(one_case(GUARDED)).dependencies
    assert relied["a"] >= {"a, b", "k", "x > 0.0"}


def test_a_draw_is_pinned() -> None:
    """The literals of the corpus: they may never change."""
    assert drawn("x", (2, 3), -2.0, 2.0, 0) == ((-0.832, 1.943, -0.487), (0.721, 0.577, 0.248))
    assert drawn("x", (), 0.5, 1.5, 7) == 0.975


def test_a_draw_depends_on_the_input_alone() -> None:
    draw = "inputs: {x: {draw: [2], range: [0.0, 1.0]}, v: {variable: [1.0, -0.0]}}"
    entry = ENTRY.replace("inputs: {x: 3.0, v: {variable: [1.0, -0.0], trainable: false}}", draw)
    values = {one_case(entry, name).inputs[0].value for name in ("one", "another")}
    assert len(values) == 1


floats = st.floats(width=32)


@given(
    st.one_of(
        floats.map(lambda value: (value, "float32")),
        st.complex_numbers(width=64).map(lambda value: (value, "complex64")),
        st.integers(-(2**31), 2**31 - 1).map(lambda value: (value, "int32")),
        st.text(max_size=5).map(lambda value: (value, "string")),
        st.tuples(floats, floats).map(lambda value: (value, "float64")),
    )
)
def test_a_written_input_is_the_same_number(given: tuple[object, str]) -> None:
    value, dtype = given
    line = construction(Input("x", "constant", value, dtype))  # type: ignore[arg-type]
    namespace: dict[str, object] = {"tf": _Recorder}
    exec(line, namespace)
    written = namespace["x"]
    assert repr(written) == repr(list(value) if isinstance(value, tuple) else value)


class _Recorder:
    """A namespace whose constants are what they were written as."""

    float64 = complex64 = int32 = None

    @staticmethod
    def constant(value: object, dtype: object = None) -> object:
        return value
