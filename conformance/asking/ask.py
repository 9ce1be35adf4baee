"""`ask()`: cases and targets in, a stream of events out, with one thread for each worker."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeAlias

from conformance.asking.events import Cell, Event, TargetFailed
from conformance.asking.worker import Job, Worker
from conformance.corpus.language.case import Case
from conformance.drivers import LIMITS, Limits
from conformance.targets.specification import Target

ORACLE = Target("reference", "reference_impl", ("eager",))
"""The reference implementation as a target: the second witness of every cell."""
DEFAULT_TIMEOUT = 60.0
_Said: TypeAlias = "queue.SimpleQueue[Event | Exception | None]"
"""What the threads say: events, an exception of ours that ends the run, and None at their end."""


def with_oracle(targets: Sequence[Target]) -> list[Target]:
    """The targets, with the oracle among them."""
    if any(target.is_reference for target in targets):
        return list(targets)
    return [ORACLE, *targets]


def ask(
    cases: Sequence[Case],
    targets: Sequence[Target],
    *,
    timeout: float = DEFAULT_TIMEOUT,
    workers: int = 1,
    wanted: Callable[[Cell], bool] = lambda cell: True,
    limits: Limits = LIMITS,
    first: dict[str, Any] | None = None,
) -> Generator[Event]:
    """Ask every target for every case in each of its modes, and yield what comes back.

    Only `wanted` cells are asked for. Each target has `workers` processes of its own, which share
    the memory that `limits` allow. `first` is what targets said of themselves when they were asked
    before: one that says something else raises TargetChanged. Whoever
    closes the generator ends every worker.
    """
    said: _Said = queue.SimpleQueue()
    first = {} if first is None else first
    jobs = {target: _Jobs(cases, target, wanted, workers) for target in targets}
    limits = limits.shared(sum(each.threads for each in jobs.values()))
    threads = [
        _Thread(Worker(target, timeout, said.put, first, limits), each, said)
        for target, each in jobs.items()
        for _ in range(each.threads)
    ]
    try:
        for thread in threads:
            thread.start()
        running = len(threads)
        while running:
            event = said.get()
            if event is None:
                running -= 1
            elif isinstance(event, Exception):
                raise event
            else:
                yield event
    finally:
        while running_threads := [thread for thread in threads if thread.is_alive()]:
            for thread in running_threads:
                thread.stop()  # again and again: it may just be starting its process
                thread.join(0.05)


class _Jobs:
    """The jobs of one target that are not answered yet, shared by its threads."""

    def __init__(
        self, cases: Sequence[Case], target: Target, wanted: Callable[[Cell], bool], threads: int
    ) -> None:
        jobs = [
            Job(case, mode)
            for case in cases
            for mode in target.modes
            if wanted(Cell(case.id, target.label, mode))
        ]
        # Isolated cases first, because only an unused process can fork for them.
        self._waiting = deque(sorted(jobs, key=lambda job: not job.case.isolated))
        self._in_flight = 0
        self._changed = threading.Condition()
        self.threads = min(threads, len(jobs))

    def take(self) -> Job | None:
        """The next job; None where every job is answered. Each job taken is followed by `done`.

        While a job is in flight the queue may get it back, so a thread that finds none waits.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or not self._in_flight)
            if not self._waiting:
                return None
            self._in_flight += 1
            return self._waiting.popleft()

    def give_back(self, job: Job) -> bool:
        """Leave a job to the other threads, and take no other; False where this is the last one."""
        with self._changed:
            if self.threads == 1:
                return False
            self.threads -= 1
            self._waiting.appendleft(job)
            return True

    def done(self) -> None:
        """The job that a thread took is answered, or given back."""
        with self._changed:
            self._in_flight -= 1
            self._changed.notify_all()


class _Thread(threading.Thread):
    """Drives one worker until its target's jobs are answered."""

    def __init__(self, worker: Worker, jobs: _Jobs, said: _Said) -> None:
        super().__init__(daemon=True)
        self._worker = worker
        self._jobs = jobs
        self._said = said
        self._stopped = False
        self._failed = False

    def stop(self) -> None:
        """End the worker; nobody waits for the job in flight any more."""
        self._stopped = True
        self._worker.stop()

    def run(self) -> None:
        """Ask for jobs until there are none."""
        try:
            while not self._stopped and (job := self._jobs.take()):
                try:
                    if not self._ask(job):
                        break
                finally:
                    self._jobs.done()
        except Exception as error:  # without it the run would lack cells in silence
            self._said.put(error)
        finally:
            self._worker.close()
            self._said.put(None)

    def _ask(self, job: Job) -> bool:
        """Ask for one job; False where no process can be started and other threads go on."""
        answered = self._worker.ask(job)
        if answered.answer.outcome == "not_run" and not self._failed:
            if self._jobs.give_back(job):
                return False
            self._failed = True
            self._said.put(TargetFailed(self._worker.target.label, self._worker.failure))
        if not self._stopped:
            self._said.put(answered)
        return True
