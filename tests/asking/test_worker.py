"""Workers: their processes are replaced where they must be, and shared where that is safe."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from conformance.answers.answer import Answer
from conformance.asking import seat
from conformance.asking.ask import ORACLE
from conformance.asking.worker import Job, TargetChanged, Worker
from conformance.corpus.language.case import Case
from conformance.corpus.language.loader import load_text
from conformance.drivers import Limits
from conformance.targets.specification import Target, parse_target
from tests.asking.making import BROKEN, TEXT, broken, children_of

CASES = load_text(TEXT)
ALONE = load_text(TEXT.replace("    title:", "    isolated: true\n    title:"))


@contextmanager
def started(target: Target, timeout: float = 30.0, **more) -> Iterator[tuple[Worker, list]]:
    """A worker, and what its processes say when they start."""
    starts: list[object] = []
    found = Worker(target, timeout, starts.append, **more)
    try:
        yield found, starts
    finally:
        found.close()
    assert children_of(os.getpid()) == []


def answers(found: Worker, cases: Sequence[Case], mode: str = "eager") -> list[Answer]:
    return [found.ask(Job(case, mode)).answer for case in cases]


def test_what_a_case_declares_not_applicable_starts_nothing() -> None:
    with started(Target("reference", "reference_impl", ("graph",))) as (found, starts):
        (answer,) = answers(found, CASES[2:], "graph")
        assert (answer.outcome, answer.detail) == ("not_applicable", "this says so")
        assert starts == []


def test_what_a_target_declares_to_lack_is_unsupported() -> None:
    text = TEXT.replace("inputs: {x: 4.0}", "inputs: {x: {variable: 4.0}}")
    with started(broken("lacks_names")) as (found, _):
        _, backward, again = answers(found, load_text(text))
        assert backward.outcome == "answered"
        assert again.outcome == "unsupported"
        assert "declares that it lacks Variable" in again.detail


def test_an_answer_does_not_tell_where_a_target_is_installed() -> None:
    with started(broken("tells_folders")) as (found, _):
        (answer,) = answers(found, CASES[1:2])
        assert answer.error is not None
        assert answer.error.message == "no kernel in lib, asked by inside/execution.py"


@pytest.mark.parametrize(("after", "processes"), [(3, 1), (2, 2), (1, 3)])
def test_a_process_is_replaced_before_its_memory_grows(
    monkeypatch: pytest.MonkeyPatch, after: int, processes: int
) -> None:
    monkeypatch.setattr(seat, "RECYCLE_AFTER", after)
    with started(ORACLE) as (found, starts):
        assert [answer.outcome for answer in answers(found, CASES)] == ["answered"] * 3
        assert len(starts) == processes


@pytest.mark.parametrize(("target", "processes"), [(ORACLE, 1), (broken("starts_a_thread"), 4)])
def test_isolated_cases_share_the_import_where_a_fork_is_safe(
    target: Target, processes: int
) -> None:
    with started(target) as (found, starts):
        assert {answer.outcome for answer in answers(found, [*ALONE, *CASES])} == {"answered"}
        assert len(starts) == processes


@pytest.mark.parametrize(
    ("name", "outcome", "detail"),
    [
        ("dies", "crash", "SIGABRT"),
        ("segfaults", "crash", "SIGSEGV"),
        ("exits", "crash", "exit code 7"),
        ("exits_in_order", "crash", "exit code 0"),
        ("hangs", "timeout", "no answer"),
        ("forks", "answered", ""),
    ],
)
def test_what_an_isolated_case_does_costs_its_cell(name: str, outcome: str, detail: str) -> None:
    with started(broken(name), 3.0) as (found, _):
        forward, backward, again = answers(found, ALONE)
        assert (backward.outcome, detail in backward.detail) == (outcome, True)
        assert {forward.outcome, again.outcome} == {"answered"}


def test_a_target_that_changed_between_two_processes_is_asked_no_more(tmp_path: Path) -> None:
    file = tmp_path / "changes_itself.py"
    file.write_text((BROKEN / file.name).read_text())
    limits = Limits(confined=False)
    with started(parse_target(str(file)), limits=limits) as (found, _):
        assert [answer.outcome for answer in answers(found, CASES[:2])] == ["answered", "crash"]
        with pytest.raises(TargetChanged, match="changed during the run: digest"):
            answers(found, CASES[2:])


def test_a_target_that_cannot_be_started_is_not_run_and_says_why() -> None:
    with started(broken("cannot_be_imported")) as (found, starts):
        assert [answer.outcome for answer in answers(found, CASES)] == ["not_run"] * 3
        assert "libmissing.so" in found.failure
        assert starts == []
