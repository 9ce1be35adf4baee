"""What a target declares that it lacks: which cases use it."""

from __future__ import annotations

import pytest

from conformance.asking.lacks import lacking, unknown
from conformance.corpus.language.lowering import lower
from tests.cases import entry, one_case

RUN = "with tf.GradientTape() as t:\n    t.watch(x)\n    y = tf.reduce_sum(x, axis=0)\n"
CASE = one_case(entry(inputs="{x: [1.0]}", run=f"{RUN}g = t.gradient(y, x)", expect="{g: [1.0]}"))


@pytest.mark.parametrize(
    ("entry", "used"),
    [
        ("reduce_sum", "reduce_sum"),
        ("reduce_sum(axis)", "reduce_sum(axis)"),
        ("reduce_sum(keepdims)", ""),
        ("reduce_max(axis)", ""),
        ("GradientTape", "GradientTape"),
        ("GradientTape.gradient", "GradientTape.gradient"),
        ("GradientTape.gradient(output_gradients)", ""),
        ("GradientTape.jacobian", ""),
        ("watch", "watch"),
        ("second_order", ""),
        ("eager", "the mode eager"),
        ("graph", ""),
        ("nn", ""),
    ],
)
def test_what_a_case_uses_of_it(entry: str, used: str) -> None:
    assert list(unknown([entry])) == []
    assert lacking(CASE, lower(CASE), "eager", [entry]) == [used] * bool(used)


def test_a_keyword_of_a_method_is_found() -> None:
    case = one_case(entry(run=f"{RUN}g = t.gradient(y, x, output_gradients=y)"))
    lacks = ["GradientTape.gradient(output_gradients)"]
    assert lacking(case, lower(case), "eager", lacks) == lacks
