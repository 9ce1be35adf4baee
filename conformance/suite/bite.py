"""Bite: which mutants the corpus catches, and how far a target gets that differentiates nothing."""

from __future__ import annotations

import queue
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from conformance.answers.answer import Answer
from conformance.asking.events import Answered
from conformance.asking.jobs import Job, Jobs
from conformance.asking.run import Asker, Saying
from conformance.corpus.language.case import Case
from conformance.targets.specification import Target
from conformance.verdicts.results import SHORTFALLS
from conformance.verdicts.verdicts import Judgement, judge

NULL_TARGETS = Path(__file__).parent / "null_targets.py"
NULLS = ("none", "zeros", "ones", "nan", "raises", "returns_target", "returns_upstream")
TIMEOUT = 5.0
"""Seconds for a cell of a mutant: the oracle needs a few milliseconds."""
STOPS = 3
"""Crashes and timeouts after which a mutant is not asked any more: it is caught."""


@dataclass
class Bitten:
    """What the corpus says of one wrong implementation."""

    name: str
    kills: list[str] = field(default_factory=list)
    """The cases that catch it, in the corpus's order."""
    passed: int = 0
    fault: str = ""
    """Why nothing can be said of it: it did not start, or the suite is at fault."""

    @property
    def caught(self) -> bool:
        """Whether at least one case catches it, and for no other reason than its mistake."""
        return bool(self.kills) and not self.fault

    @property
    def applicable(self) -> int:
        """The cells that passed or fell short."""
        return self.passed + len(self.kills)

    @property
    def share(self) -> float:
        """The cells that passed, of those applicable."""
        return self.passed / self.applicable if self.applicable else 0.0

    def count(self, case: Case, judgement: Judgement) -> None:
        """Take one cell in."""
        if judgement.verdict in SHORTFALLS:
            self.kills.append(case.id)
        elif judgement.verdict == "pass":
            self.passed += 1
        elif judgement.verdict in ("bad_case", "error", "not_run") and not self.fault:
            self.fault = f"{case.id}: {judgement.verdict}: {judgement.note}"


class Jaws:
    """The corpus, lowered once, and the control's answers to it: the second witness."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self.jobs = {case.id: Job(case, "eager") for case in cases}
        self.words: dict[str, Answer] = {}
        self.judgements: dict[str, Judgement] = {}

    def prove(self, control: Target) -> Bitten:
        """Ask the control, which is the oracle; it must pass before any mutant counts."""
        bitten = Bitten(control.label)
        for job, answer in self._answers(control, list(self.jobs.values())):
            judgement = self._judged(job, answer)
            bitten.count(job.case, judgement)
            self.words[job.case.id] = answer
            self.judgements[job.case.id] = judgement
        return bitten

    def bite(self, targets: Sequence[Target], jobs: int) -> Iterator[Bitten]:
        """Ask targets, `jobs` at a time, and say what catches each.

        The cases that need a process of their own, and so take most of the time, are asked for
        only where no other case catches the target.
        """
        with ThreadPoolExecutor(jobs) as pool:
            yield from pool.map(self._bitten, targets)

    def _bitten(self, target: Target) -> Bitten:
        bitten = Bitten(target.label)
        for isolated in (False, True):
            if not bitten.kills:
                jobs = [job for job in self.jobs.values() if job.case.isolated is isolated]
                self._ask(target, jobs, bitten)
        return bitten

    def _ask(self, target: Target, jobs: Sequence[Job], bitten: Bitten) -> None:
        outcomes = Counter[str]()
        with closing(self._answers(target, jobs)) as answers:
            for job, answer in answers:
                bitten.count(job.case, self._judged(job, answer))
                outcomes[answer.outcome] += 1
                if outcomes["crash"] + outcomes["timeout"] >= STOPS:
                    break

    def _answers(
        self, target: Target, jobs: Sequence[Job]
    ) -> Generator[tuple[Job, Answer], None, None]:
        """A target's answers as they come; whoever closes this ends the worker."""
        events: Saying = queue.SimpleQueue()
        asker = Asker(target, Jobs(jobs), TIMEOUT, events)
        asker.start()
        try:
            while (event := events.get()) is not None:
                if isinstance(event, Exception):
                    raise event
                if isinstance(event, Answered):
                    yield self.jobs[event.cell.case], event.answer
        finally:
            asker.stop()
            asker.join()

    def _judged(self, job: Job, answer: Answer) -> Judgement:
        word = self.words.get(job.case.id)
        if word is not None and word == replace(answer, seconds=word.seconds):
            return self.judgements[job.case.id]  # most answers of a mutant are the control's
        operations, dependencies = job.lowered.operations, job.lowered.dependencies
        return judge(job.case, job.mode, answer, word, operations, dependencies)


def null_targets() -> list[Target]:
    """The degenerate targets: TensorFlow's names, and gradients that know nothing."""
    return [Target(name, str(NULL_TARGETS), ("eager",), attribute=name) for name in NULLS]
