"""Random programs: the oracle answers what TensorFlow answers in eager mode.

300 programs here, 20,000 by `tox run -e sweep`; GRADCONF_SWEEP_SEED draws other ones. Values are
compared with wide bounds, because a wrong rule is wrong by per cents; None, structures, dtypes,
shapes and error classes exactly.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import os
from collections import Counter
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from conformance.answers.mismatch import Mismatch, lines
from conformance.asking.ask import ORACLE
from conformance.asking.worker import Job, Worker
from conformance.corpus.catalogue import load_catalogue
from conformance.suite.agreement import (
    CALLED,
    EXPLANATIONS,
    Explanation,
    differences,
    explanation_of,
    is_of_oracle,
)
from conformance.suite.operation_texts import OWN_TEXTS, texts_of_catalogue
from conformance.suite.programs import case_of, programs
from conformance.targets.specification import Target, parse_target
from reference_impl.namespaces import TOP
from tests.reference_impl.test_reached import spellings
from tests.suite.numeric import making
from tests.suite.numeric.making import wrong_oracle

EXAMPLES = int(os.environ.get("GRADCONF_SWEEP_EXAMPLES", "200"))
SEED = int(os.environ.get("GRADCONF_SWEEP_SEED", "11"))
SECONDS = 60.0
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]

AROUND = "stands around the drawn texts"
GRAPHS = "needs a graph"
GLOBAL = "changes the process, or what it answers is not of the program alone"
OBJECTS = "is no operation: a container, a layer, a type or a check"
UNDRAWN = {
    **dict.fromkeys(
        ("GradientTape", "UnconnectedGradients", "autodiff.ForwardAccumulator"), AROUND
    ),
    **dict.fromkeys(("gradients", "hessians", "AggregationMethod"), GRAPHS),
    **dict.fromkeys(("autograph.experimental.set_loop_options",), GRAPHS),
    **dict.fromkeys(("compat.v1.get_default_graph",), GRAPHS),
    **dict.fromkeys(("RegisterGradient", "no_gradient", "compat.v1.no_gradient"), GLOBAL),
    **dict.fromkeys(("compat.v1.NoGradient", "compat.v1.NotDifferentiable"), GLOBAL),
    **dict.fromkeys(("random.set_seed", "random.shuffle", "queue.FIFOQueue"), GLOBAL),
    **dict.fromkeys(("Module", "Tensor", "RaggedTensor", "SparseTensor", "IndexedSlices"), OBJECTS),
    **dict.fromkeys(("data.Dataset", "keras.layers.Dense", "keras.layers.Lambda"), OBJECTS),
    **dict.fromkeys(("keras.Sequential", "is_tensor", "name_scope", "uint8", "bool"), OBJECTS),
    **dict.fromkeys(("debugging.assert_equal", "dtypes.experimental.float8_e5m2"), OBJECTS),
    **dict.fromkeys(("strings.as_string", "strings.to_number", "TensorSpec"), OBJECTS),
}
"""What of the oracle's names is not drawn, and why."""
KNOWN = frozenset(spellings(TOP))
TEXTS = [*itertools.chain(*texts_of_catalogue().values()), *OWN_TEXTS]
"""The operations that can be drawn."""


def is_known(text: str) -> bool:
    """Whether the oracle has what a text calls."""
    return text in OWN_TEXTS or is_of_oracle(text, KNOWN)


class Sweep:
    """An oracle and TensorFlow, and how many of their differences were explained, by the reason."""

    def __init__(self, oracle: Target = ORACLE, tensorflow: Worker | None = None) -> None:
        self.oracle = Worker(oracle, SECONDS)
        self.tensorflow = tensorflow or Worker(parse_target("tensorflow"), SECONDS)
        self.explained: Counter[str] = Counter()
        self._at_once = ThreadPoolExecutor(2)

    def unexplained(self, entry: str) -> list[Mismatch]:
        """What the two answer differently to a program, but for what is explained.

        TensorFlow is asked again in another process: programs before may have left something there.
        """
        if not self._left(entry):
            return []
        self.tensorflow.close()
        return self._left(entry)

    def _left(self, entry: str) -> list[Mismatch]:
        return [
            mismatch for mismatch in self.mismatches(entry) if not self._explain(entry, mismatch)
        ]

    def mismatches(self, entry: str) -> tuple[Mismatch, ...]:
        """What the two answer differently to a program."""
        (case,) = case_of([entry])
        job = Job(case, "eager")
        both = (self.tensorflow, self.oracle)
        expected, got = self._at_once.map(lambda worker: worker.ask(job).answer, both)
        return differences(expected, got)

    def _explain(self, entry: str, mismatch: Mismatch) -> bool:
        explanation = explanation_of(entry, mismatch)
        self.explained.update([explanation.reason] if explanation else [])
        return explanation is not None

    def close(self) -> None:
        """End both processes."""
        self.oracle.close()
        self.tensorflow.close()


@pytest.fixture(scope="module")
def sweep() -> Iterator[Sweep]:
    sweep = Sweep()
    yield sweep
    sweep.close()


def check(sweep: Sweep, examples: int, phases: Collection[Phase] = tuple(Phase)) -> None:
    """Draw programs until one is answered differently without an explanation, or all are drawn."""

    @seed(SEED)  # the same programs after this function was edited
    @settings(max_examples=examples, phases=phases, database=None, suppress_health_check=SLOW)
    @given(entry=programs(admits=is_known))
    def holds(entry: str) -> None:
        if found := sweep.unexplained(entry):
            told = [line for mismatch in found for line in lines(mismatch)]
            raise AssertionError("\n".join(["the answers differ:", *told, "", entry]))

    holds()


@pytest.mark.tensorflow
def test_the_oracle_answers_what_tensorflow_answers(sweep: Sweep) -> None:
    check(sweep, EXAMPLES)
    if EXAMPLES >= 20_000:
        often = [
            given.reason
            for given in EXPLANATIONS
            if "tensorflow" in given.targets
            and "oracle" in given.check
            and not given.run
            and not given.releases
        ]
        idle = [reason for reason in often if not sweep.explained[reason]]
        assert not idle, "explanations that explain nothing"


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    "rare", [given for given in EXPLANATIONS if given.run], ids=lambda rare: rare.program
)
def test_what_is_drawn_rarely_is_explained(sweep: Sweep, rare: Explanation) -> None:
    entry = making.entry(rare.run, inputs=rare.inputs)
    found = sweep.mismatches(entry)
    assert found
    assert all(rare.explains(entry, mismatch) for mismatch in found)


@pytest.mark.parametrize(("difference", "explained"), [(None, False), (0.5, True), (2.0, False)])
def test_rounding_explains_numbers_only(difference: float | None, explained: bool) -> None:
    mismatch = Mismatch("value", "g", "", "None", "0.0", difference=difference)
    assert Explanation("For a test.", difference=1.0).explains("", mismatch) == explained


@pytest.mark.tensorflow
def test_a_wrong_rule_is_found(tmp_path: Path, sweep: Sweep) -> None:
    file, rule = "ops/arithmetic.py", "return ct * conj(y), conj(x) * ct"
    wrong = Sweep(
        wrong_oracle(tmp_path, file, rule, rule.replace("ct", "ct * 1.1")), sweep.tensorflow
    )
    with closing(wrong.oracle), pytest.raises(AssertionError, match=r"value: (g|h)"):
        check(wrong, 300, phases=[Phase.generate])


@pytest.mark.tensorflow
def test_an_error_of_another_class_is_found(sweep: Sweep) -> None:
    """The oracle's einsum wants its output named, and says so in an error of its own."""
    entry = making.entry("g = tf.einsum('i', x)", inputs="{x: [1.0, 2.0]}")
    assert "g" in [mismatch.name for mismatch in sweep.mismatches(entry)]


def test_every_operation_is_drawn() -> None:
    """By one of its spellings: TensorFlow has many names twice."""
    drawn = {*CALLED.findall("\n".join(filter(is_known, TEXTS)))}
    operations = [operation_of(name) for name in drawn & KNOWN]
    drawn |= {name for name in KNOWN if operation_of(name) in operations}
    assert sorted(KNOWN - drawn - UNDRAWN.keys()) == []
    assert sorted(UNDRAWN.keys() & drawn | UNDRAWN.keys() - KNOWN) == []


def test_what_the_catalogue_lists_is_listed_there_alone() -> None:
    catalogue = {*itertools.chain(*texts_of_catalogue().values())}
    assert not catalogue.intersection(OWN_TEXTS)


def test_the_calls_of_the_catalogue_are_drawn() -> None:
    """A text with the inputs of its call in its holes is the call, but for an axis."""
    for operation in load_catalogue().values():
        texts = texts_of_catalogue()[operation.family]
        for variant in operation.variants:
            x, y, *others = [item.name for item in variant.inputs] * 2
            call = ast.unparse(ast.parse(variant.call))
            if len(others) <= 2 and "axis=" not in call:
                assert call in [text.format(x=x, y=y, v=x) for text in texts if "{ax" not in text]


def operation_of(spelling: str) -> Any:
    """What a name of the oracle stands for."""
    found: Any = SimpleNamespace(**TOP)
    for name in spelling.split("."):
        found = getattr(found, name)
    return inspect.unwrap(found) if callable(found) else found


@given(entry=programs())
@settings(max_examples=50)
def test_a_drawn_program_is_a_case(entry: str) -> None:
    (case,) = case_of([entry])
    assert "g" in case.expect
