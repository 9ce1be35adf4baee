"""`ask()`: cases and targets in, a stream of events out, with one thread for each worker."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeAlias

from conformance.asking.cluster import Cluster
from conformance.asking.events import Cell, Event, TargetFailed
from conformance.asking.jobs import Jobs
from conformance.asking.nodes import ask_nodes
from conformance.asking.worker import ORACLE_MODULE, Worker
from conformance.corpus.language.case import Case
from conformance.drivers import LIMITS, Limits
from conformance.targets.specification import Target

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
    cluster: Cluster | None = None,
) -> Generator[Event]:
    """Ask every target for every case in each of its modes, and yield what comes back.

    Only `wanted` cells are asked for. A case that expects a derivative has one cell more, which
    stands for no mode, of the oracle, and of each target whose value is not held against the
    oracle's, where that is asked too; cases with the same forward are answered together. Each
    target has `workers` processes of its own, which share the memory that `limits` allow. `first`
    is what targets said of themselves when they were asked before: one that says something else
    raises TargetChanged. The nodes of a `cluster` are asked instead of processes of this machine;
    where it is lost, ClusterLost is raised. Closing the generator ends every worker.
    """
    said: _Said = queue.SimpleQueue()
    stopped = threading.Event()
    first = {} if first is None else first
    alone = not any(target.is_reference for target in targets)
    jobs = {target: Jobs(cases, target, wanted, workers, alone=alone) for target in targets}
    if cluster:
        yield from ask_nodes(cluster, jobs, timeout, limits, first)
        return
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


def _drive(worker: Worker, jobs: Jobs, said: _Said, stopped: threading.Event) -> None:
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
