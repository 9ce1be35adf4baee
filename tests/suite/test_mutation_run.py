"""Bite: what is caught, what survives, and what says nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.corpus.cases import load_corpus
from conformance.suite import mutation_run
from conformance.suite.mutation import control, load_mutants, make
from conformance.suite.mutation_run import (
    NULL_TARGETS,
    NULLS,
    MutationRun,
    Tally,
    failed_by,
    null_targets,
    shown,
)
from tests.cases import RUN, entry, file_of, make_corpus
from tests.suite.making import (
    ANOTHER_COMMENT,
    CANNOT_BE_IMPORTED,
    HANGS,
    SQUARE_IS_ODD,
    make_mutants,
)

ISOLATED = file_of(
    "Alone.",
    cube=entry(
        "The cube has slope three x squared",
        isolated="true",
        run=RUN.replace("x * x", "x * x * x"),
        expect="{g: 27.0}",
    ),
)


@pytest.fixture
def workshop(tmp_path: Path) -> Path:
    return tmp_path


def tally_of(workshop: Path, text: str, **files: str) -> Tally:
    """What a small corpus says of one mutant."""
    mutation = MutationRun(load_corpus(make_corpus(workshop, **files)))
    assert not mutation.ask_control(control(workshop)).kills
    (mutant,) = load_mutants(make_mutants(workshop, example=text))
    (found,) = mutation.tallies([make(mutant, workshop)], 2)
    return found


def test_the_control_passes_every_case(workshop: Path) -> None:
    found = MutationRun(load_corpus(make_corpus(workshop))).ask_control(control(workshop))
    assert (found.passed, found.applicable, found.kills, found.fault) == (3, 3, [], "")


def test_a_mistake_is_caught_by_the_cases_that_show_it(workshop: Path) -> None:
    found = tally_of(workshop, SQUARE_IS_ODD)
    assert found.caught
    assert found.kills == ["basics/squares/square", "basics/squares/persistent_square"]
    assert (found.passed, found.applicable) == (1, 3)


def test_an_edit_that_changes_nothing_survives(workshop: Path) -> None:
    found = tally_of(workshop, ANOTHER_COMMENT)
    assert not found.caught
    assert (found.kills, found.passed, found.fault) == ([], 3, "")


def test_a_mutant_that_does_not_start_is_not_caught(workshop: Path) -> None:
    found = tally_of(workshop, CANNOT_BE_IMPORTED)
    assert not found.caught
    assert "misspelt" in found.fault


def test_a_mutant_that_hangs_is_caught_and_not_asked_for_ever(
    workshop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mutation_run, "TIMEOUT", 0.5)
    monkeypatch.setattr(mutation_run, "MAX_LOST", 2)
    found = tally_of(workshop, HANGS)
    assert found.caught
    assert found.kills == ["basics/squares/square", "basics/squares/persistent_square"]
    assert found.passed == 0


def test_cases_with_a_process_of_their_own_are_asked_too(workshop: Path) -> None:
    found = tally_of(workshop, SQUARE_IS_ODD, alone__cubes=ISOLATED)
    assert "alone/cubes/cube" in found.kills
    assert found.applicable == 4


IN_GRAPHS = file_of(
    "In graphs.",
    symbolic=entry(
        "A symbolic gradient",
        run="y = x * x\ng = tf.gradients(y, x)",
        expect="{g: {list: [6.0]}}",
        not_applicable="{eager: tf.gradients is refused in eager execution}",
    ),
)


def test_a_case_that_eager_execution_refuses_is_asked_in_a_graph(workshop: Path) -> None:
    found = tally_of(workshop, SQUARE_IS_ODD, basics__graphs=IN_GRAPHS)
    assert "basics/graphs/symbolic" in found.kills


ROW = entry(
    each="{f: [{name: a, x: 1.0}, {name: b, x: 2.0}]}", inputs='{x: "${f.x}"}', expect="{g: oracle}"
)
ROWS = file_of("Rows.", **{"row_${f}": ROW})
OTHERS = file_of("Others.", one=entry(), two=entry())


def test_what_fails_each_case_leaves_out_what_fails_a_fifth_of_all_entries(workshop: Path) -> None:
    cases = load_corpus(make_corpus(workshop, more__rows=ROWS, more__others=OTHERS))
    rows = [case.id for case in cases if case.id.startswith("more/rows")]
    others = [case.id for case in cases if case.id not in rows]
    first, second, third, *_ = others
    tallies = [
        Tally("of a table", kills=rows, passed=5),
        Tally("wide", kills=[first, second], passed=5),
        Tally("at fault", kills=[third], passed=6, fault="it did not start"),
    ]
    assert len(rows) == 2
    found = failed_by(cases, tallies)
    assert found == {id: ["of a table"] if id in rows else [] for id in (*rows, *others)}


GRAPHS_DIFFER = file_of(
    "In graphs.",
    other=entry("A graph answers another thing", expect_in="{graph: {g: 7.0}}"),
)


def test_a_mutant_of_graphs_fails_what_graphs_answer_differently(workshop: Path) -> None:
    text = "mistake: m\nbreaks: contract/52c\nmode: graph\nedits: []\n"
    found = tally_of(workshop, text, basics__graphs=GRAPHS_DIFFER)
    assert (found.kills, found.passed) == (["basics/graphs/other"], 3)


def test_a_mutant_shows_what_it_breaks_by_a_case_that_cites_it_and_fails(workshop: Path) -> None:
    cases = load_corpus(make_corpus(workshop))
    source = cases[0].sources[0]
    breaks = {"right": [source, "contract/999"], "wrong": [source]}
    tallies = [Tally("right", kills=[cases[0].id]), Tally("wrong")]
    assert shown(cases, breaks, tallies) == {
        "right": {source: cases[0].id, "contract/999": ""},
        "wrong": {source: ""},
    }


def test_the_null_targets_are_those_that_their_file_defines() -> None:
    text = NULL_TARGETS.read_text()
    defined = [
        line.split(" = ")[0]
        for line in text.splitlines()
        if "Target(lambda" in line or "Target(_" in line
    ]
    assert tuple(defined) == NULLS
    assert [target.label for target in null_targets()] == list(NULLS)


QUERIES = """
introduction: Every query.
cases:
  queries:
    title: What a target answers to each query
    source: contract/s1
    inputs: {x: [[2.0, 3.0]]}
    run: |
      with tf.GradientTape(persistent=True) as t:
          t.watch(x)
          y = x * x
      g = t.gradient(y, [x], output_gradients=[tf.constant([[7.0, 11.0]])])
      j = t.jacobian(y, {"x": x})
      b = t.batch_jacobian(y, x)
      with tf.GradientTape() as other:
          other.watch(x)
          z = x * x
      a = other.gradient(z, x)
      with tf.autodiff.ForwardAccumulator(x, tf.constant([[5.0, 6.0]])) as accumulator:
          z = x * x
      f = accumulator.jvp(z)
      s = tf.gradients(y, x, grad_ys=tf.constant([[7.0, 11.0]]))
    expect:
      g: {list: [GRADIENT]}
      j: {dict: {x: JACOBIAN}}
      b: BATCH
      a: ALIAS
      f: FORWARD
      s: {list: [GRADIENT]}
"""
Y = "[[4.0, 9.0]]"
ONES = "[[1.0, 1.0]]"


WORDS = ("GRADIENT", "JACOBIAN", "BATCH", "ALIAS", "FORWARD")


def filled(value: str) -> tuple[str, ...]:
    row = f"[{value}, {value}]"
    return f"[{row}]", f"[[[{row}], [{row}]]]", f"[[{row}, {row}]]", f"[{row}]", f"[{row}]"


ANSWERS = {
    "none": ("null",) * 5,
    "zeros": filled("0.0"),
    "zero_operations": filled("0.0"),
    "ones": filled("1.0"),
    "nan": filled(".nan"),
    "returns_target": (Y,) * 5,
    "returns_upstream": ("[[7.0, 11.0]]", ONES, ONES, ONES, ONES),
}


def passed_by(name: str, text: str, folder: Path) -> Tally:
    """What a case says of a null target."""
    corpus = load_corpus(make_corpus(folder, null__queries=text))
    mutation = MutationRun([case for case in corpus if case.id == "null/queries/queries"])
    (target,) = [target for target in null_targets() if target.label == name]
    (found,) = mutation.tallies([target], 1)
    return found


@pytest.mark.parametrize("name", ANSWERS)
def test_a_null_target_gives_what_its_name_says_to_every_query(tmp_path: Path, name: str) -> None:
    text = QUERIES
    for word, answer in zip(WORDS, ANSWERS[name], strict=True):
        text = text.replace(word, answer)
    found = passed_by(name, text, tmp_path)
    assert (found.passed, found.kills, found.fault) == (1, [], "")


def test_the_null_target_that_raises_raises_for_every_query(tmp_path: Path) -> None:
    text = QUERIES.replace("{dict: {x: JACOBIAN}}", "ERROR").replace("{list: [GRADIENT]}", "ERROR")
    for word in ("BATCH", "ALIAS", "FORWARD"):
        text = text.replace(word, "ERROR")
    error = "{error: RuntimeError, message: differentiates nothing}"
    found = passed_by("raises", text.replace("ERROR", error), tmp_path)
    assert (found.passed, found.kills, found.fault) == (1, [], "")
