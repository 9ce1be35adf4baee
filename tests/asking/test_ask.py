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

from conformance.asking.ask import ORACLE, ask
from conformance.asking.events import Answered, TargetFailed
from conformance.corpus.language.case import Case
from conformance.corpus.language.loader import load_text
from conformance.drivers import Limits
from conformance.targets.specification import Target, parse_target
from tests.asking.making import BROKEN, TEXT, broken, children_of, outcomes
from tests.cases import make_corpus

CEILING = 120.0
"""Seconds after which something hangs, on a machine that is busy with other things."""


@pytest.fixture
def cases() -> list[Case]:
    return load_text(TEXT)


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


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_worker_outlives_the_program(tmp_path: Path, ending: signal.Signals) -> None:
    marked = tmp_path / "a_marked_target.py"
    marked.write_text((BROKEN / "hangs.py").read_text())
    words = [sys.executable, "-m", "conformance.cli", "run", "basics", str(marked)]
    words += ["--corpus", str(make_corpus(tmp_path))]
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


def test_isolated_cases_are_asked_first() -> None:
    alone = TEXT.replace("    title:", "    isolated: true\n    title:")
    text = TEXT + alone[alone.index("  forward:") :].replace("ward", "ward_alone")
    events = [event for event in ask(load_text(text), [ORACLE]) if isinstance(event, Answered)]
    assert ["alone" in event.cell.case for event in events] == [True] * 3 + [False] * 3
