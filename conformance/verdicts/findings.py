"""Findings: what a run found of every cell, computed once; every report reads them.

A reviewer makes them as answers arrive, or from a record. A record's answers are judged anew, by
the cases and departures of today.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, get_args

from conformance.answers.answer import Answer
from conformance.answers.compare import difference_of
from conformance.asking.events import Answered, Cell, Event, TargetFailed, TargetReady
from conformance.asking.record import Record
from conformance.closing import Word
from conformance.corpus.language.case import MODES, Case
from conformance.corpus.language.lowering import Lowered, lower
from conformance.targets.specification import name_of
from conformance.verdicts.departures import (
    Departure,
    Departures,
    Gate,
    apply,
    target_name,
    updated,
)
from conformance.verdicts.judge import (
    FAULTS,
    RAN,
    SHORTFALLS,
    Evidence,
    Judge,
    Judgement,
    Standing,
    Verdict,
)

ORACLE_LABEL = "reference"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding(Judgement):
    """What was found of one cell: the judge's verdict, and what else is known of it.

    `standing` is what the cell is beside the baseline. `explained_by` is the departure that speaks
    of the cell: a documented one, or the baseline's entry. `falls_short` says that the cell makes
    its target fall short, beyond the baseline; `unstable` that it gave another answer when it was
    asked again.
    """

    cell: Cell
    case: Case
    answer: Answer
    standing: Standing | None = None
    explained_by: Departure | None = None
    falls_short: bool = False
    unstable: bool = False

    @property
    def lowered(self) -> Lowered:
        """The program that ran; made again where many others came after it."""
        return lower(self.case, self.cell.mode)

    @property
    def program(self) -> str:
        """The hash of the program that ran."""
        return self.lowered.hash

    @property
    def was(self) -> str:
        """What the departure says of the answer, in one line."""
        return self.explained_by.was if self.explained_by else ""


@dataclass
class Findings:
    """Everything that a report shows of a run.

    `asked` are the targets and their modes in the order they were asked for; `everything` are the
    findings of all cells, the oracle's own included. `stale` are cells of a record whose program
    is not the corpus's any more: shown, never judged. `repeats` are the answers of cells that were
    asked again, in fresh processes. `gate` is the baseline that the run is held against.
    """

    asked: Mapping[str, tuple[str, ...]]
    command: Sequence[str] = ()
    gate: Gate | None = None
    targets: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    everything: list[Finding] = field(default_factory=list)
    repeats: dict[Cell, list[Answered]] = field(default_factory=dict)
    stale: list[Cell] = field(default_factory=list)
    complete: bool = False
    reason: str = ""
    seconds: float = 0.0
    record: str = ""

    @property
    def cells(self) -> list[Finding]:
        """The findings of the targets that were asked for, in order: not the oracle's own."""
        return [finding for finding in self.everything if finding.cell.target in self.asked]

    @property
    def oracle_faults(self) -> list[Finding]:
        """The oracle's own cells that its cases contradict: then no verdict can be trusted."""
        if ORACLE_LABEL in self.asked:
            return []
        return [
            finding
            for finding in self.everything
            if finding.cell.target == ORACLE_LABEL and finding.verdict in (*SHORTFALLS, *FAULTS)
        ]

    def counts(self, target: str | None = None) -> dict[Verdict, int]:
        """How many cells have each verdict, of one target or of all."""
        cells = (finding for finding in self.cells if target in (None, finding.cell.target))
        counted = Counter(finding.verdict for finding in cells)
        return {verdict: counted[verdict] for verdict in get_args(Verdict) if counted[verdict]}

    def standings(self) -> dict[Standing, int]:
        """How many cells have each standing; one that no cell has is left out."""
        counted = Counter(finding.standing for finding in self.cells)
        return {standing: counted[standing] for standing in get_args(Standing) if counted[standing]}

    def title(self, target: str) -> str:
        """`tensorflow 2.21.0` for a target that has started."""
        version = self.version(target)
        return f"{name_of(target)} {version}" if version else target

    def version(self, target: str) -> str:
        """The version that a target's worker told; empty where it is unknown."""
        return str(self.targets.get(target, {}).get("version") or "")

    @property
    def word(self) -> Word:
        """What the run comes to, in one word; the graver reason wins."""
        if self.reason == "interrupted":
            return "interrupted"
        counts = self.counts()
        ran = sum(counts.get(verdict, 0) for verdict in RAN)
        cut_short = not self.complete and self.reason != "fail-fast"
        if cut_short or any(map(counts.get, FAULTS)) or self.oracle_faults:
            return "no_target" if self.failed and not ran else "untrustworthy"
        if self.failed:
            return "no_target"
        if not ran:
            return "nothing_ran"
        return "falls_short" if any(finding.falls_short for finding in self.cells) else "conforms"

    def as_baseline(self, cases: Sequence[Case], today: str) -> Departures:
        """The baseline that says what this run of the whole corpus found.

        The answers of the cells must have been kept.
        """
        assert self.gate is not None
        (target,) = self.asked
        seen = ", version ".join(filter(None, (today, self.version(target))))
        found = [(finding, _evidence(finding)) for finding in self.cells]
        lacks = self.targets.get(target, {}).get("lacks") or ()
        ids = [case.id for case in cases]
        return updated(self.gate.baseline, found, ids, map(str, lacks), seen)

    def hold_against(self, baseline: Departures) -> None:
        """Hold the run against another baseline than before."""
        assert self.gate is not None
        self.gate = replace(self.gate, baseline=baseline)
        self.everything = [self.held(finding) for finding in self.everything]

    def held(self, finding: Finding) -> Finding:
        """A finding with its standing beside the baseline, and whether it falls short."""
        if finding.cell.target not in self.asked:
            return finding
        if self.gate is None:
            return replace(finding, falls_short=finding.verdict in SHORTFALLS)
        version = self.version(finding.cell.target)
        standing, entry = self.gate.standing(finding, _evidence(finding), version)
        return replace(
            finding,
            standing=standing,
            explained_by=entry or finding.explained_by,
            falls_short=self.gate.fails(standing),
        )


def _evidence(finding: Finding) -> Evidence:
    """What a finding is held against the baseline with: there the oracle binds nothing."""
    return Evidence(finding.case, finding.cell.mode, finding.answer, None, finding.lowered)


class Reviewer:
    """Judges cells as their answers and the oracle's arrive, whichever comes first.

    Where answers are not `compared` with each other later, by version or by repetition, nor written
    into a baseline, what they observed is let go once it is judged.
    """

    def __init__(
        self,
        findings: Findings,
        cases: Iterable[Case],
        departures: Sequence[Departures],
        *,
        compared: bool = True,
    ) -> None:
        self.findings = findings
        self._departures = [*departures, *([findings.gate.baseline] if findings.gate else [])]
        self._compared = compared
        self._cases = list(cases)
        self._position = {case.id: position for position, case in enumerate(self._cases)}
        self._others = any(target != ORACLE_LABEL for target in findings.asked)
        self._oracle: dict[str, Answer] = {}
        self._waiting: dict[str, list[Answered]] = {}
        self._judges: dict[str, Judge] = {}

    def add(self, event: Event) -> Iterator[Finding]:
        """Take one event in; the findings that can now be made."""
        if isinstance(event, TargetReady):
            self.findings.targets[event.target] = event.about
        elif isinstance(event, TargetFailed):
            self.findings.failed[event.target] = event.reason
        elif event.repeat:
            self.findings.repeats.setdefault(event.cell, []).append(event)
        else:
            yield from self._answered(event)

    def finish(self) -> Iterator[Finding]:
        """The cells that the oracle never answered: one witness is no verdict."""
        note = "the run ended before the oracle answered"
        for event in (event for waiting in self._waiting.values() for event in waiting):
            yield self._found(event, Judgement("not_run", note=note), None)
        self._waiting.clear()
        everything = self.findings.everything
        repeats = self.findings.repeats
        for position, finding in enumerate(everything):
            again = repeats.get(finding.cell, ())
            if any(difference_of(finding.answer, a.answer, finding.cell.mode) for a in again):
                everything[position] = replace(finding, unstable=True)
        everything.sort(key=self._place)

    def _place(self, finding: Finding) -> tuple[int, int, int]:
        """Where a cell stands: by target as asked for, by case as in the corpus, by mode."""
        cell = finding.cell
        target = (ORACLE_LABEL, *self.findings.asked).index(cell.target)
        mode = MODES.index(cell.mode) if cell.mode in MODES else len(MODES)
        return target, self._position[cell.case], mode

    def _answered(self, event: Answered) -> Iterator[Finding]:
        case_id = event.cell.case
        if not self._is_of_today(event):
            self.findings.stale.append(event.cell)
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

    def _judged(self, event: Answered) -> Finding:
        cell = event.cell
        case = self._cases[self._position[cell.case]]
        oracle = None if cell.target == ORACLE_LABEL else self._oracle[cell.case]
        evidence = Evidence(case, cell.mode, event.answer, oracle, lower(case, cell.mode))
        judge = self._judges.setdefault(cell.target, Judge())
        name, version = target_name(cell.target), self.findings.version(cell.target)
        covering = [
            departure
            for departures in self._departures
            if departures.target == name
            for departure in departures.covering(version, cell.case, cell.mode)
        ]
        return self._found(event, *apply(judge.judge(evidence), covering, evidence))

    def _found(self, event: Answered, judgement: Judgement, departure: Departure | None) -> Finding:
        case = self._cases[self._position[event.cell.case]]
        told = {item.name: getattr(judgement, item.name) for item in fields(judgement)}
        finding = self.findings.held(
            Finding(**told, cell=event.cell, case=case, answer=event.answer, explained_by=departure)
        )
        if not self._compared:
            finding = replace(finding, answer=replace(event.answer, observations={}))
        self.findings.everything.append(finding)
        return finding


def findings_of(
    record: Record,
    cases: Iterable[Case],
    departures: Sequence[Departures],
    gate: Gate | None = None,
) -> Findings:
    """A record judged by the cases and departures of today."""
    asked = {str(item["target"]): tuple(item["modes"]) for item in record.header.get("asked", [])}
    findings = Findings(asked, tuple(record.header.get("command", ())), gate, record=record.path)
    reviewer = Reviewer(findings, cases, departures)
    for label, about in record.targets.items():
        list(reviewer.add(TargetReady(label, about)))
    for label, reason in record.failed.items():
        list(reviewer.add(TargetFailed(label, reason)))
    repeats = [answered for again in record.repeats.values() for answered in again]
    for answered in (*record.answers, *repeats):
        list(reviewer.add(answered))
    list(reviewer.finish())
    findings.complete, findings.reason = record.complete, record.reason
    findings.seconds = record.seconds
    return findings
