"""The nodes of a cluster asked instead of this machine: for all jobs of a run, or one by one."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from typing import Any

from conformance.asking.batches import BATCH, Batch, Batches, Replied, Said
from conformance.asking.cluster import Cluster
from conformance.asking.events import Event, TargetFailed
from conformance.asking.jobs import Jobs
from conformance.asking.session import WorkerError
from conformance.asking.worker import Job, as_answered
from conformance.drivers import Limits
from conformance.targets.specification import Target


def about_on(cluster: Cluster, target: Target, limits: Limits) -> Mapping[str, Any]:
    """What a target says of itself on a node. Errors: WorkerError where none can start it."""
    batches = Batches(cluster, 1, 0.0, limits, {})  # nothing is requested: no seconds for that
    try:
        for said in batches.described([target]):
            if isinstance(said, TargetFailed):
                raise WorkerError(said.reason)
        return batches.about(target)
    finally:
        batches.close()


def ask_nodes(
    cluster: Cluster,
    jobs: Mapping[Target, Jobs],
    timeout: float,
    limits: Limits,
    first: dict[str, Any],
) -> Generator[Event]:
    """What the nodes answer to the jobs of targets; each job has one answer.

    Raises ClusterLost, and TargetChanged where a target is not the same on all nodes.
    """
    batches = Batches(cluster, len(jobs), timeout, limits, first)
    try:
        for said in _said(batches, jobs):
            if isinstance(said, Replied):
                answered = as_answered(said.target, said.job, said.answer)
                yield from jobs[said.target].answers(said.job, answered)
            else:
                yield said
    finally:
        batches.close()


def _said(batches: Batches, jobs: Mapping[Target, Jobs]) -> Iterator[Said]:
    """What comes of all jobs, as it comes."""
    due = [t for t, own in jobs.items() if any(not job.not_applicable for job in own.all)]
    yield from batches.described(due)
    parts = _parts(batches, jobs)
    more = True
    while more or batches.are_out:
        while more and batches.have_room:
            part = next(parts, None)
            more = part is not None
            if isinstance(part, Batch):
                batches.put(part)
            elif part is not None:
                yield part
        if batches.are_out:
            yield from batches.taken()


def _parts(batches: Batches, jobs: Mapping[Target, Jobs]) -> Iterator[Batch | Replied]:
    """The batches of every target, between them the answers that need no process."""
    for target, own in jobs.items():
        batch: list[Job] = []
        for job in own.all:
            if answer := batches.known(target, job):
                yield Replied(target, job, answer)
                continue
            batch.append(job)
            if len(batch) == BATCH:
                yield Batch(target, batch)
                batch = []
        if batch:
            yield Batch(target, batch)
