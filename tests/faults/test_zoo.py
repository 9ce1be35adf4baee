"""The fault zoo: each misbehaving target is told apart, costs one cell and leaves no process."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest

from conformance.answers.mismatch import lines as mismatch_lines
from conformance.asking import session
from conformance.asking.ask import ORACLE, ask
from conformance.asking.events import Event
from conformance.corpus.language.case import Case
from conformance.corpus.language.loader import load_text
from conformance.targets.specification import parse_target
from conformance.verdicts.findings import Finding, Findings, Reviewer
from tests.asking.making import TEXT
from tests.faults.processes import MARK, left

BROKEN = Path(__file__).parent.parent / "broken"
TIMEOUT = 2.0
ZOO = [
    ("dies", "crash", "ended by signal SIGABRT"),
    ("segfaults", "crash", "ended by signal SIGSEGV"),
    ("is_killed", "crash", "ended by signal SIGKILL, as Linux does where memory runs out"),
    ("ends_by_a_nameless_signal", "crash", "ended by signal 40"),
    ("exits", "crash", "ended with exit code 7"),
    ("exits_in_order", "crash", "ended with exit code 0"),
    ("says_half", "crash", "ended with exit code 0 in the middle of a reply"),
    ("closes_descriptors", "crash", "ended with exit code 1"),
    ("dies_before_its_child", "crash", "ended by signal SIGABRT"),
    ("hangs", "timeout", "no answer in 2 seconds"),
    ("spins", "timeout", "no answer in 2 seconds"),
    ("sleeps_in_c", "timeout", "no answer in 2 seconds"),
    ("stops", "timeout", "no answer in 2 seconds"),
    ("leaves_children", "timeout", "no answer in 2 seconds"),
    ("prints_everywhere", "error", "not a line of JSON"),
    ("answers_another_cell", "error", "to another request"),
    ("replies_without_end", "error", "longer than 16,777,216 bytes"),
    ("exhausts_memory", "fail", "MemoryError"),
    ("raises_system_exit", "fail", "SystemExit: a target's own"),
    ("raises_keyboard_interrupt", "fail", "KeyboardInterrupt: a target's own"),
    ("raises_generator_exit", "fail", "GeneratorExit: a target's own"),
    ("numpy_raises", "fail", "not observed: reading it raised OSError"),
    ("numpy_lies", "fail", "dtype: g: got string, expected float32"),
    ("answers_without_end", "fail", "more than 20,000 values"),
    ("answers_a_terabyte", "fail", "more than 4,194,304 bytes"),
    ("always_zero", "fail", "zero: g: got 0.0, expected 6.0"),
    ("answers_floats", "fail", "structure: g: got 6.0 (Python float), expected 6.0\n  a tensor is"),
    ("answers_numpy", "fail", "structure: g: got 6.0 (NumPy float32), expected 6.0\n  a tensor is"),
    ("numpy_tensors", "pass", ""),
    ("prints_noise", "pass", ""),
    ("leaves_threads", "pass", ""),
    ("leaves_a_daemon", "pass", ""),
    ("forks", "pass", ""),
]
NOT_STARTED = [
    ("cannot_be_imported", "cannot be imported: ImportError: libmissing.so"),
    ("hangs_on_import", "did not start: no answer in 2 seconds"),
    ("dies_on_import", "did not start: ended with exit code 3"),
]


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch) -> str:
    """A mark that every process of the test inherits."""
    mark = uuid.uuid4().hex
    monkeypatch.setenv(MARK, mark)
    return mark


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return load_text(TEXT)


@pytest.fixture(scope="module")
def oracle(cases: list[Case]) -> list[Event]:
    return list(ask(cases, [ORACLE]))


def judged(cases: list[Case], oracle: list[Event], name: str) -> dict[str, Finding]:
    """What is said of each cell of a target, by the last word of the case's name."""
    target = parse_target(str(BROKEN / f"{name}.py"))
    results = Findings({target.label: target.modes})
    reviewer = Reviewer(results, cases, [])
    for event in (*oracle, *ask(cases, [target], timeout=TIMEOUT)):
        reviewer.add(event)
    assert len(results.cells) == len(cases)
    return {found.cell.case.rsplit("/")[-1]: found for found in results.cells}


def said_of(found: Finding) -> str:
    """What a report says of a cell."""
    told = [line for mismatch in found.mismatches for line in mismatch_lines(mismatch)]
    return "\n".join([*told, found.note])


@pytest.mark.parametrize(("name", "verdict", "told"), ZOO, ids=[name for name, _, _ in ZOO])
def test_a_fault_is_told_apart_and_costs_one_cell(
    cases: list[Case], oracle: list[Event], mark: str, name: str, verdict: str, told: str
) -> None:
    found = judged(cases, oracle, name)
    assert (found["backward"].verdict, told in said_of(found["backward"])) == (verdict, True), (
        said_of(found["backward"])
    )
    assert [found[other].verdict for other in ("forward", "forward_again")] == ["pass", "pass"]
    assert left(mark) == []


@pytest.mark.parametrize(("name", "told"), NOT_STARTED, ids=[name for name, _ in NOT_STARTED])
def test_a_target_that_does_not_start_says_why(
    monkeypatch: pytest.MonkeyPatch,
    cases: list[Case],
    oracle: list[Event],
    mark: str,
    name: str,
    told: str,
) -> None:
    monkeypatch.setattr(session, "START_TIMEOUT", TIMEOUT)
    for found in judged(cases, oracle, name).values():
        assert (found.verdict, told in said_of(found)) == ("not_run", True), said_of(found)
    assert left(mark) == []
