"""Findings: what a run found of every cell, computed once; every report reads them.

A reviewer makes them as answers arrive, or from a record. A record's answers are judged anew, by
the cases and departures of today.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from typing import Any, get_args

from conformance.answers.answer import Answer, Value
from conformance.answers.compare import Difference, difference_of
from conformance.asking.events import Answered, Cell, Event, TargetFailed, TargetReady
from conformance.asking.profile import left_out
from conformance.asking.record import Record
from conformance.asking.worker import program_hash
from conformance.closing import Word
from conformance.corpus.language.case import MODES, Case
from conformance.corpus.language.derivative import forwards_of, oracle_differentiates
from conformance.corpus.language.lowering import Lowered, lower
from conformance.targets.specification import asked_of, name_of
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
LET_GO: Mapping[str, Value] = {}
JUDGED = [item.name for item in fields(Judgement)]


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
    def evidence(self) -> Evidence:
        """What is held against a baseline: there the oracle binds nothing."""
        return Evidence(self.case, self.cell.mode, self.answer, None, self.lowered)


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Two answers of one case that differ where nothing is judged: of two modes, or two targets."""

    one: Cell
    other: Cell
    difference: Difference


@dataclass
class Findings:
    """Everything that a report shows of a run.

    `asked` are the targets and their modes in the order they were asked for; `everything` are the
    findings of all cells, the oracle's own included. `stale` are cells of a record whose program
    is not the corpus's any more: shown, never judged. `repeats` are the answers of cells that were
    asked again, in fresh processes. `disagreements` are between answers to a survey, the first one
    of a case and each other one. `gate` is the baseline that the run is held against.
    """

    asked: Mapping[str, tuple[str, ...]]
    command: Sequence[str] = ()
    gate: Gate | None = None
    targets: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    everything: list[Finding] = field(default_factory=list)
    repeats: dict[Cell, list[Answered]] = field(default_factory=dict)
    stale: list[Cell] = field(default_factory=list)
    disagreements: list[Disagreement] = field(default_factory=list)
    inherits: dict[str, str] = field(default_factory=dict)
    """The targets that are newer than a list of departures, and its newest version."""
    complete: bool = False
    reason: str = ""
    seconds: float = 0.0
    record: str = ""

    @property
    def cells(self) -> list[Finding]:
        """The findings of the targets that were asked for, in order: not the oracle's own."""
        return [finding for finding in self.everything if finding.cell.target in self.asked]

    @property
    def left_out(self) -> set[Cell]:
        """The cells that its profile left out of a whole run."""
        asked = {found.cell for found in self.everything} | {c for c in self.stale if c.runs}
        return left_out(asked) if self.complete else set()

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
        found = [(finding, finding.evidence) for finding in self.cells]
        lacks = map(str, self.targets.get(target, {}).get("lacks") or ())
        return updated(self.gate.baseline, found, [case.id for case in cases], lacks, seen)

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
            return replace(finding, falls_short=True) if finding.verdict in SHORTFALLS else finding
        version = self.version(finding.cell.target)
        standing, entry = self.gate.standing(finding, finding.evidence, version)
        return replace(
            finding,
            standing=standing,
            explained_by=entry or finding.explained_by,
            falls_short=self.gate.fails(standing),
        )


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
        self._cases = {case.id: case for case in cases}
        self._others = any(target != ORACLE_LABEL for target in findings.asked)
        self._oracle: dict[str, Answer] = {}
        self._derived: dict[tuple[str, str], Answer] = {}
        self._waiting: dict[str, list[Answered]] = {}
        self._judges: dict[str, Judge] = {}

    def add(self, event: Event) -> list[Finding]:
        """Take one event in; the findings that can now be made."""
        if isinstance(event, TargetReady):
            self.findings.targets[event.target] = event.about
        elif isinstance(event, TargetFailed):
            self.findings.failed[event.target] = event.reason
        elif event.repeat:
            self.findings.repeats.setdefault(event.cell, []).append(event)
        else:
            return [self._judged(answered) for answered in self._ready(event)]
        return []

    def finish(self) -> list[Finding]:
        """The cells of which a witness never answered."""
        judgement = Judgement("not_run", note="the run ended before each witness answered")
        waiting = list(chain.from_iterable(self._waiting.values()))
        self._waiting.clear()
        unanswered = [self._found(event, judgement, None) for event in waiting]
        everything = self.findings.everything
        for position, finding in enumerate(everything):
            again = self.findings.repeats.get(finding.cell, ())
            if any(difference_of(finding.answer, other.answer) for other in again):
                everything[position] = replace(finding, unstable=True)
        targets = [ORACLE_LABEL, *self.findings.asked]
        cases = {case: position for position, case in enumerate(self._cases)}

        def place(finding: Finding) -> tuple[int, int, int]:
            """By target as asked for, by case as in the corpus, by mode; an unknown one is last."""
            cell = finding.cell
            mode = (*MODES, cell.mode).index(cell.mode)
            return targets.index(cell.target), cases[cell.case], mode

        everything.sort(key=place)
        self.findings.disagreements = [*_disagreements(self.findings.cells)]
        return unanswered

    def _ready(self, event: Answered) -> list[Answered]:
        """The answers that can be judged now that this one is there."""
        cell = event.cell
        case = self._cases.get(cell.case)
        if case is None or program_hash(case, cell.mode) != event.program:
            self.findings.stale.append(cell)
            return []
        waiting = self._waiting.pop(cell.case, [])
        if not cell.runs:
            self._derived[cell.case, cell.target] = event.answer
        else:
            waiting.append(event)
            if cell.target == ORACLE_LABEL and self._others:
                self._oracle[cell.case] = event.answer
        ready = [one for one in waiting if self._is_ready(one.cell, case)]
        if left := [one for one in waiting if one not in ready]:
            self._waiting[cell.case] = left
        return ready

    def _is_ready(self, cell: Cell, case: Case) -> bool:
        """Whether every witness of a cell has answered."""
        told = cell.target == ORACLE_LABEL or cell.case in self._oracle
        return told and (not forwards_of(case) or _deriver(cell, case) in self._derived)

    def _judged(self, event: Answered) -> Finding:
        cell = event.cell
        case = asked_of(cell.target, self._cases[cell.case])
        oracle = None if cell.target == ORACLE_LABEL else self._oracle[cell.case]
        derived = self._derived.get(_deriver(cell, case))
        program = lower(case, cell.mode)
        evidence = Evidence(case, cell.mode, event.answer, oracle, program, derived)
        judge = self._judges.setdefault(cell.target, Judge())
        name, version = target_name(cell.target), self.findings.version(cell.target)
        covering = []
        for departures in self._departures:
            if departures.target == name:
                covering += departures.covering(version, cell.case, cell.mode)
                if departures.inherits(version):
                    self.findings.inherits[cell.target] = departures.newest
        return self._found(event, *apply(judge.judge(evidence), covering, evidence))

    def _found(self, event: Answered, judgement: Judgement, departure: Departure | None) -> Finding:
        finding = Finding(
            **{name: getattr(judgement, name) for name in JUDGED},
            cell=event.cell,
            case=self._cases[event.cell.case],
            answer=event.answer,
            explained_by=departure,
        )
        finding = self.findings.held(finding)
        if not self._compared and finding.verdict != "surveyed":
            finding = replace(finding, answer=replace(event.answer, observations=LET_GO))
        self.findings.everything.append(finding)
        return finding


def _deriver(cell: Cell, case: Case) -> tuple[str, str]:
    """The case, and the target whose derivatives its gradients are held against."""
    return cell.case, ORACLE_LABEL if oracle_differentiates(case) else cell.target


def _disagreements(cells: Iterable[Finding]) -> Iterator[Disagreement]:
    first: dict[str, Finding] = {}
    for found in cells:
        if found.verdict == "surveyed":
            one = first.setdefault(found.cell.case, found)
            if difference := difference_of(one.answer, found.answer):
                yield Disagreement(one.cell, found.cell, difference)


def findings_of(
    record: Record,
    cases: Iterable[Case],
    departures: Sequence[Departures],
    gate: Gate | None = None,
) -> Findings:
    """A record judged by the cases and departures of today."""
    findings = Findings(
        record.asked,
        tuple(record.header.get("command", ())),
        gate,
        dict(record.targets),
        dict(record.failed),
        repeats={cell: list(again) for cell, again in record.repeats.items()},
        complete=record.complete,
        reason=record.reason,
        seconds=record.seconds,
        record=record.path,
    )
    reviewer = Reviewer(findings, cases, departures)
    for answered in record.answers:
        reviewer.add(answered)
    reviewer.finish()
    return findings
