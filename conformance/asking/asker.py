"""Targets asked a question at a time, here or on nodes: each answer is promised, and waited for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

from conformance.answers.answer import Answer
from conformance.asking.batches import BATCH, Batch, Batches, Replied, Said
from conformance.asking.cluster import Cluster
from conformance.asking.worker import Job, Worker
from conformance.drivers import LIMITS
from conformance.targets.specification import Target


class Promised(Protocol):
    """An answer that will be there."""

    def result(self) -> Answer:
        """The answer, when it is there. Errors: TargetChanged, and ClusterLost on nodes."""


class Asker(Protocol):
    """Whoever asks targets. Close it at the end."""

    @property
    def width(self) -> int:
        """How many questions one target is asked at a time."""

    def about(self, target: Target) -> Mapping[str, Any]:
        """What a target says of itself; empty before it was asked."""

    def ask(self, target: Target, job: Job) -> Promised:
        """The promised answer of a target to a job; `not_run` where it does not start."""

    def restart(self) -> None:
        """End all processes, when nothing is asked: the next question starts others."""

    def close(self) -> None:
        """End all processes; what nobody has waited for is not asked any more."""


class Here:
    """Each target in a process of this machine, which a thread of its own asks."""

    width = 1

    def __init__(self, targets: Sequence[Target], timeout: float) -> None:
        """Each question has `timeout` seconds."""
        self._workers = {target: Worker(target, timeout) for target in targets}
        self._threads = {target: ThreadPoolExecutor(1) for target in targets}

    def about(self, target: Target) -> Mapping[str, Any]:
        """What the target's process says of itself; empty before the first has started."""
        return self._workers[target].about

    def ask(self, target: Target, job: Job) -> Promised:
        """The promised answer; questions to one target are asked in their order."""
        worker = self._workers[target]
        return self._threads[target].submit(lambda: worker.ask(job).answer)

    def restart(self) -> None:
        """End all processes, when nothing is asked: the next question starts others."""
        for target, worker in self._workers.items():
            self._threads[target].submit(worker.close).result()

    def close(self) -> None:
        """End all processes; what nobody has waited for is not asked any more."""
        for target, worker in self._workers.items():
            self._threads[target].shutdown(cancel_futures=True)
            worker.close()


class OnNodes:
    """Each target in processes of a cluster's nodes, which are asked batches of questions.

    Nothing is waited for but in `result`, which sends the batch of its question, full or not.
    """

    def __init__(self, cluster: Cluster, targets: int, timeout: float) -> None:
        """So many `targets` share a node; each question has `timeout` seconds."""
        self._cluster, self._targets, self._timeout = cluster, targets, timeout
        self._first: dict[str, Any] = {}
        self._start()

    def _start(self) -> None:
        self._batches = Batches(self._cluster, self._targets, self._timeout, LIMITS, self._first)
        self._described: set[Target] = set()
        self._waiting: dict[Target, list[Job]] = {}
        self._promised: dict[tuple[Target, Job], _OnItsWay] = {}

    @property
    def width(self) -> int:
        """The threads of all nodes."""
        return self._batches.threads

    def about(self, target: Target) -> Mapping[str, Any]:
        """What the target says of itself on the nodes; empty before it was asked."""
        return dict(self._first.get(target.label, {}))

    def ask(self, target: Target, job: Job) -> Promised:
        """The promised answer; nodes answer in an order of their own."""
        if target not in self._described:
            self._described.add(target)
            self._take(self._batches.described([target]))
        promised = _OnItsWay(self, target, job, self._batches.known(target, job))
        if promised.answer is None:
            self._promised[target, job] = promised
            waiting = self._waiting.setdefault(target, [])
            waiting.append(job)
            if len(waiting) == BATCH:
                self._send(target)
        return promised

    def wait_for(self, promised: _OnItsWay) -> Answer:
        """Take what comes back until this is answered."""
        while promised.answer is None:
            if promised.job in self._waiting.get(promised.target, ()):
                self._send(promised.target)
            self._take(self._batches.taken())
        return promised.answer

    def restart(self) -> None:
        """End all processes, when nothing is asked: the next question starts others."""
        self._batches.close()
        self._start()

    def close(self) -> None:
        """End all processes; what nobody has waited for is not asked any more."""
        self._batches.close()

    def _send(self, target: Target) -> None:
        self._batches.put(Batch(target, self._waiting.pop(target)))

    def _take(self, said: Iterable[Said]) -> None:
        for one in said:
            if isinstance(one, Replied):
                self._promised.pop((one.target, one.job)).answer = one.answer


class _OnItsWay:
    """A question to the nodes, and its answer when it is there."""

    def __init__(self, of: OnNodes, target: Target, job: Job, answer: Answer | None) -> None:
        self._of, self.target, self.job, self.answer = of, target, job, answer

    def result(self) -> Answer:
        """The answer, when it is there. Errors: TargetChanged, ClusterLost."""
        return self._of.wait_for(self)
