"""Bisection: the first version of a target that gives a new answer."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field

from conformance.answers.answer import Answer
from conformance.answers.compare import difference_of
from conformance.asking.ask import ask
from conformance.asking.events import Answered
from conformance.asking.record import Record
from conformance.corpus.language.case import Case
from conformance.corpus.language.lowering import lower
from conformance.drivers import LIMITS, Limits
from conformance.targets.environments import provisioned
from conformance.targets.releases import version_key
from conformance.targets.specification import Target, TargetError, parse_target


@dataclass(frozen=True)
class Turn:
    """Where an answer turned: `since` is the first version with the new one.

    `before` is the last version without it that could be asked; `unknown` are those between.
    """

    before: str
    since: str
    unknown: tuple[str, ...] = ()


def bisect(versions: Sequence[str], is_new: Callable[[str], bool | None]) -> Turn:
    """Find where the answer turns, in at most log2 of the versions' number of questions.

    The first of `versions` has the old answer and the last the new one. `is_new` says which one a
    version has, None where it cannot be asked. Where the answer turns more than once, one of the
    turns is found.
    """
    left = list(versions)
    low, high = 0, len(left) - 1
    while high - low > 1:
        middle = (low + high + 1) // 2
        new = is_new(left[middle])
        if new is None:
            del left[middle]
            high -= 1
        elif new:
            high = middle
        else:
            low = middle
    before, since = left[low], left[high]
    between = versions[versions.index(before) + 1 : versions.index(since)]
    return Turn(before, since, tuple(between))


@dataclass
class Versions:
    """The answers of a target's versions to one case: from records, else asked for once."""

    case: Case
    target: Target
    timeout: float
    records: Sequence[Record]
    say: Callable[[str], None]
    limits: Limits = LIMITS
    known: dict[str, Mapping[str, Answer]] = field(default_factory=dict)

    def answers(self, version: str) -> Mapping[str, Answer]:
        """The answer of a version in each mode. Errors: TargetError where it cannot be asked."""
        if version not in self.known:
            found = {mode: answers[0] for mode, answers in self._recorded(version).items()}
            found |= self._asked(version, without=found)
            self.known[version] = {mode: found[mode] for mode in self.target.modes}
        return self.known[version]

    def is_unstable(self, version: str) -> bool:
        """Whether a version answers differently in another process."""
        again = {mode: answers[1:] for mode, answers in self._recorded(version).items()}
        asked = self._asked(version, without=again)
        again |= {mode: [answer] for mode, answer in asked.items()}
        return any(
            difference_of(answer, other)
            for mode, answer in self.answers(version).items()
            for other in again[mode]
        )

    def is_new(self, version: str, mode: str, new: Mapping[str, Answer]) -> bool | None:
        """Whether a version's answer is the new one; None, which is said, where there is none."""
        try:
            answer = self.answers(version)[mode]
        except TargetError as error:
            self.say(f"  {version}: {str(error).splitlines()[0]}")
            return None
        return difference_of(new[mode], answer) is None

    def _recorded(self, version: str) -> dict[str, list[Answer]]:
        """What records say of the case's programs of today, by mode; repetitions come last."""
        found: dict[str, list[Answer]] = {}
        for record in self.records:
            labels = [label for label in record.targets if self._is_of(version, label, record)]
            for answered in record.answers if labels else ():
                cell, mode = answered.cell, answered.cell.mode
                if (
                    cell.case == self.case.id
                    and cell.target in labels
                    and mode in self.target.modes
                    and answered.answer.outcome != "not_run"
                    and answered.program == lower(self.case, mode).hash
                ):
                    repeats = record.repeats.get(cell, ())
                    found[mode] = [answered.answer, *(again.answer for again in repeats)]
        return found

    def _is_of(self, version: str, label: str, record: Record) -> bool:
        name, _, asked = label.partition("==")
        try:
            told = version_key(asked or str(record.targets[label].get("version")))
        except ValueError:
            return False
        return name == self.target.name and told == version_key(version)

    def _asked(self, version: str, *, without: Container[str]) -> dict[str, Answer]:
        """The answers in the other modes."""
        modes = ",".join(mode for mode in self.target.modes if mode not in without)
        if not modes:
            return {}
        target = provisioned(parse_target(f"{self.target.name}=={version}:{modes}"), self.say)
        events = ask(
            [self.case],
            [target],
            timeout=self.timeout,
            wanted=lambda cell: cell.runs,
            limits=self.limits,
        )
        found = {e.cell.mode: e.answer for e in events if isinstance(e, Answered)}
        lost = [answer.detail for answer in found.values() if answer.outcome == "not_run"]
        if lost:
            raise TargetError(lost[0])
        self.say(f"  asked {self.target.name} {version}")
        return found
