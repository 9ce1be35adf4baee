"""A worker: asks one target for one job after another, and replaces its process where it must."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from conformance.answers.answer import Answer, Outcome, Raised
from conformance.answers.wire import answer_of_reply, derivatives_of_reply
from conformance.asking.events import Answered, Cell, TargetReady
from conformance.asking.lacks import lacking
from conformance.asking.session import Session, WorkerCrashed, WorkerError
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
RECYCLE_AFTER = 2_000
"""Cells after which a process is replaced: XLA keeps a quarter of a megabyte for each one."""


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

    Its process is started with the first job, and replaced when it is lost, old, or not fresh
    enough for an isolated case. It ends with the thread that started it.
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
        self.failure = ""
        """Why no process can be started any more."""
        self._on_start = on_start
        self._first = {} if first is None else first
        self._session = Session(target, limits)
        self._asked = 0
        self._used = False

    @property
    def about(self) -> Mapping[str, Any]:
        """What the process says of itself; empty before the first has started."""
        return self._session.about

    def ask(self, job: Job) -> Answered:
        """The answer to one job; `not_run` where no process can be started.

        Raises TargetChanged where a process says that the target is not what it was.
        """
        cell = Cell(job.case.id, self.target.label, job.mode)
        declared = expectation_hash(job.case, job.mode)
        return Answered(cell, job.program, self._answer(job), declared)

    def stop(self) -> None:
        """End the process from another thread; the job in flight is a crash."""
        self._session.kill()

    def close(self) -> None:
        """End the process and everything that it started."""
        self._session.close()

    def _answer(self, job: Job) -> Answer:
        if job.not_applicable:
            return Answer("not_applicable", detail=job.not_applicable)
        if self._asked >= RECYCLE_AFTER or (job.case.isolated and self._used):
            self._session.close()
        if not self._is_started():
            return Answer("not_run", detail=self.failure)
        if lacks := lacking(job.case, job.lowered, job.mode, self.about.get("lacks", [])):
            detail = f"the target declares that it lacks {', '.join(lacks)}"
            return Answer("unsupported", detail=detail)
        answer = self._answer_of_process(job)
        if self.target.is_adapted and (lack := _lack(answer)):
            answer = Answer("unsupported", detail=f"{self.target.name} lacks {lack}")
        if self.target.module == ORACLE_MODULE and (name := _unknown_name(answer, job.lowered)):
            answer = Answer("unsupported", detail=f"the oracle has no tf.{name}")
        if not (job.case.isolated and self._session.forks):
            self._used = True
            if job.case.isolated or _ran_out_of_memory(answer):
                self._session.close()
        return answer

    def _is_started(self) -> bool:
        """Whether there is a process that can be asked; one is started where there is none."""
        if self._session.is_idle:
            return True
        if self.failure:
            return False
        self._session.close()
        try:
            try:
                about = self._session.start()
            except WorkerCrashed:  # try once more: the machine may have ended it
                about = self._session.start()
        except WorkerError as error:
            self.failure = str(error)
            return False
        self._asked, self._used = 0, False
        if changed := change_of_identity(self._first.setdefault(self.target.label, about), about):
            raise TargetChanged(f"{self.target.label} changed during the run: {changed}")
        self._on_start(TargetReady(self.target.label, about))
        return True

    def _answer_of_process(self, job: Job) -> Answer:
        self._asked += 1
        asked = _asked_for(job)
        known = {"cell": self._asked, "name": job.case.id, "isolated": job.case.isolated}
        try:
            reply = self._session.ask({**known, **asked}, self.timeout)
        except WorkerError as error:
            return Answer(cast(Outcome, error.outcome), detail=str(error))
        if job.mode == DERIVATIVE:
            return derivatives_of_reply(reply, asked["derivatives"])
        return answer_of_reply(reply, job.lowered, job.mode)


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


def _ran_out_of_memory(answer: Answer) -> bool:
    """Whether an answer tells of a MemoryError: what else its process would answer is doubtful."""
    errors = [answer.error, *answer.observations.values()]
    return any(isinstance(error, Raised) and error.type == "MemoryError" for error in errors)
