"""A worker: asks one target for one job after another, and says what its replies answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from conformance.answers.answer import Answer, Outcome, Raised
from conformance.answers.wire import answer_of_reply, derivatives_of_reply
from conformance.asking.events import Answered, Cell, TargetReady
from conformance.asking.lacks import lacking
from conformance.asking.seat import Seat
from conformance.asking.session import WorkerError
from conformance.corpus.cases import expectation_hash
from conformance.corpus.language.case import DERIVATIVE, Case
from conformance.corpus.language.derivative import forwards_of, hash_of
from conformance.corpus.language.lowering import Lowered, lower
from conformance.drivers import LIMITS, Limits
from conformance.targets.specification import Target

ORACLE_MODULE = "reference_impl"
"""The module that is not to have all of TensorFlow's names: without one it is no witness."""
NO_ATTRIBUTE = re.compile(r"has no attribute '(\w+)'")
IDENTITY = ("version", "python", "numpy", "packages", "platform", "digest")
"""What a process tells of itself that its answers depend on."""


class TargetChanged(Exception):
    """A target is another one than when it was started first: its answers are of two targets."""


@dataclass(frozen=True, slots=True)
class Job:
    """One case in one mode, or its derivatives: what a target is asked for."""

    case: Case
    mode: str

    @property
    def lowered(self) -> Lowered:
        """The program; lowered while the target's framework is still being imported."""
        return lower(self.case, self.mode)

    @property
    def source(self) -> str:
        """The text that runs."""
        return self.lowered.source

    @property
    def program(self) -> str:
        """What identifies what runs."""
        return program_hash(self.case, self.mode)

    @property
    def not_applicable(self) -> str:
        """Why the case says nothing in this mode: it declares so, or an obstacle of the mode."""
        declared = self.case.not_applicable.get(self.mode, "")
        return declared or ("" if self.mode in self.case.expect_in else self.lowered.obstacle)


class Worker:
    """Asks one target, one job at a time, in the thread of its caller.

    Its process is started with the first job, and ends with the thread that started it.
    """

    def __init__(
        self,
        target: Target,
        timeout: float,
        on_start: Callable[[TargetReady], None] = lambda ready: None,
        first: dict[str, Any] | None = None,
        limits: Limits = LIMITS,
    ) -> None:
        """`on_start` is told of each process; workers share `first`, what the first one said."""
        self.target = target
        self.timeout = timeout
        self._on_start = on_start
        self._first = {} if first is None else first
        self._seat = Seat(target, limits, self._started)

    @property
    def failure(self) -> str:
        """Why no process can be started any more."""
        return self._seat.failure

    @property
    def about(self) -> Mapping[str, Any]:
        """What the process says of itself; empty before the first has started."""
        return self._seat.about

    def ask(self, job: Job) -> Answered:
        """The answer to one job; `not_run` where no process can be started.

        Raises TargetChanged where a process says that the target is not what it was.
        """
        return as_answered(self.target, job, self._answer(job))

    def stop(self) -> None:
        """End the process from another thread; the job in flight is a crash."""
        self._seat.stop()

    def close(self) -> None:
        """End the process and everything that it started."""
        self._seat.close()

    def _answer(self, job: Job) -> Answer:
        if job.not_applicable:
            return Answer("not_applicable", detail=job.not_applicable)
        if not self._seat.is_ready(isolated=job.case.isolated):
            return Answer("not_run", detail=self.failure)
        if unsupported := unsupported_by(self.about, job):
            return unsupported
        try:
            return answer_of(self.target, job, self._seat.ask(request_of(job), self.timeout))
        except WorkerError as error:
            return Answer(cast(Outcome, error.outcome), detail=str(error))

    def _started(self, about: Mapping[str, Any]) -> None:
        check_identity(self.target.label, self._first, about)
        self._on_start(TargetReady(self.target.label, about))


def as_answered(target: Target, job: Job, answer: Answer) -> Answered:
    """The answer as the one to a job's cell."""
    cell = Cell(job.case.id, target.label, job.mode)
    return Answered(cell, job.program, answer, expectation_hash(job.case, job.mode))


def check_identity(label: str, first: dict[str, Any], about: Mapping[str, Any]) -> None:
    """Keep what the first process of a target said of itself.

    Raises TargetChanged where another one says something else.
    """
    if changed := change_of_identity(first.setdefault(label, about), about):
        raise TargetChanged(f"{label} changed during the run: {changed}")


def unsupported_by(about: Mapping[str, Any], job: Job) -> Answer | None:
    """The answer to a job that needs what its target declares as lacking; None to others."""
    lacks = lacking(job.case, job.lowered, job.mode, about.get("lacks", []))
    if not lacks:
        return None
    return Answer("unsupported", detail=f"the target declares that it lacks {', '.join(lacks)}")


def answer_of(target: Target, job: Job, reply: Mapping[str, Any]) -> Answer:
    """The answer that a process's reply to the request of a job gives."""
    if job.mode == DERIVATIVE:
        answer = derivatives_of_reply(reply, request_of(job)["derivatives"])
    else:
        answer = answer_of_reply(reply, job.lowered, job.mode)
    if target.is_adapted and (lack := _lack(answer)):
        return Answer("unsupported", detail=f"{target.name} lacks {lack}")
    if target.module == ORACLE_MODULE and (name := _unknown_name(answer, job.lowered)):
        return Answer("unsupported", detail=f"the oracle has no tf.{name}")
    return answer


def request_of(job: Job) -> dict[str, Any]:
    """What a process is asked for a job."""
    return {"name": job.case.id, "isolated": job.case.isolated, **_asked_for(job)}


def _asked_for(job: Job) -> dict[str, Any]:
    """What a request says of the job itself."""
    if job.mode == DERIVATIVE:
        return {"derivatives": {name: one.asked for name, one in forwards_of(job.case).items()}}
    return {
        "source": job.source,
        "parameters": job.lowered.parameters,
        "convert": job.lowered.convert,
        "mode": job.mode,
        "observe": job.lowered.observed,
    }


def program_hash(case: Case, mode: str) -> str:
    """What identifies what runs for a case in a mode, or for its derivatives."""
    return hash_of(case) if mode == DERIVATIVE else lower(case, mode).hash


def change_of_identity(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """What makes a target another one: `numpy 1.26.4 became 2.1.0`, or nothing."""
    different = (key for key in IDENTITY if (before.get(key) or "") != (now.get(key) or ""))
    return ", ".join(f"{key} {before.get(key)} became {now.get(key)}" for key in different)


def _unknown_name(answer: Answer, lowered: Lowered) -> str:
    """The framework's name that a program uses and its target lacks; else nothing."""
    raised = (answer.error, *answer.observations.values())
    messages = [value.message for value in raised if isinstance(value, Raised)]
    messages += [derivative.fault for derivative in answer.derivatives.values()]
    for missing in filter(None, map(NO_ATTRIBUTE.search, messages)):
        for name in sorted(lowered.uses):
            if missing[1] in name.split("."):
                return name
    return ""


def _lack(answer: Answer) -> str:
    """What an adapted framework lacks, by the kit's own error; else nothing."""
    raised = (answer.error, *answer.observations.values())
    lacks = [one.message for one in raised if isinstance(one, Raised) and one.type == "Lacks"]
    lacks += [one.fault for one in answer.derivatives.values() if one.fault.startswith("Lacks: ")]
    return lacks[0].removeprefix("Lacks: ") if lacks else ""
