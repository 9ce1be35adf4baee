"""Findings: what a run found of every cell, computed once; every report reads them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from conformance.answers.answer import Answer
from conformance.answers.mismatch import Mismatch
from conformance.asking.events import Answered, Cell
from conformance.closing import Word
from conformance.corpus.language.case import Case
from conformance.targets.specification import name_of
from conformance.verdicts.departures import Departure
from conformance.verdicts.judge import Verdict
from conformance.verdicts.results import FAULTS, ORACLE_LABEL, RAN, SHORTFALLS

Standing: TypeAlias = Literal["known", "worse", "better", "new case"]
"""What a cell is beside the baseline; a cell of which nothing is to be said has no standing."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found of one cell.

    `mismatches` differ, of `compared` facts, by these `witnesses`; `note` is for people: why there
    is no pass or fail, or what the judge had to assume. `program` is the hash of what ran.

    `explained_by` is the departure that speaks of the cell: a documented one, or the baseline's
    entry; `was` is what it says of the answer, in one line. `falls_short` says that the cell makes
    its target fall short, beyond the baseline; `unstable` that it gave another answer when it was
    asked again.
    """

    cell: Cell
    case: Case
    answer: Answer
    program: str
    verdict: Verdict
    mismatches: tuple[Mismatch, ...] = ()
    compared: int = 0
    note: str = ""
    witnesses: tuple[str, ...] = ()
    standing: Standing | None = None
    explained_by: Departure | None = None
    was: str = ""
    falls_short: bool = False
    unstable: bool = False


@dataclass
class Findings:
    """Everything that a report shows of a run; made live while it goes, or from a record.

    `asked` are the targets and their modes in the order they were asked for; `everything` are the
    findings of all cells, the oracle's own included. `stale` are cells of a record whose program
    is not the corpus's any more: shown, never judged. `repeats` are the answers of cells that were
    asked again, in fresh processes. `baseline` is the file whose entries the standings are from.
    """

    asked: Mapping[str, tuple[str, ...]]
    command: Sequence[str] = ()
    targets: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    everything: list[Finding] = field(default_factory=list)
    repeats: dict[Cell, list[Answered]] = field(default_factory=dict)
    stale: list[Cell] = field(default_factory=list)
    complete: bool = False
    reason: str = ""
    seconds: float = 0.0
    record: str = ""
    baseline: str = ""

    @property
    def cells(self) -> list[Finding]:
        """The findings of the targets that were asked for, in order: not the oracle's own."""
        return [found for found in self.everything if found.cell.target in self.asked]

    @property
    def oracle_faults(self) -> list[Finding]:
        """The oracle's own cells that its cases contradict: then no verdict can be trusted."""
        if ORACLE_LABEL in self.asked:
            return []
        return [
            found
            for found in self.everything
            if found.cell.target == ORACLE_LABEL and found.verdict in (*SHORTFALLS, *FAULTS)
        ]

    def counts(self, target: str | None = None, mode: str | None = None) -> dict[Verdict, int]:
        """How many cells have each verdict, of one target or mode or of all."""
        counted = Counter(
            found.verdict
            for found in self.cells
            if target in (None, found.cell.target) and mode in (None, found.cell.mode)
        )
        return {verdict: counted[verdict] for verdict in get_args(Verdict) if counted[verdict]}

    def standings(self) -> dict[Standing, int]:
        """How many cells have each standing; one that no cell has is left out."""
        counted = Counter(found.standing for found in self.cells)
        return {standing: counted[standing] for standing in get_args(Standing) if counted[standing]}

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
        ran = sum(counts.get(verdict, 0) for verdict in RAN)
        cut_short = not self.complete and self.reason != "fail-fast"
        if cut_short or any(map(counts.get, FAULTS)) or self.oracle_faults:
            return "no_target" if self.failed and not ran else "untrustworthy"
        if self.failed:
            return "no_target"
        if not ran:
            return "nothing_ran"
        return "falls_short" if any(found.falls_short for found in self.cells) else "conforms"
