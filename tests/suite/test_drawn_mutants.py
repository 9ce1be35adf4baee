"""A mutant is found by the first program that it answers otherwise, and by no other."""

from __future__ import annotations

from pathlib import Path

from conformance.suite.mutation import load_mutants
from conformance.suite.programs import case_of
from conformance.suite.rewriting import Program
from tests.suite.drawn_mutants import found_by, told

RUN = "with tf.GradientTape() as tape:\n    tape.watch(x)\n    y = {y}\ng = tape.gradient(y, x)"
INPUTS = {"x": {"constant": 3.0, "dtype": "float64"}}


def test_a_mutant_is_found_by_the_first_program_that_shows_it(tmp_path: Path) -> None:
    runs = [RUN.format(y=text) for text in ("x + x", "2.0 - x", "1.0 - x")]
    programs = [case_of([Program(INPUTS, run, {"g": "oracle"}).entry()])[0] for run in runs]
    mutants = [one for one in load_mutants() if one.name in ("sub_sign", "cos_sign")]
    found = found_by(programs, mutants, tmp_path)
    assert found == {"sub_sign": programs[1]}
    assert told(mutants, found).endswith("not found: cos_sign\nall: 1 of 2, 50%")
