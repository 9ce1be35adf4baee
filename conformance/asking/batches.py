"""Batches of jobs for the nodes of a cluster: which are on their way, and what comes back."""

from __future__ import annotations

import json
import queue
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from conformance import __version__
from conformance.answers.answer import Answer, Outcome
from conformance.answers.wire import mapping, parse_json, text, texts
from conformance.asking import node
from conformance.asking.baggage import Baggage, baggage_of
from conformance.asking.cluster import WAIT, Cluster, ClusterLost
from conformance.asking.events import TargetFailed, TargetReady
from conformance.asking.session import LISTS
from conformance.asking.worker import Job, answer_of, check_identity, request_of, unsupported_by
from conformance.drivers import LIMITS, Limits
from conformance.targets.specification import Target
from conformance.text import clean

BATCH = 16
"""Requests of a batch: what is asked again where a node dies."""
AHEAD = 3
"""Batches for each thread of the nodes that are on their way."""
POLL = 1.0
OUTCOMES = ("crash", "timeout", "adapter_error")


@dataclass(frozen=True)
class Batch:
    """Jobs of one target; one without a job asks what the target says of itself."""

    target: Target
    jobs: Sequence[Job] = ()


@dataclass(frozen=True)
class Replied:
    """The answer to one job of a batch."""

    target: Target
    job: Job
    answer: Answer


Said: TypeAlias = "TargetReady | TargetFailed | Replied"


class Batches:
    """What is asked of a cluster, and what is known of the targets there. Close it at the end."""

    def __init__(
        self,
        cluster: Cluster,
        targets: int,
        timeout: float,
        limits: Limits,
        first: dict[str, Any],
    ) -> None:
        """So many `targets` share the memory that a node has.

        `first` is what targets said of themselves when they were asked before.
        """
        self._cluster, self._first = cluster, first
        self._run = uuid.uuid4().hex
        self._about: dict[Target, Mapping[str, Any]] = {}
        self._failing: dict[Target, set[str]] = {}
        self._failed: dict[Target, str] = {}
        self._baggage: dict[Target, Baggage] = {}
        self._given: set[tuple[str, Target]] = set()
        self._counted, self._threads = -POLL, 1
        self._out: dict[str, tuple[Any, Batch]] = {}
        self._done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._said = {
            "gradconf": __version__,
            "run": self._run,
            "timeout": timeout,
            "limits": {
                "confined": limits.confined,
                "memory": None if limits.memory == LIMITS.memory else limits.memory,
                "shares": cluster.shares * max(1, targets),
            },
        }

    @property
    def are_out(self) -> bool:
        """Whether a batch is on its way."""
        return bool(self._out)

    @property
    def have_room(self) -> bool:
        """Whether one more may be on its way."""
        return len(self._out) < AHEAD * self.threads

    @property
    def threads(self) -> int:
        """The threads of all nodes, at least one; they are counted once in a while."""
        if time.monotonic() - self._counted > POLL:
            self._counted = time.monotonic()
            self._threads = max(1, sum(self._cluster.threads().values()))
        return self._threads

    def about(self, target: Target) -> Mapping[str, Any]:
        """What a target says of itself; empty before it was described."""
        return self._about.get(target, {})

    def described(self, targets: Sequence[Target]) -> Iterator[Said]:
        """What targets say of themselves, asked before anything else."""
        for target in targets:
            if baggage := baggage_of(target):
                self._baggage[target] = baggage
            self.put(Batch(target))
        while self._out:
            yield from self.taken()

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

    def known(self, target: Target, job: Job) -> Answer | None:
        """The answer to a job that no process is asked; None to others."""
        if job.not_applicable:
            return Answer("not_applicable", detail=job.not_applicable)
        if target in self._failed:
            return Answer("not_run", detail=self._failed[target])
        return unsupported_by(self._about[target], job)

    def put(self, batch: Batch) -> None:
        """Send a batch to a node that can start its target."""
        target = batch.target
        told: dict[str, Any] = {
            "label": target.label,
            "module": target.module,
            "modes": target.modes,
            "attribute": target.attribute,
            "version": target.version,
        }
        baggage = self._baggage.get(target)
        file = (baggage.name, baggage.digest) if baggage else None
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

    def taken(self) -> Iterator[Said]:
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
            if failure := self._give(named, batch.target):
                yield from self._elsewhere(named, failure, batch)
            else:
                self.put(batch)
            return
        if answers:
            self._cluster.answered.add(named)
        if about:
            yield from self._ready(batch.target, about)
        for job, answer in zip(batch.jobs, answers, strict=False):
            yield Replied(batch.target, job, answer)
        if failure and (rest or not batch.jobs):
            yield from self._elsewhere(named, text(failure), Batch(batch.target, rest))
        elif rest:
            raise self._cluster.lost(f"{named} answered {len(answers)} of {len(batch.jobs)}")

    def _ready(self, target: Target, about: Mapping[str, Any]) -> Iterator[Said]:
        check_identity(target.label, self._first, about)
        if target not in self._about:
            self._about[target] = about
            yield TargetReady(target.label, about)

    def _elsewhere(self, named: str, failure: str, rest: Batch) -> Iterator[Said]:
        """Ask other nodes what one could not be asked, or say that none can."""
        target = rest.target
        self._failing.setdefault(target, set()).add(named)
        if self._able(target):
            self.put(rest)
            return
        if target not in self._failed:
            self._failed[target] = failure
            yield TargetFailed(target.label, failure)
        for job in rest.jobs:
            yield Replied(target, job, Answer("not_run", detail=failure))

    def _answer(self, target: Target, job: Job, told: Mapping[str, Any]) -> Answer:
        if "reply" in told:
            return answer_of(target, job, mapping(told["reply"]))
        if told["outcome"] not in OUTCOMES:
            raise ValueError(f"no outcome {told['outcome']!r}")
        return Answer(cast(Outcome, told["outcome"]), detail=text(told["detail"]))

    def _give(self, named: str, target: Target) -> str:
        """Send what a target needs to a node, once; say why it is not kept there, or nothing."""
        if (named, target) in self._given:
            return ""
        self._given.add((named, target))
        baggage = self._baggage[target]
        words = baggage.name.encode(), baggage.data
        try:
            told = self._cluster.client.run(node.keep, *words, workers=[named], on_error="ignore")
        except (OSError, TimeoutError) as error:
            raise self._lost(error) from error
        why = cast(bytes, told.get(named, b"")).decode()
        return why and f"a node cannot keep {baggage.name}: {clean(why)}"

    def _next(self) -> tuple[Batch, bytes]:
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
            if future.key not in self._out:
                continue
            _, batch = self._out.pop(future.key)
            if future.status not in ("pending", "lost"):
                break
            self.put(batch)  # its node died before what it had said was fetched
        if future.status == "error":
            raise self._lost(cast(Exception, future.exception()))
        if future.status != "finished":
            raise self._cluster.lost("its scheduler does not answer")
        try:
            data = future.result()
        except Exception as error:  # any of Dask's, and of what its nodes raise
            raise self._lost(error) from error
        return batch, data

    def _lost(self, error: Exception) -> ClusterLost:
        """What an error of Dask's means: after its scheduler is gone it can be of many kinds."""
        gone = self._cluster.client.status != "running" or isinstance(error, OSError | TimeoutError)
        return self._cluster.lost("its scheduler does not answer" if gone else clean(str(error)))
