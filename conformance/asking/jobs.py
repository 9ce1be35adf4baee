"""Jobs: the cells of a target that are still to be asked for, shared by all who ask it."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from conformance.corpus.language.case import Case
from conformance.corpus.language.lowering import Lowered, lower


@dataclass(frozen=True, slots=True)
class Job:
    """One cell to ask for."""

    case: Case
    mode: str

    @property
    def lowered(self) -> Lowered:
        """The program; lowered while the target's framework is still being imported."""
        return lower(self.case, self.mode)

    @property
    def not_applicable(self) -> str:
        """Why the case says nothing in this mode: its own word, or an obstacle of the mode."""
        declared = self.case.not_applicable.get(self.mode, "")
        return declared or ("" if self.mode in self.case.expect_in else self.lowered.obstacle)


class Jobs:
    """The jobs of one target, in order, shared by so many `askers`."""

    def __init__(self, jobs: Iterable[Job] = (), askers: int = 1) -> None:
        self._left = deque(jobs)
        self._askers = askers
        self._doing = 0
        self._change = threading.Condition()

    def take(self) -> Job | None:
        """The next job, to be followed by `done`; None where all are done.

        Whoever finds none waits for the others: one of them may have to hand its job over.
        """
        with self._change:
            self._change.wait_for(lambda: self._left or not self._doing)
            if not self._left:
                return None
            self._doing += 1
            return self._left.popleft()

    def hand_over(self, job: Job) -> bool:
        """Leave a job to the other askers, for good; False where there is no other."""
        with self._change:
            if self._askers == 1:
                return False
            self._askers -= 1
            self._left.appendleft(job)
            return True

    def done(self) -> None:
        """Who took a job has answered it, or handed it over."""
        with self._change:
            self._doing -= 1
            self._change.notify_all()
