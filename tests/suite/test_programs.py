"""Drawn programs are cases of the language: what they declare, they read."""

from __future__ import annotations

from itertools import chain

import pytest
from hypothesis import HealthCheck, given, settings

from conformance.suite.drawing import drawn
from conformance.suite.operation_texts import OWN_TEXTS
from conformance.suite.programs import CHOICES, FILLERS, HOLE, case_of, programs
from conformance.suite.query_texts import QUERIES
from conformance.suite.rewriting import Program

KEYWORD = "tf.raw_ops.Inv(x={x})"
"""A call with an argument that is named as an input of programs is."""


@given(entry=programs(admits=lambda text: text == KEYWORD or text in OWN_TEXTS))
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_drawn_program_is_a_case(entry: str) -> None:
    (case,) = case_of([entry])
    assert {item.name for item in case.inputs} <= {"x", "y", "z"}


def test_a_keyword_is_no_input() -> None:
    given = {name: {"constant": 2.0, "dtype": "float64"} for name in "xy"}
    program = Program(given, "g = tf.raw_ops.Inv(x=y)", {"g": "oracle"})
    (case,) = case_of([program.entry()])
    assert [item.name for item in case.inputs] == ["y"]


def test_every_hole_of_a_query_is_filled_and_no_filler_is_idle() -> None:
    holes = {name.rstrip("0123456789") for name in HOLE.findall("".join(QUERIES))}
    assert holes == {*CHOICES, *FILLERS}


@pytest.fixture(scope="module")
def drawn_entries() -> str:
    """What 300 programs of one seed say."""
    entries = (drawn(1, batch, lambda text: text in OWN_TEXTS) for batch in range(3))
    return "\n".join(chain.from_iterable(entries))


@pytest.mark.parametrize(
    "part",
    [
        *("persistent=True", "watch_accessed_variables=False", "stop_recording()", "tape.reset()"),
        *("outer.gradient", "third.gradient", "tape.jacobian", "tape.batch_jacobian", "acc.jvp"),
        *("tf.gradients", "tf.hessians", "@tf.custom_gradient", "grad_pass_through"),
        *("recompute_grad", "tf.cond", "tf.while_loop", "tf.switch_case", "@tf.function"),
        *(".assign(", ".assign_add(", "output_gradients=", "unconnected_gradients='zero'"),
        *("trainable: false", "variable: ", "float32", "complex128", "int32", "[[], []]", "{'k9'"),
    ],
)
def test_strategies_reach_every_part_of_a_tape(part: str, drawn_entries: str) -> None:
    assert part in drawn_entries
