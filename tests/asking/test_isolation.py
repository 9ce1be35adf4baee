"""A cell's answer does not depend on what ran before it: in any order, or alone in its process."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

import pytest

from conformance.answers.text import steady
from conformance.answers.wire import line_of
from conformance.asking.ask import ORACLE, ask
from conformance.asking.events import Answered
from conformance.corpus.language.case import Case
from conformance.corpus.language.document import CaseFileError
from conformance.corpus.language.loader import load_text
from conformance.targets.specification import Target, parse_target
from tests.cases import whole_corpus

Answers: TypeAlias = "dict[tuple[str, str], str]"

MESSAGE = re.compile(r'(?<="message": )("(?:[^"\\]|\\.)*")')
SAMPLE = 300
"""Cases of the sample, in every mode: rows of a table are much alike."""
TENSORFLOW = parse_target("tensorflow:eager,graph,xla,call")
LEAKING = """
introduction: For tests of isolation.
cases:
  ${which}:
    title: A gradient is registered, and another one under the same name
    source: contract/s28
    each: {which: [first, second]}
    isolated: true
    run: |
      @tf.RegisterGradient("AName")
      def gradient(op, upstream):
          return upstream
      registered = 1.0
    expect: {registered: 1.0}
"""


@pytest.fixture(scope="module")
def corpus() -> list[Case]:
    """The cases that share a process with others."""
    return [case for case in whole_corpus() if not case.isolated]


def answers(cases: Sequence[Case], target: Target, workers: int = 1) -> Answers:
    """The raw answer of each cell, bit for bit but for what a message says of its process."""
    found = {}
    for event in ask(cases, [target], workers=workers, wanted=lambda cell: cell.runs):
        if isinstance(event, Answered):
            line = {**line_of(event.answer), "seconds": 0}
            line["warnings"] = list(map(steady, event.answer.warnings))
            found[event.cell.case, event.cell.mode] = MESSAGE.sub(_steady, json.dumps(line))
    return found


def _steady(message: re.Match[str]) -> str:
    return json.dumps(steady(json.loads(message[1])))


def shuffled(cases: Sequence[Case], seed: int) -> list[Case]:
    return random.Random(seed).sample(cases, len(cases))


def alone(cases: Sequence[Case]) -> list[Case]:
    """The cases, each with a process of its own."""
    return [replace(case, isolated=True) for case in cases]


def check_same(found: Answers, due: Answers) -> None:
    differing = [cell for cell in found if found[cell] != due[cell]]
    assert found
    assert not differing, "\n".join(f"{cell}\n  {due[cell]}\n  {found[cell]}" for cell in differing)


def test_a_sample_gives_the_same_observations_in_any_order_and_alone(corpus: list[Case]) -> None:
    sample = corpus[:: len(corpus) // SAMPLE]
    in_order = answers(sample, ORACLE)
    for seed in (1, 2):
        found = answers(shuffled(sample, seed), ORACLE)
        assert found.keys() == in_order.keys()
        check_same(found, in_order)
    check_same(answers(alone(sample[::8]), ORACLE), in_order)


@pytest.mark.slow
def test_the_corpus_gives_the_same_observations_in_another_order_and_alone(
    corpus: list[Case],
) -> None:
    in_order = answers(corpus, ORACLE)
    check_same(answers(shuffled(corpus, 1), ORACLE), in_order)
    check_same(answers(alone(corpus[:: len(corpus) // SAMPLE]), ORACLE), in_order)


@pytest.mark.slow
@pytest.mark.tensorflow
def test_tensorflow_gives_the_same_observations_in_any_order_and_alone(
    corpus: list[Case],
) -> None:
    """A sample in another order, and a quarter of its cells alone."""
    sample = corpus[:: len(corpus) // SAMPLE]
    due = answers(sample, TENSORFLOW)
    check_same(answers(shuffled(sample, 1), TENSORFLOW), due)
    check_same(answers(alone(sample[::4]), TENSORFLOW, workers=2), due)


def test_a_case_that_leaks_is_found() -> None:
    cases = load_text(LEAKING)
    check_same(answers(cases[::-1], ORACLE), answers(cases, ORACLE))
    leaking = [replace(case, isolated=False) for case in cases]
    due = answers(leaking, ORACLE)
    for found in (answers(leaking[::-1], ORACLE), answers(cases, ORACLE)):
        with pytest.raises(AssertionError, match="KeyError"):
            check_same(found, due)


@pytest.mark.parametrize(
    "statement",
    [
        '@tf.RegisterGradient("AName")\n      def f(op, upstream):\n          return upstream',
        'tf.no_gradient("Square")',
        'tf.compat.v1.NotDifferentiable("Square")',
        "mark = tf.compat.v1.no_gradient",
        "tf.register_tensor_conversion_function(tf.Module, lambda v: v)",
    ],
)
def test_a_case_that_changes_its_process_must_be_isolated(statement: str) -> None:
    text = (
        "introduction: a\ncases:\n  a:\n    title: a\n    source: contract/1\n"
        f"    run: |\n      {statement}\n      g = tf.constant(1.0)\n    expect: {{g: 1.0}}\n"
    )
    with pytest.raises(CaseFileError, match=r"text\.yaml:7:\d+ .*changes the process"):
        load_text(text)


def test_an_isolated_case_may_change_its_process() -> None:
    assert [case.isolated for case in load_text(LEAKING)] == [True, True]
    with pytest.raises(CaseFileError, match="add isolated: true"):
        load_text(LEAKING.replace("isolated: true", "isolated: false"))
