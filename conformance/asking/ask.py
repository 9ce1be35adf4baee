"""`ask()`: cases and targets in, a stream of events out, with one thread for each worker."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from conformance.asking.events import Answered, Cell, Event, TargetFailed
from conformance.asking.worker import ORACLE_MODULE, Job, Worker
from conformance.corpus.cases import expectation_hash
from conformance.corpus.language.case import DERIVATIVE, Case
from conformance.corpus.language.derivative import forwards_of, hash_of, oracle_differentiates
from conformance.drivers import LIMITS, Limits
from conformance.targets.specification import Target, asked_of

ORACLE = Target("reference", ORACLE_MODULE, ("eager",))
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

    Only `wanted` cells are asked for. A case that expects a derivative has one cell more, which
    stands for no mode, of the oracle, and of each target whose value is not held against the
    oracle's, where that is asked too; cases with the same forward are answered together. Each
    target has `workers` processes of its own, which share the memory that `limits` allow. `first`
    is what targets said of themselves when they were asked before: one that says something else
    raises TargetChanged.
    Closing the generator ends every worker.
    """
    said: _Said = queue.SimpleQueue()
    stopped = threading.Event()
    first = {} if first is None else first
    alone = not any(target.is_reference for target in targets)
    jobs = {target: _Jobs(cases, target, wanted, workers, alone=alone) for target in targets}
    limits = limits.shared(sum(each.threads for each in jobs.values()))
    threads: dict[threading.Thread, Worker] = {}
    for target, each in jobs.items():
        for _ in range(each.threads):
            worker = Worker(target, timeout, said.put, first, limits)
            thread = threading.Thread(
                target=_drive, args=(worker, each, said, stopped), daemon=True
            )
            threads[thread] = worker
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
        stopped.set()
        while alive := [thread for thread in threads if thread.is_alive()]:
            for thread in alive:
                threads[thread].stop()  # again and again: it may just be starting its process
                thread.join(0.05)


class _Jobs:
    """The jobs of one target that are not answered yet, shared by its threads."""

    def __init__(
        self,
        cases: Sequence[Case],
        target: Target,
        wanted: Callable[[Cell], bool],
        threads: int,
        *,
        alone: bool,
    ) -> None:
        """`alone` says that the oracle is not asked beside it."""
        self._alike: dict[str, list[Case]] = {}
        jobs = []
        for case in cases:
            own = alone or target.is_reference or not oracle_differentiates(case)
            if own and forwards_of(case) and wanted(Cell(case.id, target.label, DERIVATIVE)):
                alike = self._alike.setdefault(hash_of(case), [])
                jobs += [] if alike else [Job(case, DERIVATIVE)]
                alike.append(case)
            for mode in target.modes:
                if wanted(Cell(case.id, target.label, mode)):
                    jobs.append(Job(asked_of(target.label, case), mode))
        # Isolated cases first, because only an unused process can fork for them.
        self._waiting = deque(sorted(jobs, key=lambda job: not job.case.isolated))
        self._in_flight = 0
        self._changed = threading.Condition()
        self.threads = min(threads, len(jobs))

    def answers(self, job: Job, answered: Answered) -> Iterator[Answered]:
        """What the answer to a job answers: the same derivatives in all cases alike."""
        yield answered
        for case in self._alike[answered.program][1:] if job.mode == DERIVATIVE else ():
            cell = replace(answered.cell, case=case.id)
            declared = expectation_hash(case, DERIVATIVE)
            yield replace(answered, cell=cell, expectation=declared)

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


def _drive(worker: Worker, jobs: _Jobs, said: _Said, stopped: threading.Event) -> None:
    """Ask a worker for jobs until there are none, or it cannot start and other threads go on."""
    failed = False
    try:
        while not stopped.is_set() and (job := jobs.take()):
            try:
                answered = worker.ask(job)
                if answered.answer.outcome == "not_run" and not failed:
                    if jobs.give_back(job):
                        break
                    failed = True
                    said.put(TargetFailed(worker.target.label, worker.failure))
                if not stopped.is_set():  # else nobody waits for the job any more
                    for one in jobs.answers(job, answered):
                        said.put(one)
            finally:
                jobs.done()
    except Exception as error:  # without it the run would lack cells in silence
        said.put(error)
    finally:
        worker.close()
        said.put(None)
