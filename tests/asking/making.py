"""Cases and targets that the tests of asking share."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from conformance.asking.ask import ask
from conformance.asking.events import Answered
from conformance.corpus.language.case import Case
from conformance.targets.specification import Target, parse_target
from tests.cases import entry, file_of

BROKEN = Path(__file__).parent.parent / "broken"
FORWARD = "y = x * x"
TEXT = file_of(
    "For tests of running.",
    forward=entry("No gradient is asked for", run=FORWARD, expect="{y: 9.0}"),
    backward=entry("A gradient is asked for"),
    forward_again=entry(
        "No gradient is asked for, again",
        inputs="{x: 4.0}",
        not_applicable="{graph: this says so}",
        run=FORWARD,
        expect="{y: 16.0}",
    ),
)


def broken(name: str) -> Target:
    """One of the misbehaving targets."""
    return parse_target(str(BROKEN / f"{name}.py"))


def outcomes(cases: Sequence[Case], target: Target, timeout: float = 30.0) -> dict[str, str]:
    """How each case ends, by the last word of its name."""
    return {
        event.cell.case.rsplit("/")[-1]: event.answer.outcome
        for event in ask(cases, [target], timeout=timeout)
        if isinstance(event, Answered)
    }


def children_of(pid: int) -> list[str]:
    """The workers' processes that a process started."""
    listed = subprocess.run(
        ["ps", "-ww", "-o", "pid=,args=", "--ppid", str(pid)],
        capture_output=True,
        text=True,
        check=False,
    )
    return [line for line in listed.stdout.splitlines() if "drivers/inside" in line]
