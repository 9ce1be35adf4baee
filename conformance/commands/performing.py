"""A run performed: its events judged, shown and recorded as they come."""

from __future__ import annotations

import time
from collections.abc import Container, Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from conformance.asking.ask import ask, with_oracle
from conformance.asking.events import Answered, Cell, Event, TargetReady
from conformance.asking.record import RecordError
from conformance.asking.record_writer import RecordWriter
from conformance.asking.worker import TargetChanged
from conformance.commands.options import say
from conformance.corpus.language.case import Case
from conformance.drivers import LIMITS, Limits
from conformance.process import INTERRUPTION
from conformance.report.progress import Progress
from conformance.targets.specification import Target
from conformance.verdicts.changes import suspects
from conformance.verdicts.findings import Findings, Reviewer


@dataclass(frozen=True)
class Plan:
    """What a run is to do: ask these targets for these cases, and again what may be unstable."""

    cases: Sequence[Case]
    targets: Sequence[Target]
    timeout: float
    workers: int
    fail_fast: bool = False
    repeat: int = 0
    limits: Limits = LIMITS


def perform(
    plan: Plan,
    kept: Sequence[Event],
    reviewer: Reviewer,
    progress: Progress,
    writer: RecordWriter | None,
) -> None:
    """Run the cells, and leave what came of it in the reviewer's results and the record.

    `kept` are events of an earlier run, which the writer has already. A run whose record cannot be
    written ends there, and says so.
    """
    started = time.monotonic()
    results = reviewer.findings
    events = _events(plan, kept, results)
    try:
        for number, event in enumerate(INTERRUPTION.between(events)):
            if writer and number >= len(kept):
                writer.write(event)
            if isinstance(event, TargetReady) and plan.limits.confined:
                _say_unconfined(event)
            progress.event(event)
            for judged in reviewer.add(event):
                progress.found(judged)
                if plan.fail_fast and judged.falls_short:
                    results.reason = "fail-fast"
            if results.reason:
                break
        else:
            results.complete = True
    except KeyboardInterrupt:
        results.reason = "interrupted"
    except (RecordError, TargetChanged) as error:
        results.reason = str(error)
    finally:
        events.close()
        list(reviewer.finish())
        results.seconds = time.monotonic() - started
        progress.close()
        if writer:
            _finish(writer, results)


def _say_unconfined(ready: TargetReady) -> None:
    """Say where a target can do what the user can."""
    held = ready.about.get("confined", [])
    if not {"files", "TCP", "network"} & {*held}:
        say(f"{ready.target} is not confined: this platform has nothing for it (see docs/trust.md)")


def _finish(writer: RecordWriter, results: Findings) -> None:
    try:
        writer.finish(complete=results.complete, reason=results.reason, seconds=results.seconds)
    except RecordError as error:
        results.complete, results.reason = False, results.reason or str(error)


def _events(plan: Plan, kept: Sequence[Event], results: Findings) -> Generator[Event]:
    """What is known, what is asked, and what is asked again once all has been judged."""
    yield from kept
    answered = {event.cell for event in kept if isinstance(event, Answered)}
    first: dict[str, Any] = {}
    yield from ask(
        plan.cases,
        with_oracle(plan.targets),
        timeout=plan.timeout,
        workers=plan.workers,
        wanted=lambda cell: cell not in answered,
        limits=plan.limits,
        first=first,
    )
    if plan.repeat:
        yield from _repetitions(plan, suspects(results), first)


def _repetitions(plan: Plan, cells: Container[Cell], first: dict[str, Any]) -> Generator[Answered]:
    """Ask each of these cells again, every time in a process that is new."""
    for number in range(1, plan.repeat + 1):
        again = ask(
            plan.cases,
            plan.targets,
            timeout=plan.timeout,
            workers=plan.workers,
            wanted=cells.__contains__,
            limits=plan.limits,
            first=first,
        )
        for event in again:
            if isinstance(event, Answered):
                yield replace(event, repeat=number)
