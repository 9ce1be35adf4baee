"""A run performed: its events judged, shown and recorded as they come."""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from conformance.asking.ask import ask, with_oracle
from conformance.asking.events import Answered, Event, TargetReady
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
    """Run the cells, and leave what came of it in the reviewer's findings and the record.

    `kept` are events of an earlier run, which the writer has already. A run whose record cannot be
    written ends there, and says so.
    """
    started = time.monotonic()
    findings = reviewer.findings
    events = _events(plan, kept, findings)
    try:
        for number, event in enumerate(INTERRUPTION.between(events)):
            if writer and number >= len(kept):
                writer.write(event)
            if isinstance(event, TargetReady) and plan.limits.confined:
                _say_unconfined(event)
            progress.event(event)
            for finding in reviewer.add(event):
                progress.found(finding)
                if plan.fail_fast and finding.falls_short:
                    findings.reason = "fail-fast"
            if findings.reason:
                break
        else:
            findings.complete = True
    except KeyboardInterrupt:
        findings.reason = "interrupted"
    except (RecordError, TargetChanged) as error:
        findings.reason = str(error)
    finally:
        events.close()
        reviewer.finish()
        findings.seconds = time.monotonic() - started
        progress.close()
        if writer:
            _finish(writer, findings)


def _finish(writer: RecordWriter, findings: Findings) -> None:
    try:
        writer.finish(complete=findings.complete, reason=findings.reason, seconds=findings.seconds)
    except RecordError as error:
        findings.complete, findings.reason = False, findings.reason or str(error)


def _say_unconfined(ready: TargetReady) -> None:
    """Say where a target can do what the user can."""
    if {"files", "TCP", "network"}.isdisjoint(ready.about.get("confined", ())):
        say(f"{ready.target} is not confined: this platform has nothing for it (see docs/trust.md)")


def _events(plan: Plan, kept: Sequence[Event], findings: Findings) -> Generator[Event]:
    """What is known, what is asked, and what is asked again once all has been judged.

    What may be unstable is asked every time in a process that is new.
    """
    first: dict[str, Any] = {}
    options = partial(ask, plan.cases, timeout=plan.timeout, workers=plan.workers)
    asked = partial(options, limits=plan.limits, first=first)
    yield from kept
    answered = {event.cell for event in kept if isinstance(event, Answered)}
    yield from asked(with_oracle(plan.targets), wanted=lambda cell: cell not in answered)
    doubtful = suspects(findings) if plan.repeat else ()
    for number in range(1, plan.repeat + 1):
        for event in asked(plan.targets, wanted=doubtful.__contains__):
            if isinstance(event, Answered):
                yield replace(event, repeat=number)
