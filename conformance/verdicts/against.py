"""A record as a gate: a run is held against what another run of its target answered."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from conformance.answers.compare import difference_of
from conformance.asking.events import Answered
from conformance.asking.record import Record
from conformance.verdicts.departures import Departure, Departures, Gate, target_name
from conformance.verdicts.judge import SHORTFALLS, Evidence, Judgement, Standing


@dataclass(frozen=True, kw_only=True)
class Against(Gate):
    """The record that stands for a baseline; what it does not know, the run's own verdict decides.

    A shortfall that answers what the record does, at first or again, is known. Any other is worse,
    but one that only says that a documented departure is gone: that is better.
    """

    record: Record

    @classmethod
    def of(cls, record: Record, target: str) -> Against:
        """The record as the gate of a target that is named as target_name does."""
        return cls(Departures(target, file=record.path), strict_new=True, record=record)

    def standing(
        self, judgement: Judgement, evidence: Evidence, version: str
    ) -> tuple[Standing | None, Departure | None]:
        """What a cell is beside the record; no departure speaks of it."""
        lost = judgement.verdict == "unsupported"
        if not lost and judgement.verdict not in SHORTFALLS:
            return None, None
        known = [
            answered
            for answered in self._answers.get((evidence.case.id, evidence.mode), ())
            if answered.program == evidence.program.hash
        ]
        if not known:
            return (None if lost else "new case"), None
        if not all(difference_of(answered.answer, evidence.answer) for answered in known):
            return (None if lost else "known"), None
        return ("better" if judgement.verdict == "unexpected_pass" else "worse"), None

    @cached_property
    def _answers(self) -> dict[tuple[str, str], list[Answered]]:
        """What the target answered, again where it was asked again, by case and mode."""
        answers: dict[tuple[str, str], list[Answered]] = {}
        for first in self.record.answers:
            cell = first.cell
            if target_name(cell.target) == self.baseline.target:
                given = [first, *self.record.repeats.get(cell, ())]
                answers.setdefault((cell.case, cell.mode), []).extend(given)
        return answers
