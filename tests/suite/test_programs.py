"""Drawn programs are cases of the language: what they declare, they read."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from conformance.suite.operation_texts import OWN_TEXTS
from conformance.suite.programs import case_of, programs
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
