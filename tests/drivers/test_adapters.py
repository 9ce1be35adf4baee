"""Each adapter is judged too: the framework's own rules answer, and where one is wrong it shows."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from conformance.answers.answer import Answer
from conformance.asking.worker import Job, Worker
from conformance.corpus.language.case import Case
from conformance.corpus.language.lowering import lower
from conformance.drivers import INSIDE
from conformance.targets.specification import (
    ADAPTED,
    COMPILERS,
    Target,
    TargetError,
    asked_of,
    parse_target,
)
from conformance.verdicts.judge import Evidence, judge
from tests.cases import SQUARE, entry, make_corpus, one_case
from tests.conftest import Program

SLOPE = "with tf.GradientTape() as t:\n    t.watch(x)\n    y = {call}\ng = t.gradient(y, x)"
SINE = one_case(entry(inputs="{x: 0.0}", run=SLOPE.format(call="tf.sin(x)"), expect="{g: 1.0}"))
RULES = {
    "autograd": "from autograd.extend import defvjp\nimport autograd.numpy as np\n"
    "defvjp(np.sin, lambda answer, x: lambda g: {rule})",
    "mygrad": "from mygrad.math.trigonometric.ops import Sin\n"
    "Sin.backward_var = lambda self, g, index, **more: {rule}",
    "jax": "from jax._src.interpreters import ad\nfrom jax._src.lax import lax\n"
    "getattr(ad, 'primitive_linearizations', {}).pop(lax.sin_p, None)\n"
    "ad.defjvp(lax.sin_p, lambda g, x, **more: {rule})",
    # What MLX's tape is asked: its own rule of the sine is of C++, so the sine is one with a rule.
    "mlx": "import mlx.core\n@mlx.core.custom_function\ndef sine(x):\n"
    "    return mlx.core.array(0.0) * x\n@sine.vjp\ndef rule(x, g, answer):\n    return {rule}\n"
    "mlx.core.sin = sine",
    # The cosine, by which PyTorch's rule of the sine multiplies: the rule itself is of C++.
    "torch": "import torch\ndef cosine(x):\n    g = torch.ones_like(x)\n    return {rule}\n"
    "rules = torch.library.Library('aten', 'IMPL')\nrules.impl('cos', cosine, 'CPU')",
}
"""The framework's own rule of the sine, replaced by another one."""


def python_of(name: str) -> str:
    """This interpreter, where it has a framework; the test is skipped where it has not."""
    if find_spec(name) is None:
        pytest.skip(f"{name} is not installed")
    return sys.executable


def answered(target: Target, case: Case) -> Answer:
    worker = Worker(target, 60.0)
    try:
        return worker.ask(Job(case, "eager")).answer
    finally:
        worker.close()


def verdict(target: Target, case: Case) -> str:
    return judge(Evidence(case, "eager", answered(target, case), None, lower(case))).verdict


def patched(name: str, rule: str, folder: Path) -> Target:
    """The framework behind its adapter, with another rule of the sine."""
    file = folder / "patched.py"
    file.write_text(f"{RULES[name].replace('{rule}', rule)}\nfrom adapters.{name} import backend\n")
    path = (str(INSIDE.parent),)
    return Target(name, str(file), ("eager",), python=python_of(name), path=path)


@pytest.mark.parametrize("name", RULES)
def test_a_wrong_rule_of_the_framework_is_caught(name: str, tmp_path: Path) -> None:
    assert verdict(parse_target(name, python_of(name)), SINE) == "pass"
    assert verdict(patched(name, "2.0 * g", tmp_path), SINE) == "fail"


@pytest.mark.parametrize("name", RULES)
def test_the_gradient_is_that_of_the_framework(name: str, tmp_path: Path) -> None:
    """A rule that raises is met: nothing else could have answered."""
    answer = answered(patched(name, "of_the_framework", tmp_path), SINE)
    assert "name 'of_the_framework' is not defined" in str(answer.error)


@pytest.mark.parametrize("name", RULES)
def test_what_a_framework_lacks_is_unsupported(name: str) -> None:
    case = one_case(entry(run=SLOPE.format(call="tf.nn.crelu(x)"), expect="{g: 1.0}"))
    answer = answered(parse_target(name, python_of(name)), case)
    assert (answer.outcome, answer.detail) == ("unsupported", f"{name} lacks tf.nn.crelu")


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize(
    ("run", "expect"),
    [
        (
            "with tf.GradientTape() as t:\n    t.watch(x)\n    with t.stop_recording():\n"
            "        y = tf.math.conj(x)\ng = t.gradient(y, x)",
            "{g: [1.0, 1.0]}",
        ),
        (
            "with tf.GradientTape() as t:\n    t.watch(x)\n    y = x + x\n"
            "g = t.batch_jacobian(y, x)",
            "{g: {error: ValueError}}",
        ),
        (
            "c = tf.constant([3.0, 4.0])\nwith tf.GradientTape() as t:\n    t.watch(x)\n"
            "    y = c + c\ng = t.jacobian(y, [y])",
            "{g: {list: [null]}}",
        ),
        (
            "with tf.GradientTape() as t:\n    t.watch(x)\n    y = tf.zeros([2, 0]) * x[0]\n"
            "g = t.jacobian(y, [x, tf.constant(1.0)])",
            "{g: {list: [{value: [[], []], shape: [2, 0, 2]}, null]}}",
        ),
        ("g = tf.range(x[1], dtype=tf.float64)", "{g: {value: [0.0, 1.0], dtype: float64}}"),
        (
            "with tf.autodiff.ForwardAccumulator(x, x) as acc:\n    with acc:\n        g = x",
            "{g: {error: ValueError}}",
        ),
        ("g = tf.autodiff.ForwardAccumulator(x, x[0])", "{g: {error: ValueError}}"),
        (
            "v = tf.Variable(tf.cast(x, tf.int32))\nwith tf.GradientTape() as t:\n    y = v + v\n"
            "g = tf.constant(len(t.watched_variables()))",
            "{g: {value: 1, dtype: int32}}",
        ),
    ],
    ids=[
        "a_real_tensor_is_its_conjugate",
        "vectors_have_no_batches",
        "a_jacobian_needs_a_watched_target",
        "a_jacobian_of_nothing_is_empty_or_none",
        "a_range_has_the_dtype_asked_for",
        "an_accumulator_that_records_is_not_entered",
        "a_tangent_has_the_shape_of_its_primal",
        "variables_of_integers_are_watched",
    ],
)
def test_the_kit_answers_as_tensorflow(name: str, run: str, expect: str) -> None:
    case = one_case(entry(inputs="{x: [1.0, 2.0]}", run=run, expect=expect))
    assert verdict(parse_target(name, python_of(name)), case) == "pass"


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize(
    ("asked", "expect"),
    [("tf.cast(x, tf.int32)", "{g: null}"), ("None", "{g: {error: AttributeError}}")],
    ids=["of_integers", "of_none"],
)
def test_what_has_no_tangent_is_answered_as_by_tensorflow(
    name: str, asked: str, expect: str
) -> None:
    run = f"with tf.autodiff.ForwardAccumulator(x, x) as acc:\n    y = {asked}\ng = acc.jvp(y)"
    case = one_case(entry(inputs="{x: [1.0, 2.0]}", run=run, expect=expect))
    assert verdict(parse_target(name, python_of(name)), case) == "pass"


@pytest.mark.parametrize(("word", "mode"), [("jax:jit", "xla"), ("torch:compile", "graph")])
def test_a_compiler_is_asked_by_its_own_name(word: str, mode: str) -> None:
    name = word.partition(":")[0]
    assert parse_target(word).modes == (mode,)
    assert parse_target(f"{name}:eager,{word.partition(':')[2]}").modes == ("eager", mode)
    with pytest.raises(TargetError, match=f"{name} has eager and "):
        parse_target(f"{name}:call")


def test_a_framework_without_a_compiler_has_one_mode() -> None:
    with pytest.raises(TargetError, match=r"autograd has eager$"):
        parse_target("autograd:graph")


def test_what_the_modes_of_tensorflow_decide_is_not_asked_of_others() -> None:
    case = one_case(entry(expect_in="{graph: {g: 7.0}}", not_applicable="{xla: no kernel}"))
    assert asked_of("tensorflow", case) is case
    other = asked_of("jax==0.10.2", case)
    assert (dict(other.expect_in), dict(other.not_applicable)) == ({}, {})
    assert other.expectations_in("graph") == case.expectations_in("eager")


@pytest.mark.parametrize("name", COMPILERS)
def test_the_compiler_of_a_framework_answers(name: str, tmp_path: Path) -> None:
    """Its function sees one call, of the whole program, and what it answers is the answer."""
    ((word, mode),) = COMPILERS[name].items()
    target = parse_target(f"{name}:{word}", python_of(name))
    file = tmp_path / "broken.py"
    file.write_text(
        f"from adapters.{name} import backend\nkind = type(backend)\nown = kind.compiled\n"
        "def broken(self, function):\n    compiled = own(self, function)\n"
        "    return lambda *arrays: [2 * one for one in compiled(*arrays)]\n"
        "kind.compiled = broken\n"
    )
    broken = replace(target, module=str(file))
    for one, expected in ((target, "pass"), (broken, "fail")):
        worker = Worker(one, 60.0)
        answer = worker.ask(Job(SINE, mode)).answer
        worker.close()
        assert judge(Evidence(SINE, mode, answer, None, lower(SINE, mode))).verdict == expected


def test_the_kit_and_its_adapters_are_short() -> None:
    def lines(*files: Path) -> int:
        return sum(bool(line.strip()) for file in files for line in file.read_text().splitlines())

    assert lines(*(INSIDE.parent / "kit").glob("*.py")) <= 600
    for adapter in (INSIDE.parent / "adapters").glob("*.py"):
        assert lines(adapter) <= 150


def test_a_framework_is_found_through_its_adapter() -> None:
    for name in ADAPTED:
        assert parse_target(f"{name}==1.2.3").module == f"adapters.{name}"
        assert (INSIDE.parent / "adapters" / f"{name}.py").is_file()


@pytest.mark.parametrize("name", RULES)
def test_a_framework_is_asked_what_is_portable(
    name: str, gradconf: Program, tmp_path: Path
) -> None:
    python_of(name)
    own = SQUARE.replace("[scalar]", "[scalar]\n    warns: words of a log")
    corpus = str(make_corpus(tmp_path, basics__squares=own))
    record = str(tmp_path / "record.jsonl")
    asked = ((), 2), (("-k", "square"), 1), (("--no-portable",), 3), (("basics/squares",), 2)
    for more, cells in asked:
        done = gradconf("run", name, "--corpus", corpus, "--output", record, *more)
        assert re.search(rf"{name} \S+ +eager +{cells} ", done.stdout), done.stdout
