"""Cases and targets in, a stream of events out: one thread for each worker."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeAlias

from conformance.answers.answer import Answer
from conformance.answers.reply import answer_from
from conformance.asking.events import Answered, Cell, Event, TargetFailed, TargetReady
from conformance.asking.jobs import Job, Jobs
from conformance.asking.session import Session, WorkerCrashed, WorkerError
from conformance.corpus.cases import expectation_hash
from conformance.corpus.language.case import Case
from conformance.corpus.language.lowering import Lowered
from conformance.targets.specification import Target

Saying: TypeAlias = "queue.SimpleQueue[Event | Exception | None]"
"""What askers say: events, a fault of ours that ends the run, and None from each at its end."""
DEFAULT_TIMEOUT = 60.0
RECYCLE_AFTER = 2_000
"""Cells after which a worker is replaced: XLA keeps a quarter of a megabyte for each one."""


def run_cells(
    cases: Sequence[Case],
    targets: Sequence[Target],
    *,
    timeout: float = DEFAULT_TIMEOUT,
    workers: int = 1,
    wanted: Callable[[Cell], bool] = lambda cell: True,
) -> Generator[Event]:
    """Ask every target for every case in each of its modes, and yield what comes back.

    Only `wanted` cells are asked for. Each target has `workers` processes of its own. Whoever
    stops iterating stops the run: every worker is ended before the iterator is.
    """
    events: Saying = queue.SimpleQueue()
    asking: list[Asker] = []
    for target in targets:
        due = _jobs(cases, target, wanted)
        jobs = Jobs(due, min(workers, len(due)))
        asking += [Asker(target, jobs, timeout, events) for _ in range(min(workers, len(due)))]
    try:
        for asker in asking:
            asker.start()
        running = len(asking)
        while running:
            event = events.get()
            if event is None:
                running -= 1
            elif isinstance(event, Exception):
                raise event
            else:
                yield event
    finally:
        for asker in asking:
            asker.stop()
        while going := [asker for asker in asking if asker.is_alive()]:
            for asker in going:
                asker.stop()  # again and again: one may just be starting its worker
                asker.join(0.05)


def _jobs(cases: Sequence[Case], target: Target, wanted: Callable[[Cell], bool]) -> list[Job]:
    """A target's jobs: first what is isolated, as a worker that was never used can fork for it."""
    jobs = [
        Job(case, mode)
        for case in cases
        for mode in target.modes
        if wanted(Cell(case.id, target.label, mode))
    ]
    return sorted(jobs, key=lambda job: not job.case.isolated)


class Asker(threading.Thread):
    """Keeps one worker busy with the jobs of its target until there are none."""

    def __init__(
        self,
        target: Target,
        jobs: Jobs,
        timeout: float,
        events: Saying,
    ) -> None:
        super().__init__(daemon=True)
        self.target = target
        self.jobs = jobs
        self.timeout = timeout
        self.events = events
        self.session = Session(target)
        self.stopped = threading.Event()
        self.asked = 0
        self.used = False
        self.failure = ""
        self.failed = False

    def stop(self) -> None:
        """Give up: the cell in flight is lost, and nobody waits for it."""
        self.stopped.set()
        self.session.kill()

    def run(self) -> None:
        """Answer jobs until there are none; the thread's own body."""
        try:
            while not self.stopped.is_set():
                job = self.jobs.take()
                if job is None:
                    break
                try:
                    if not self._did(job):
                        break
                finally:
                    self.jobs.done()
        except Exception as error:  # a fault of ours: a run without it would lack cells in silence
            self.events.put(error)
        finally:
            self.session.close()
            self.events.put(None)

    def _did(self, job: Job) -> bool:
        """Tell the answer to a job; False where no worker can be started and others go on."""
        answer = self.answer(job)
        if answer.outcome == "not_run" and not self.failed:
            if self.jobs.hand_over(job):
                return False
            self.failed = True
            self.events.put(TargetFailed(self.target.label, self.failure))
        if not self.stopped.is_set():
            cell = Cell(job.case.id, self.target.label, job.mode)
            declared = expectation_hash(job.case, job.mode)
            self.events.put(Answered(cell, job.lowered.hash, answer, declared))
        return True

    def answer(self, job: Job) -> Answer:
        """The answer to one job, from a worker that is started where none is ready.

        The thread that asks must outlive the worker: it may be another one than this, unstarted.
        """
        reason = job.not_applicable
        if reason:
            return Answer("not_applicable", detail=reason)
        if self.asked >= RECYCLE_AFTER or (job.case.isolated and self.used):
            self.session.close()
        if not self._ready():
            return Answer("not_run", detail=self.failure)
        lacks = lacking(job.lowered, job.mode, self.session.about.get("lacks", []))
        if lacks:
            detail = f"the target declares that it lacks {', '.join(lacks)}"
            return Answer("unsupported", detail=detail)
        answer = self._asked(job)
        if job.case.isolated and self.session.forks:
            return answer
        self.used = True
        if job.case.isolated or ran_out_of_memory(answer):
            self.session.close()
        return answer

    def _ready(self) -> bool:
        if self.session.waits:
            return True
        if self.failure:
            return False
        self.session.close()
        try:
            about = self._started_session()
        except WorkerError as error:
            self.failure = str(error)
            return False
        self.asked, self.used = 0, False
        self.events.put(TargetReady(self.target.label, about))
        return True

    def _started_session(self) -> dict[str, Any]:
        try:
            return self.session.start()
        except WorkerCrashed:  # once more: it may be the machine that ended it
            return self.session.start()

    def _asked(self, job: Job) -> Answer:
        self.asked += 1
        request: dict[str, Any] = {
            "cell": self.asked,
            "name": job.case.id,
            "source": job.lowered.source,
            "parameters": job.lowered.parameters,
            "convert": job.lowered.convert,
            "mode": job.mode,
            "observe": job.lowered.observed,
            "isolated": job.case.isolated,
        }
        try:
            reply = self.session.ask(request, self.timeout)
        except WorkerError as error:
            outcome: Any = error.outcome
            return Answer(outcome, detail=str(error))
        return answer_from(reply, job.lowered, job.mode)


def ran_out_of_memory(answer: Answer) -> bool:
    """Whether an answer tells of a MemoryError: what else its process would answer is doubtful."""
    errors = [answer.error, *answer.observations.values()]
    return any(error is not None and error.get("type") == "MemoryError" for error in errors)


def lacking(lowered: Lowered, mode: str, lacks: Sequence[str]) -> list[str]:
    """What a program uses of the names that its target declares as lacking.

    `nn` is every name that begins with `nn.`; `GradientTape.jacobian` is a method of any tape;
    `graph` is a mode.
    """
    used = {name for name in lowered.uses for lack in lacks if f"{name}.".startswith(f"{lack}.")}
    for lack in lacks:
        owner, _, method = lack.partition(".")
        if owner == "GradientTape" and method and f".{method}(" in lowered.source:
            used.add(lack)
    used |= {f"the mode {mode}"} if mode in lacks else set()
    return sorted(used)


def with_oracle(targets: Sequence[Target]) -> list[Target]:
    """The targets, with the oracle among them."""
    if any(target.is_reference for target in targets):
        return list(targets)
    return [ORACLE, *targets]


ORACLE = Target("reference", "reference_impl", ("eager",))
"""The reference implementation as a target: the second witness of every cell."""
