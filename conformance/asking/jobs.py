"""The jobs of one target: what is to be asked, and which cases an answer is for."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from conformance.asking.events import Answered, Cell
from conformance.asking.worker import Job
from conformance.corpus.cases import expectation_hash
from conformance.corpus.language.case import DERIVATIVE, Case
from conformance.corpus.language.derivative import forwards_of, hash_of, oracle_differentiates
from conformance.targets.specification import Target, asked_of


class Jobs:
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
        self.all: Sequence[Job] = tuple(self._waiting)
        """Every job, those of isolated cases first."""
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
