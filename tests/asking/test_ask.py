"""Running cells: whatever a target does, every cell ends in one answer and no process stays."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conformance.asking import worker
from conformance.asking.ask import ORACLE, ask
from conformance.asking.events import Answered, TargetFailed, TargetReady
from conformance.corpus.language.case import Case
from conformance.corpus.language.loader import load_text
from conformance.drivers import Limits
from conformance.targets.specification import Target, parse_target
from tests.asking.making import BROKEN, TEXT, broken

CEILING = 120.0
"""Seconds after which something hangs, on a machine that is busy with other things."""


@pytest.fixture
def cases() -> list[Case]:
    return load_text(TEXT)


def outcomes(cases: list[Case], target: Target, timeout: float = 30.0) -> dict[str, str]:
    return {
        event.cell.case.rsplit("/")[-1]: event.answer.outcome
        for event in ask(cases, [target], timeout=timeout)
        if isinstance(event, Answered)
    }


@pytest.mark.parametrize(("name", "outcome"), [("dies", "crash"), ("hangs", "timeout")])
def test_a_worker_that_is_lost_costs_one_cell(cases: list[Case], name: str, outcome: str) -> None:
    found = outcomes(cases, broken(name), timeout=1.5)
    assert found == {"forward": "answered", "backward": outcome, "forward_again": "answered"}


def test_a_target_that_cannot_start_runs_nothing(cases: list[Case]) -> None:
    events = list(ask(cases, [broken("cannot_be_imported")]))
    failures = [event for event in events if isinstance(event, TargetFailed)]
    assert len(failures) == 1
    assert "libmissing.so" in failures[0].reason
    answers = [event.answer for event in events if isinstance(event, Answered)]
    assert [answer.outcome for answer in answers] == ["not_run"] * 3


def test_what_a_case_declares_not_applicable_does_not_run(cases: list[Case]) -> None:
    target = Target("reference", "reference_impl", ("graph",))
    (answer,) = (event.answer for event in ask(cases[2:], [target]) if isinstance(event, Answered))
    assert (answer.outcome, answer.detail) == ("not_applicable", "this says so")


def test_what_a_target_declares_to_lack_is_unsupported() -> None:
    text = TEXT.replace("inputs: {x: 4.0}", "inputs: {x: {variable: 4.0}}")
    found = outcomes(load_text(text), broken("lacks_names"))
    assert found["backward"] == "answered"
    assert found["forward_again"] == "unsupported"


def test_an_answer_does_not_tell_where_a_target_is_installed(cases: list[Case]) -> None:
    (answer,) = (
        event.answer
        for event in ask(cases[1:2], [broken("tells_folders")])
        if isinstance(event, Answered)
    )
    assert answer.error is not None
    assert answer.error.message == "no kernel in lib, asked by inside/execution.py"


def test_a_worker_is_replaced_before_its_memory_grows(
    cases: list[Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    for after, workers in ((3, 1), (2, 2), (1, 3)):
        monkeypatch.setattr(worker, "RECYCLE_AFTER", after)
        events = list(ask(cases, [ORACLE]))
        assert sum(isinstance(event, TargetReady) for event in events) == workers
        answered = [event.answer for event in events if isinstance(event, Answered)]
        assert [answer.outcome for answer in answered] == ["answered"] * 3


ISOLATED = TEXT.replace("    title:", "    isolated: true\n    title:")


@pytest.mark.parametrize(("target", "workers"), [(ORACLE, 1), (broken("starts_a_thread"), 3)])
def test_isolated_cases_share_the_import_where_a_fork_is_safe(target: Target, workers: int) -> None:
    text = TEXT + ISOLATED[ISOLATED.index("  forward:") :].replace("ward", "ward_alone")
    events = list(ask(load_text(text), [target]))
    assert sum(isinstance(event, TargetReady) for event in events) == workers + (workers > 1)
    answered = [event for event in events if isinstance(event, Answered)]
    assert {event.answer.outcome for event in answered} == {"answered"}
    assert ["alone" in event.cell.case for event in answered] == [True] * 3 + [False] * 3


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
    found = {
        event.cell.case.rpartition("/")[2]: event.answer
        for event in ask(load_text(ISOLATED), [broken(name)], timeout=3)
        if isinstance(event, Answered)
    }
    assert found["backward"].outcome == outcome
    assert detail in found["backward"].detail
    assert {found["forward"].outcome, found["forward_again"].outcome} == {"answered"}
    assert children_of(os.getpid()) == []


def test_several_workers_share_the_cells_of_a_target(cases: list[Case]) -> None:
    events = list(ask(cases, [ORACLE], workers=2))
    answered = [event.cell.case for event in events if isinstance(event, Answered)]
    assert sorted(answered) == sorted(case.id for case in cases)


UNCONFINED = Limits(confined=False)
ONCE = """
import os
import {module} as tape

os.close(os.open(__file__ + ".started", os.O_CREAT | os.O_EXCL))  # a second start is refused

def __getattr__(name):
    return getattr(tape, name)
"""


def starts_once(folder: Path, module: str) -> Target:
    """A target that no second worker can import."""
    (folder / "once.py").write_text(ONCE.format(module=module))
    for file in ("dies.py", "oracle_but.py"):
        shutil.copy(BROKEN / file, folder)
    return parse_target(str(folder / "once.py"))


def test_a_worker_that_cannot_be_started_leaves_its_cells_to_the_others(
    cases: list[Case], tmp_path: Path
) -> None:
    target = starts_once(tmp_path, "reference_impl")
    events = list(ask(cases, [target], workers=2, limits=UNCONFINED))
    answered = [event for event in events if isinstance(event, Answered)]
    assert sorted(event.cell.case for event in answered) == sorted(case.id for case in cases)
    assert {event.answer.outcome for event in answered} == {"answered"}
    assert not [event for event in events if isinstance(event, TargetFailed)]


def test_where_no_worker_can_be_started_again_the_target_has_failed(
    cases: list[Case], tmp_path: Path
) -> None:
    events = list(ask(cases, [starts_once(tmp_path, "dies")], workers=2, limits=UNCONFINED))
    outcomes = [event.answer.outcome for event in events if isinstance(event, Answered)]
    assert len(outcomes) == len(cases)
    assert outcomes.count("crash") == 1
    assert {*outcomes} <= {"crash", "answered", "not_run"}
    failures = [event for event in events if isinstance(event, TargetFailed)]
    assert len(failures) == ("not_run" in outcomes)
    assert all("FileExistsError" in failure.reason for failure in failures)


def test_whoever_stops_iterating_stops_the_workers(cases: list[Case]) -> None:
    events = ask(cases, [broken("hangs")], timeout=60)
    started = time.monotonic()
    for event in events:
        if isinstance(event, Answered):
            break
    events.close()
    assert time.monotonic() - started < 20
    assert children_of(os.getpid()) == []


def children_of(pid: int) -> list[str]:
    listed = subprocess.run(
        ["ps", "-ww", "-o", "pid=,args=", "--ppid", str(pid)],
        capture_output=True,
        text=True,
        check=False,
    )
    return [line for line in listed.stdout.splitlines() if "drivers/inside" in line]


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_worker_outlives_the_program(tmp_path: Path, ending: signal.Signals) -> None:
    marked = tmp_path / "a_marked_target.py"
    marked.write_text((BROKEN / "hangs.py").read_text())
    words = [sys.executable, "-m", "conformance.cli", "run", "basics", str(marked)]
    host = subprocess.Popen(
        words, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        wait_until(lambda: len(children_of(host.pid)) >= 2)
        workers = [line.split()[0] for line in children_of(host.pid)]
        host.send_signal(ending)
        host.wait(timeout=CEILING)
    finally:
        host.kill()
        host.wait()
    assert host.returncode in (130, -signal.SIGKILL)
    wait_until(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers))


def wait_until(condition) -> None:
    deadline = time.monotonic() + CEILING
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)
