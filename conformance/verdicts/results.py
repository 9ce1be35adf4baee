"""Results: raw answers judged against the corpus, and the one word that sums a run up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, get_args

from conformance.answers.answer import Answer
from conformance.asking.events import Answered, Cell, Event, TargetFailed, TargetReady
from conformance.asking.record import Record
from conformance.closing import Word
from conformance.corpus.language.case import MODES, Case
from conformance.corpus.language.lowering import Lowered, lower
from conformance.targets.specification import name_of
from conformance.verdicts.deviations import Deviation, apply
from conformance.verdicts.judge import Evidence, Judgement, Verdict, judge

if TYPE_CHECKING:
    from conformance.verdicts.baseline import Against

ORACLE_LABEL = "reference"
SHORTFALLS: tuple[Verdict, ...] = ("fail", "crash", "timeout", "unexpected_pass")
"""The verdicts by which a target falls short."""
FAULTS: tuple[Verdict, ...] = ("bad_case", "error")
"""The verdicts that say that the suite, the oracle or an adapter is at fault."""
RAN: tuple[Verdict, ...] = ("pass", "known_deviation", *SHORTFALLS, *FAULTS)


@dataclass(frozen=True, slots=True)
class Judged:
    """A cell with its answer and what the judge says of it."""

    cell: Cell
    case: Case
    answer: Answer
    judgement: Judgement

    @property
    def lowered(self) -> Lowered:
        """The program that ran; made again where many others came after it."""
        return lower(self.case, self.cell.mode)

    @property
    def verdict(self) -> Verdict:
        """The judgement's verdict."""
        return self.judgement.verdict


@dataclass
class Results:
    """Everything that a report shows; made live while a run goes, or from a record.

    `stale` are cells of a record whose program is not the corpus's any more: shown, never judged.
    """

    asked: Mapping[str, tuple[str, ...]]
    """The targets of the run and their modes, in the order they were asked for."""
    command: Sequence[str] = ()
    targets: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    judged: list[Judged] = field(default_factory=list)
    repeats: dict[Cell, list[Answered]] = field(default_factory=dict)
    """The answers of cells that were asked again, in fresh processes."""
    stale: list[Cell] = field(default_factory=list)
    complete: bool = False
    reason: str = ""
    seconds: float = 0.0
    record: str = ""
    baseline: Against | None = None
    """What is known of the target: only what is worse makes it fall short."""

    @property
    def cells(self) -> list[Judged]:
        """The cells of the targets that were asked for, in order: not the oracle's own."""
        return [judged for judged in self.judged if judged.cell.target in self.asked]

    @property
    def oracle_faults(self) -> list[Judged]:
        """The oracle's own cells that its cases contradict: then no verdict can be trusted."""
        if ORACLE_LABEL in self.asked:
            return []
        return [
            judged
            for judged in self.judged
            if judged.cell.target == ORACLE_LABEL and judged.verdict in (*SHORTFALLS, *FAULTS)
        ]

    def counts(self, target: str | None = None, mode: str | None = None) -> dict[Verdict, int]:
        """How many cells have each verdict, of one target or mode or of all."""
        counted = Counter(
            judged.verdict
            for judged in self.cells
            if target in (None, judged.cell.target) and mode in (None, judged.cell.mode)
        )
        return {verdict: counted[verdict] for verdict in get_args(Verdict) if counted[verdict]}

    def title(self, target: str) -> str:
        """`tensorflow 2.21.0` for a target that has started."""
        about = self.targets.get(target, {})
        name = name_of(target)
        return f"{name} {about['version']}" if about.get("version") else target

    @property
    def word(self) -> Word:
        """What the run comes to, in one word; the graver reason wins."""
        if self.reason == "interrupted":
            return "interrupted"
        counts = self.counts()
        cut_short = not self.complete and self.reason != "fail-fast"
        if cut_short or any(map(counts.get, FAULTS)) or self.oracle_faults:
            return "no_target" if self.failed and not self._ran(counts) else "untrustworthy"
        if self.failed:
            return "no_target"
        if not self._ran(counts):
            return "nothing_ran"
        return "falls_short" if any(map(self.falls_short_by, self.judged)) else "conforms"

    def falls_short_by(self, judged: Judged) -> bool:
        """Whether a cell makes a target that was asked for fall short, beyond its baseline."""
        if judged.cell.target not in self.asked:
            return False
        if self.baseline:
            return self.baseline.fails(judged)
        return judged.verdict in SHORTFALLS

    @staticmethod
    def _ran(counts: Mapping[Verdict, int]) -> int:
        return sum(counts.get(verdict, 0) for verdict in RAN)


class Reviewer:
    """Judges cells as their answers and the oracle's arrive, whichever comes first.

    Where answers are not `compared` with each other later, by version or by repetition, what they
    observed is let go once it is judged: a large run keeps its verdicts only.
    """

    def __init__(
        self,
        results: Results,
        cases: Iterable[Case],
        deviations: Sequence[Deviation],
        *,
        compared: bool = True,
    ) -> None:
        self.results = results
        self.deviations = deviations
        self.compared = compared
        self._cases = list(cases)
        self._position = {case.id: position for position, case in enumerate(self._cases)}
        self._others = any(target != ORACLE_LABEL for target in results.asked)
        self._oracle: dict[str, Answer] = {}
        self._waiting: dict[str, list[Answered]] = {}

    def add(self, event: Event) -> Iterator[Judged]:
        """Take one event in; the cells that can now be judged."""
        if isinstance(event, TargetReady):
            self.results.targets[event.target] = event.about
        elif isinstance(event, TargetFailed):
            self.results.failed[event.target] = event.reason
        elif event.repeat:
            self.results.repeats.setdefault(event.cell, []).append(event)
        else:
            yield from self._answered(event)

    def finish(self) -> Iterator[Judged]:
        """The cells that the oracle never answered: one witness is no verdict."""
        note = "the run ended before the oracle answered"
        for event in (event for waiting in self._waiting.values() for event in waiting):
            yield self._kept(event, Judgement("not_run", note=note))
        self._waiting.clear()
        self.results.judged.sort(key=self._place)

    def _place(self, judged: Judged) -> tuple[int, int, int]:
        """Where a cell stands: by target as asked for, by case as in the corpus, by mode."""
        cell = judged.cell
        target = (ORACLE_LABEL, *self.results.asked).index(cell.target)
        mode = MODES.index(cell.mode) if cell.mode in MODES else len(MODES)
        return target, self._position[cell.case], mode

    def _answered(self, event: Answered) -> Iterator[Judged]:
        case_id = event.cell.case
        if not self._is_of_today(event):
            self.results.stale.append(event.cell)
        elif event.cell.target == ORACLE_LABEL:
            if self._others:
                self._oracle[case_id] = event.answer
            yield self._judged(event)
            for waiting in self._waiting.pop(case_id, []):
                yield self._judged(waiting)
        elif case_id in self._oracle:
            yield self._judged(event)
        else:
            self._waiting.setdefault(case_id, []).append(event)

    def _is_of_today(self, event: Answered) -> bool:
        position = self._position.get(event.cell.case)
        if position is None:
            return False
        return lower(self._cases[position], event.cell.mode).hash == event.program

    def _judged(self, event: Answered) -> Judged:
        cell = event.cell
        case = self._cases[self._position[cell.case]]
        oracle = None if cell.target == ORACLE_LABEL else self._oracle[cell.case]
        evidence = Evidence(case, cell.mode, event.answer, oracle, lower(case, cell.mode))
        return self._kept(event, apply(judge(evidence), self._covering(cell), evidence))

    def _kept(self, event: Answered, judgement: Judgement) -> Judged:
        case = self._cases[self._position[event.cell.case]]
        answer = event.answer if self.compared else replace(event.answer, observations={})
        judged = Judged(event.cell, case, answer, judgement)
        self.results.judged.append(judged)
        return judged

    def _covering(self, cell: Cell) -> list[Deviation]:
        """The documented departures that speak of a cell, by the version that its worker told."""
        version = str(self.results.targets.get(cell.target, {}).get("version") or "0")
        name = name_of(cell.target)
        return [
            deviation
            for deviation in self.deviations
            if deviation.covers(name, version, cell.case, cell.mode)
        ]


def results_of(record: Record, cases: Iterable[Case], deviations: Sequence[Deviation]) -> Results:
    """A record judged against the corpus of today."""
    asked = {str(item["target"]): tuple(item["modes"]) for item in record.header.get("asked", [])}
    results = Results(asked, tuple(record.header.get("command", ())), record=record.path)
    reviewer = Reviewer(results, cases, deviations)
    for label, about in record.targets.items():
        list(reviewer.add(TargetReady(label, about)))
    for label, reason in record.failed.items():
        list(reviewer.add(TargetFailed(label, reason)))
    for answered in record.answers:
        list(reviewer.add(answered))
    list(reviewer.finish())
    results.repeats = {cell: list(again) for cell, again in record.repeats.items()}
    results.complete, results.reason = record.complete, record.reason
    results.seconds = record.seconds
    return results
