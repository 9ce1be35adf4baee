"""The language: every form of inputs, expectations and modes, as the values that it becomes."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from conformance.corpus.language.case import (
    Cancellation,
    Case,
    ExpectedAnyOf,
    ExpectedCalls,
    ExpectedError,
    ExpectedNone,
    ExpectedOracle,
    ExpectedSlices,
    ExpectedStructure,
    ExpectedSurvey,
    ExpectedTensor,
    ExpectedWatched,
    Input,
)
from conformance.corpus.language.document import core_scalar
from conformance.corpus.language.loader import load_file, load_text
from tests.cases import one_case


def case_of(**changes: str) -> Case:
    given = {
        "title": "A fact",
        "source": "contract/84",
        "inputs": "{x: 3.0}",
        "run": "|\n  g = x * x",
        "expect": "{g: 9.0}",
        **changes,
    }
    return one_case("\n".join(f"{key}: {value}" for key, value in given.items()))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("6.0", ExpectedTensor(6.0)),
        ("6", ExpectedTensor(6)),
        ("true", ExpectedTensor(True)),
        ("-0.0", ExpectedTensor(-0.0)),
        ("[[1.0, .inf]]", ExpectedTensor(((1.0, math.inf),))),
        ("[]", ExpectedTensor(())),
        ("1+2j", ExpectedTensor(1 + 2j)),
        ('["1+2j", 3.0]', ExpectedTensor((1 + 2j, 3.0))),
        ("null", ExpectedNone()),
        ("~", ExpectedNone()),
        ("oracle", ExpectedOracle()),
        ("survey", ExpectedSurvey()),
        (
            "{list: [survey, 1.0]}",
            ExpectedStructure("list", (ExpectedSurvey(), ExpectedTensor(1.0))),
        ),
        ("{value: 6, dtype: float64}", ExpectedTensor(6.0, "float64")),
        ("{value: abc, dtype: string}", ExpectedTensor("abc", "string")),
        ("{value: [], shape: [0, 3]}", ExpectedTensor((), None, (0, 3))),
        ("{value: [1.0], shape: [1]}", ExpectedTensor((1.0,), None, (1,))),
        ("{value: 1.0, within: element}", ExpectedTensor(1.0, within="element")),
        ("{value: 1.0, within: 1e-5}", ExpectedTensor(1.0, within=1e-5)),
        ("{value: [[0.0], [1.0]], dense: true}", ExpectedTensor(((0.0,), (1.0,)), dense=True)),
        (
            "{value: [0.0, 1.0], cancels: {terms: 2.0, reason: 2 - 2}}",
            ExpectedTensor((0.0, 1.0), cancels=Cancellation(2.0, "2 - 2")),
        ),
        ("{python: true}", ExpectedTensor(True, "Python bool", ())),
        ("{python: 2}", ExpectedTensor(2, "Python int", ())),
        ("{python: 2.0}", ExpectedTensor(2.0, "Python float", ())),
        ("{python: 2, type: float}", ExpectedTensor(2.0, "Python float", ())),
        ("{python: a}", ExpectedTensor("a", "Python str", ())),
        ("{python: float32, type: dtype}", ExpectedTensor("float32", "Python dtype", ())),
        (
            "{tuple: [python: 2, python: 3]}",
            ExpectedStructure(
                "tuple",
                (ExpectedTensor(2, "Python int", ()), ExpectedTensor(3, "Python int", ())),
            ),
        ),
        ("{formula: 2 * x}", ExpectedTensor(6.0)),
        ('{formula: "sigmoid(0 * x) + max(x, 4) ** 2"}', ExpectedTensor(16.5)),
        ("{formula: -pi, shape: []}", ExpectedTensor(-math.pi, None, ())),
        (
            "{list: [1.0, null, {tuple: []}]}",
            ExpectedStructure(
                "list", (ExpectedTensor(1.0), ExpectedNone(), ExpectedStructure("tuple", ()))
            ),
        ),
        (
            "{dict: {y: 1.0, no: null}}",
            ExpectedStructure("dict", (ExpectedTensor(1.0), ExpectedNone()), ("y", "no")),
        ),
        (
            "{indexed_slices: {values: [[1.0]], indices: {value: [2], dtype: int64}}}",
            ExpectedSlices(ExpectedTensor(((1.0,),)), ExpectedTensor((2,), "int64")),
        ),
        (
            "{error: ValueError, message: a part, at: g}",
            ExpectedError("ValueError", "a part", "g"),
        ),
        ("{watched: [x0, x1]}", ExpectedWatched(("x0", "x1"))),
        ("{any_of: [0.0, null]}", ExpectedAnyOf((ExpectedTensor(0.0), ExpectedNone()))),
    ],
)
def test_an_expectation(text: str, expected: object) -> None:
    found = case_of(expect=f"{{g: {text}}}").expect["g"]
    assert repr(found) == repr(expected)


def test_calls_are_expected_of_a_function() -> None:
    case = case_of(run="|\n  def f(y):\n      return y\n  g = f(x)", expect="{f: {calls: 1}}")
    assert case.expect == {"f": ExpectedCalls(1)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3.0", Input("x", "constant", 3.0, "float32")),
        ("1e-5", Input("x", "constant", 1e-5, "float32")),
        ("[[1.0], [.nan]]", Input("x", "constant", ((1.0,), (math.nan,)), "float32")),
        ("{constant: 3, dtype: int32}", Input("x", "constant", 3, "int32")),
        ("{constant: 3, dtype: float64}", Input("x", "constant", 3.0, "float64")),
        ("{constant: [true], dtype: bool}", Input("x", "constant", (True,), "bool")),
        ("{constant: 1 + 2j, dtype: complex64}", Input("x", "constant", 1 + 2j, "complex64")),
        ("{constant: abc, dtype: string}", Input("x", "constant", "abc", "string")),
        ("{variable: 3.0, trainable: false}", Input("x", "variable", 3.0, "float32", False)),
        ("{draw: [], range: [1, 2]}", Input("x", "constant", 1.605, "float32")),
    ],
)
def test_an_input(text: str, expected: Input) -> None:
    (found,) = case_of(inputs=f"{{x: {text}}}").inputs
    if "draw" in text:
        assert 1.0 <= found.value <= 2.0  # type: ignore[operator]
    else:
        assert repr(found) == repr(expected)


def test_draws_may_be_variables_of_any_float() -> None:
    drawn = "{x: {draw: [2], range: [0, 1], variable: true, trainable: false, dtype: float64}}"
    (found,) = case_of(inputs=drawn).inputs
    assert (found.kind, found.dtype, found.trainable) == ("variable", "float64", False)


def test_modes_inherit() -> None:
    case = case_of(
        run="|\n  g = x * x\n  h = x",
        expect="{g: 9.0, h: 3.0}",
        expect_in="{graph: {g: 8.0}, xla: {h: 2.0}, eager: {h: 1.0}}",
    )
    value = {
        mode: [e.value for e in case.expectations_in(mode).values()]  # type: ignore[union-attr]
        for mode in ("eager", "graph", "xla", "call")
    }
    assert value == {
        "eager": [9.0, 1.0],
        "graph": [8.0, 3.0],
        "xla": [8.0, 2.0],
        "call": [9.0, 1.0],
    }


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-5", 1e-5), ("1.", 1.0), (".5", 0.5), ("-1e+3", -1000.0), ("+3", 3), ("0o17", 15),
        ("0xff", 255), ("010", 10), (".inf", math.inf), ("-.INF", -math.inf), ("True", True),
        ("no", "no"), ("on", "on"), ("y", "y"), ("yes", "yes"), ("1_000", "1_000"), ("~", None),
        ("null", None), ("", None), ("1e999", "1e999"), ("12:30", "12:30"), ("2001-01-01",) * 2,
        ("0b1", "0b1"), (".", "."), ("-", "-"), ("1e", "1e"),
    ],
)  # fmt: skip
def test_scalars_follow_the_core_schema(text: str, value: object) -> None:
    assert core_scalar(text) == value
    assert type(core_scalar(text)) is type(value)


@pytest.mark.parametrize(
    ("dtype", "rounded"), [("float32", 0.10000000149011612), ("float16", 0.0999755859375),
                           ("bfloat16", 0.10009765625), ("float64", 0.1)]
)  # fmt: skip
def test_a_formula_sees_inputs_as_their_dtype_rounds_them(dtype: str, rounded: float) -> None:
    inputs = f"{{x: {{constant: 0.1, dtype: {dtype}}}}}"
    case = case_of(inputs=inputs, expect="{g: {formula: 1 * x}}")
    assert case.expect["g"] == ExpectedTensor(rounded)


def test_a_formula_combines_inputs_element_by_element() -> None:
    case = case_of(
        inputs="{x: [1.0, 2.0], y: [3.0, 4.0], k: 10.0}",
        run="|\n  g = x * y * k",
        expect="{g: {formula: k * x + y}}",
    )
    assert case.expect["g"] == ExpectedTensor((13.0, 24.0))


def test_a_template_writes_names_as_text_and_programs_as_python() -> None:
    text = """
introduction: a
cases:
  with_${p}_${v}:
    title: persistent=${p} at ${v.at}
    source: contract/84
    each: {p: [true, false, null], v: [{name: low, at: .inf}]}
    inputs: {x: 3.0}
    run: |
      g = tf.GradientTape(persistent=${p}, at=${v.at})
      h = x
    expect: {h: "${v.at}"}
"""
    first, second, third = load_text(text)
    assert [c.id.rsplit("/")[-1] for c in (first, third)] == ["with_true_low", "with_none_low"]
    assert first.title == "persistent=true at inf"
    assert first.run.startswith("g = tf.GradientTape(persistent=True, at=float('inf'))")
    assert "persistent=False" in second.run
    assert "persistent=None" in third.run
    assert first.expect["h"] == ExpectedTensor(math.inf)


PROGRAMS = [
    "a, *b = [x, x, x]\ng = b",
    "a = b = x\ng = a",
    "a = x\na += x\ng = a",
    "g = {'a': x, 'b': [x, (x,)]}['b'][0]",
    "g = x[0:1, ..., None] if x > 0.0 else -x",
    "g = (lambda y, *z, k=2.0: y * k)(x)",
    "@tf.function\ndef f(y, /, z=1.0, *, k):\n    return y * z * k\ng = f(x, k=2.0)",
    "class A(tf.Module):\n    def __init__(self, k):\n        super().__init__()\n"
    "        self.k = k\n    def __call__(self, y):\n        return self.k * y\na = A(2.0)\n"
    "g = a(x) + a.k",
    "with tf.GradientTape() as t, tf.GradientTape() as s:\n    g = x * x",
    "for k in range(3):\n    g = x * float(k)",
    "def even(n):\n    return True if n == 0 else odd(n - 1)\n"
    "def odd(n):\n    return False if n == 0 else even(n - 1)\ng = even(4), x",
    "def f(y):\n    if y > 0.0:\n        return y\n    z = -y\n    return z\ng = f(x)",
    "g = x\nprobe = alive(g)\nheld = probe()",
    "g = x is None or not (x < 2.0 <= 3.0)",
    "pass\ng = x",
    "'''a text'''\ng = x",
    "g = np.linalg.norm(x.numpy())",
    "g = tf.py_function(lambda y: y, [x], tf.float32)",
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_of_the_language(program: str) -> None:
    indented = program.replace("\n", "\n  ")
    assert case_of(run=f"|\n  {indented}", expect="{g: oracle}").run.strip() == program


def test_attributes_of_a_class_in_setup_are_known_in_run() -> None:
    setup = "|\n  class A(tf.Module):\n      def peculiar(self):\n          return 1.0\n  a = A()"
    assert case_of(setup=setup, run="|\n  g = x * a.peculiar()").setup


def test_a_file_outside_the_corpus_is_named_after_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "My Cases-2"
    folder.mkdir()
    path = folder / "A.b.yaml"
    path.write_text(
        "introduction: a\ncases:\n  one:\n    title: a\n    source: contract/1\n"
        "    inputs: {x: 3.0}\n    run: g = x\n    expect: {g: 3.0}\n"
    )
    (case,) = load_file(path, tmp_path / "elsewhere")
    assert case.id == "my_cases_2/a_b/one"
    assert case.place.file == str(path)
