"""Profiles: rows of tables are asked eagerly, all else in every mode, and the report says so."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from conformance.asking.events import Cell
from conformance.asking.profile import PROFILES, asked_by
from conformance.corpus.language.case import DERIVATIVE, MODES
from conformance.targets.specification import Target
from tests.cases import entry, file_of, make_corpus, whole_corpus
from tests.conftest import Program

TABLE = file_of(
    **{
        "square": entry(),
        "of_${op}": entry(
            title="The value of ${op.call}",
            each="{op: {operations: {family: unary, named: [leaky_relu, tan]}}}",
            inputs="${op.inputs}",
            run="y = ${op.call}",
            expect="{y: oracle}",
        ),
    }
)


def asked(profile: str, *modes: str) -> dict[str, set[str]]:
    """The modes in which each case of the corpus is asked."""
    corpus, target = whole_corpus(), Target("tape", "tape", modes)
    wanted = asked_by(profile, corpus, [target])
    return {
        case.id: {mode for mode in (*modes, DERIVATIVE) if wanted(Cell(case.id, "tape", mode))}
        for case in corpus
    }


def test_full_asks_for_every_cell() -> None:
    assert set(map(frozenset, asked("full", *MODES).values())) == {frozenset((*MODES, DERIVATIVE))}


def test_default_asks_every_case_eagerly_and_each_operation_once_in_each_mode() -> None:
    found, cases = asked("default", *MODES), {case.id: case for case in whole_corpus()}
    fewer = {id for id, modes in found.items() if modes != {*MODES, DERIVATIVE}}
    assert {frozenset(found[id]) for id in fewer} == {frozenset(("eager", DERIVATIVE))}
    assert all(cases[id].operation for id in fewer)
    everywhere = [case.operation for id, case in cases.items() if id not in fewer]
    operations = [operation for operation in everywhere if operation]
    assert sorted(operations) == sorted({case.operation for case in cases.values()} - {""})
    assert len(fewer) > 500


def test_default_asks_the_shortest_program_of_an_operation_in_each_mode() -> None:
    found, cases = asked("default", *MODES), [case for case in whole_corpus() if case.operation]
    shortest: dict[str, int] = {}
    for case in cases:
        shortest[case.operation] = min(len(case.run), shortest.get(case.operation, len(case.run)))
    everywhere = {c.operation: len(c.run) for c in cases if found[c.id] == {*MODES, DERIVATIVE}}
    assert everywhere == shortest


def test_a_target_that_is_not_asked_eagerly_is_asked_everything() -> None:
    assert asked("default", "graph", "xla") == asked("full", "graph", "xla")


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    folder = make_corpus(tmp_path)
    (folder / "basics" / "table.yaml").write_text(TABLE)
    return str(folder)


def told(done: subprocess.CompletedProcess[str]) -> str:
    """What a command printed, in one line."""
    return " ".join(done.stdout.split())


TAPE = str(Path(__file__).parent.parent / "broken" / "always_zero.py") + ":eager,graph"
LEFT_OUT = "profile default: rows of tables left out, 2 in graph; --profile full asks them too"
FULL = "profile full: every case in every mode"


def test_a_run_says_what_its_profile_left_out(
    gradconf: Program, corpus: str, tmp_path: Path
) -> None:
    """Three rows are of leaky_relu and one of tan."""
    record, words = str(tmp_path / "run.jsonl"), ("--corpus", corpus)
    assert LEFT_OUT in told(gradconf("run", TAPE, *words, "--output", record))
    assert LEFT_OUT in told(gradconf("report", record, *words))
    assert FULL in told(gradconf("run", TAPE, *words, "--profile", "full"))
    assert FULL in told(gradconf("run", TAPE, *words, "basics/table"))
    assert "profile" not in gradconf("run", "reference", *words).stdout


def test_what_a_profile_left_out_is_no_change(
    gradconf: Program, corpus: str, tmp_path: Path
) -> None:
    records = [str(tmp_path / f"{profile}.jsonl") for profile in PROFILES]
    for profile, record in zip(PROFILES, records, strict=True):
        gradconf("run", TAPE, "--corpus", corpus, "--profile", profile, "--output", record)
    for pair in (records, records[::-1]):
        done = gradconf("diff", *pair, "--corpus", corpus, "--fail-on", "any")
        assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "conforms")


def test_a_full_run_resumes_a_default_one(gradconf: Program, corpus: str, tmp_path: Path) -> None:
    words = ("run", TAPE, "--corpus", corpus, "--output", str(tmp_path / "run.jsonl"))
    gradconf(*words)
    assert FULL in told(gradconf(*words, "--profile", "full", "--resume"))
    assert FULL in told(gradconf(*words, "--resume"))  # nothing of it is left out again
