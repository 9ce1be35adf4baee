"""A Dask cluster that is asked instead of this machine: batches out, answers in as they come."""

from __future__ import annotations

import hashlib
import json
import logging
import queue
import time
import uuid
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from conformance import __version__
from conformance.answers.answer import Answer, Outcome
from conformance.answers.wire import mapping, parse_json, text, texts
from conformance.asking import node
from conformance.asking.address import LOCAL
from conformance.asking.events import Event, TargetFailed, TargetReady
from conformance.asking.jobs import Jobs
from conformance.asking.session import LISTS, WorkerError
from conformance.asking.worker import (
    Job,
    answer_of,
    as_answered,
    check_identity,
    request_of,
    unsupported_by,
)
from conformance.closing import UsageError
from conformance.drivers import LIMITS, Limits
from conformance.targets.specification import Target
from conformance.text import clean

BATCH = 16
"""Requests of a batch: what is asked again where a node dies."""
AHEAD = 3
"""Batches for each thread of the nodes that are on their way."""
POLL = 1.0
CONNECT = 10.0
"""Seconds for a scheduler to answer."""
WAIT = 30.0
"""Seconds for a first node to join, and for another one where the last is gone."""
OUTCOMES = ("crash", "timeout", "adapter_error")


class ClusterLost(Exception):
    """The cluster cannot be asked any more; the message says why."""


class Cluster:
    """The nodes behind a scheduler. Close it, and a local one ends."""

    def __init__(self, address: str, nodes: int) -> None:
        """Connect to a scheduler, or start a `local` one with so many nodes.

        Raises UsageError where none answers, or it has no node.
        """
        try:
            from distributed import Client, LocalCluster
        except ImportError as error:
            raise UsageError(
                f"--cluster needs Dask's scheduler: pip install 'gradconf[cluster]' ({error})"
            ) from error
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
        self.shares = nodes if address == LOCAL else 1
        """The nodes of one machine, which share its memory."""
        self._local = None
        try:
            if address == LOCAL:
                self._local = LocalCluster(
                    n_workers=nodes, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
                )
            self.client = Client(self._local or address, timeout=CONNECT)
            self.address = address
            self.client.wait_for_workers(1, timeout=WAIT)
        except (OSError, ValueError, TypeError) as error:
            self.close()
            raise UsageError(f"--cluster {address}: {clean(str(error))}") from error

    def close(self) -> None:
        """Leave the cluster."""
        for one in (getattr(self, "client", None), self._local):
            if one is not None:
                one.close()

    def threads(self) -> dict[str, int]:
        """How many threads each node has, by its address. Errors: ClusterLost."""
        try:
            return dict(self.client.nthreads()) if self.client.status == "running" else {}
        except OSError as error:
            raise self.lost(clean(str(error))) from error

    def lost(self, why: str) -> ClusterLost:
        """The error to raise where it cannot be asked any more."""
        return ClusterLost(f"the cluster {self.address} is lost: {why}")

    def about(self, target: Target, limits: Limits) -> Mapping[str, Any]:
        """What a target says of itself on a node. Errors: WorkerError where none can start it."""
        asking = _Asking(self, {}, 0.0, limits, {})  # nothing is requested: no seconds for that
        try:
            for event in asking.described([target]):
                if isinstance(event, TargetReady):
                    return event.about
                raise WorkerError(cast(TargetFailed, event).reason)
            raise WorkerError("nothing was said of it")
        finally:
            asking.close()

    def ask(
        self, jobs: Mapping[Target, Jobs], timeout: float, limits: Limits, first: dict[str, Any]
    ) -> Generator[Event]:
        """What the nodes answer to the jobs of targets; each job has one answer.

        Raises ClusterLost, and TargetChanged where a target is not the same on all nodes.
        """
        asking = _Asking(self, jobs, timeout, limits, first)
        try:
            yield from asking.events()
        finally:
            asking.close()


@dataclass(frozen=True)
class _Batch:
    target: Target
    jobs: Sequence[Job] = ()


class _Asking:
    """One asking of a cluster: its batches that are on their way, and what is known of targets."""

    def __init__(
        self,
        cluster: Cluster,
        jobs: Mapping[Target, Jobs],
        timeout: float,
        limits: Limits,
        first: dict[str, Any],
    ) -> None:
        self._cluster, self._jobs, self._first = cluster, jobs, first
        self._run = uuid.uuid4().hex
        self._about: dict[Target, Mapping[str, Any]] = {}
        self._failing: dict[Target, set[str]] = {}
        self._failed: dict[Target, str] = {}
        self._files: dict[Target, tuple[str, str, bytes]] = {}
        self._given: set[tuple[str, Target]] = set()
        self._counted, self._threads = 0.0, 0
        self._out: dict[str, tuple[Any, _Batch]] = {}
        self._done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._said = {
            "gradconf": __version__,
            "run": self._run,
            "timeout": timeout,
            "limits": {
                "confined": limits.confined,
                "memory": None if limits.memory == LIMITS.memory else limits.memory,
                "shares": cluster.shares * max(1, len(jobs)),
            },
        }

    def events(self) -> Iterator[Event]:
        """Every event, as it comes."""
        due = [
            target
            for target, jobs in self._jobs.items()
            if any(not job.not_applicable for job in jobs.all)
        ]
        yield from self.described(due)
        parts = self._parts()
        more = True
        while more or self._out:
            while more and len(self._out) < self._most():
                part = next(parts, None)
                more = part is not None
                if isinstance(part, _Batch):
                    self._put(part)
                elif part is not None:
                    yield part
            if self._out:
                yield from self._taken()

    def _most(self) -> int:
        """How many batches may be on their way; nodes are counted once in a while."""
        if time.monotonic() - self._counted > POLL:
            self._counted = time.monotonic()
            self._threads = sum(self._cluster.threads().values())
        return AHEAD * max(1, self._threads)

    def described(self, targets: Sequence[Target]) -> Iterator[Event]:
        """What targets say of themselves, asked before anything else."""
        for target in targets:
            if target.module.endswith(".py"):
                data = Path(target.module).read_bytes()
                digest = hashlib.sha256(data).hexdigest()
                self._files[target] = Path(target.module).name, digest, data
            self._put(_Batch(target))
        while self._out:
            yield from self._taken()

    def close(self) -> None:
        """Leave nothing of this asking on the nodes."""
        client = self._cluster.client
        if client.status == "running":
            try:
                client.cancel([future for future, _ in self._out.values()])
                client.run(node.release, self._run.encode(), on_error="ignore")
            except (OSError, TimeoutError):
                pass  # it was lost just now
        self._out.clear()

    def _parts(self) -> Iterator[_Batch | Event]:
        """The batches of every target, between them the answers that need no process."""
        for target, jobs in self._jobs.items():
            batch: list[Job] = []
            for job in jobs.all:
                if answer := self._known(target, job):
                    yield from jobs.answers(job, as_answered(target, job, answer))
                    continue
                batch.append(job)
                if len(batch) == BATCH:
                    yield _Batch(target, batch)
                    batch = []
            if batch:
                yield _Batch(target, batch)

    def _known(self, target: Target, job: Job) -> Answer | None:
        """The answer to a job that no process is asked; None to others."""
        if job.not_applicable:
            return Answer("not_applicable", detail=job.not_applicable)
        if target in self._failed:
            return Answer("not_run", detail=self._failed[target])
        return unsupported_by(self._about[target], job)

    def _put(self, batch: _Batch) -> None:
        """Send a batch to a node that can start its target."""
        target = batch.target
        told: dict[str, Any] = {
            "label": target.label,
            "module": target.module,
            "modes": target.modes,
            "attribute": target.attribute,
            "version": target.version,
        }
        file = None
        if target in self._files:
            name, digest, _ = self._files[target]
            file, told["module"] = (name, digest), name
        head = {**self._said, "target": told, "file": file}
        lines = [json.dumps(one).encode() for one in (head, *map(request_of, batch.jobs))]
        able = self._able(target) if target in self._failing else None
        future = self._cluster.client.submit(
            node.answer,
            b"\n".join(lines),
            key=f"gradconf-{uuid.uuid4().hex}",
            workers=able,
            allow_other_workers=bool(able),
        )
        self._out[future.key] = future, batch
        future.add_done_callback(self._done.put)

    def _able(self, target: Target) -> list[str]:
        """The nodes that have not failed to start a target."""
        return [one for one in self._cluster.threads() if one not in self._failing.get(target, ())]

    def _taken(self) -> Iterator[Event]:
        """What the next batch that comes back says."""
        batch, data = self._next()
        try:
            head, *replies = (mapping(parse_json(line)) for line in data.split(b"\n"))
            named, about, failure = text(head["node"]), mapping(head["about"]), head["failure"]
            for listed in LISTS:
                texts(about.get(listed, []))
            version, wants = text(head["gradconf"]), head["wants"] is True
            answers = [
                self._answer(batch.target, *pair) for pair in zip(batch.jobs, replies, strict=False)
            ]
            rest = batch.jobs[len(replies) :]
        except (KeyError, TypeError, ValueError) as error:
            raise self._cluster.lost(f"a node said what is no answer: {clean(repr(error))}") from (
                error
            )
        if version != __version__:
            raise self._cluster.lost(f"{named} has gradconf {version}, and this is {__version__}")
        if wants:
            self._give(named, batch.target)
            self._put(batch)
            return
        if about:
            yield from self._ready(batch.target, about)
        for job, answer in zip(batch.jobs, answers, strict=False):
            yield from self._jobs[batch.target].answers(job, as_answered(batch.target, job, answer))
        if failure and (rest or not batch.jobs):
            yield from self._elsewhere(named, text(failure), _Batch(batch.target, rest))
        elif rest:
            raise self._cluster.lost(f"{named} answered {len(answers)} of {len(batch.jobs)}")

    def _ready(self, target: Target, about: Mapping[str, Any]) -> Iterator[Event]:
        check_identity(target.label, self._first, about)
        if target not in self._about:
            self._about[target] = about
            yield TargetReady(target.label, about)

    def _elsewhere(self, named: str, failure: str, rest: _Batch) -> Iterator[Event]:
        """Ask other nodes what one could not be asked, or say that none can."""
        target = rest.target
        self._failing.setdefault(target, set()).add(named)
        if self._able(target):
            self._put(rest)
            return
        if target not in self._failed:
            self._failed[target] = failure
            yield TargetFailed(target.label, failure)
        for job in rest.jobs:
            answer = as_answered(target, job, Answer("not_run", detail=failure))
            yield from self._jobs[target].answers(job, answer)

    def _answer(self, target: Target, job: Job, told: Mapping[str, Any]) -> Answer:
        if "reply" in told:
            return answer_of(target, job, mapping(told["reply"]))
        if told["outcome"] not in OUTCOMES:
            raise ValueError(f"no outcome {told['outcome']!r}")
        return Answer(cast(Outcome, told["outcome"]), detail=text(told["detail"]))

    def _give(self, named: str, target: Target) -> None:
        """Send a target's file to a node, once."""
        if (named, target) not in self._given:
            self._given.add((named, target))
            name, _, data = self._files[target]
            self._call(node.keep, name.encode(), data, workers=[named])

    def _call(self, function: Callable[..., None], *words: bytes, workers: list[str]) -> None:
        try:
            self._cluster.client.run(function, *words, workers=workers, on_error="ignore")
        except (OSError, TimeoutError) as error:
            raise self._cluster.lost(clean(str(error))) from error

    def _next(self) -> tuple[_Batch, bytes]:
        """The next batch that comes back. Errors: ClusterLost."""
        alone = None
        while True:
            try:
                future = self._done.get(timeout=POLL)
            except queue.Empty:
                if self._cluster.client.status != "running":
                    raise self._cluster.lost("its scheduler does not answer") from None
                now = time.monotonic()
                alone = None if self._cluster.threads() else alone or now
                if alone and now - alone > WAIT:
                    raise self._cluster.lost(f"no node for {WAIT:g} seconds") from None
                continue
            if future.key in self._out:
                break
        _, batch = self._out.pop(future.key)
        if future.status == "error":
            raise self._cluster.lost(clean(str(future.exception())))
        if future.status != "finished":
            raise self._cluster.lost("its scheduler does not answer")
        try:
            data = future.result()
        except Exception as error:  # any of Dask's, and of what its nodes raise
            raise self._cluster.lost(clean(str(error))) from error
        return batch, data
