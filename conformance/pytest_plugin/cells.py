"""Case files as items of pytest, one for each cell, told as `gradconf run` tells them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from _pytest._code.code import ExceptionInfo, TerminalRepr

from conformance import __version__
from conformance.asking.ask import ORACLE
from conformance.asking.events import Answered, Event, TargetReady
from conformance.asking.worker import Job, TargetChanged, Worker
from conformance.closing import UsageError
from conformance.commands.gating import documented, gate_of
from conformance.commands.options import corpus_folder, say
from conformance.corpus.cases import CORPUS_VERSION, load_corpus
from conformance.corpus.language.case import DERIVATIVE, Case
from conformance.corpus.language.derivative import forwards_of, oracle_differentiates
from conformance.corpus.language.document import CaseFileError
from conformance.corpus.language.loader import load_file
from conformance.drivers import Limits
from conformance.files import data_folder
from conformance.report.of_run import blocks_of
from conformance.report.text import block_text
from conformance.targets.environments import provisioned
from conformance.targets.specification import Target, asked_of, parse_targets
from conformance.text import printable
from conformance.verdicts.findings import Finding, Findings, Reviewer
from conformance.verdicts.judge import SHORTFALLS

LEFT_OUT = ("not_applicable", "unsupported", "surveyed")
CASES = re.compile(rb"^cases:", re.MULTILINE)


class Told(Exception):
    """What came of a cell, for a person: shown as it stands, without a traceback."""


class Cells:
    """The plugin at work in one process: its targets, and a worker for each and for the oracle."""

    def __init__(self, config: pytest.Config, words: Sequence[str]) -> None:
        given = config.option
        try:
            self.root = corpus_folder(given.corpus) if given.corpus else data_folder("cases")
            self.targets = [provisioned(one, say) for one in parse_targets(words, given.python)]
            labels = [target.label for target in self.targets]
            checked = load_corpus(self.root) if given.baseline or given.deviations else None
            self._gate = gate_of(given, checked, labels)
            self._departures = documented(given, checked, labels)
        except UsageError as error:
            raise pytest.UsageError(printable(error)) from error
        said = {"--corpus": given.corpus, "--python": given.python}
        self.command = [word for pair in said.items() if pair[1] for word in pair]
        self._timeout = float(given.cell_timeout)
        self._limits = Limits(confined=not given.no_confine)
        self._named = {Path(str(word).partition("::")[0]).resolve() for word in config.args}
        self._workers: dict[str, Worker] = {}
        self._oracle: dict[str, Answered] = {}
        self._derived: dict[tuple[str, str], Answered] = {}

    def pytest_report_header(self) -> str:
        """Say what is asked."""
        asked = [f"{target.label}:{','.join(target.modes)}" for target in self.targets]
        return f"gradconf {__version__}, corpus {CORPUS_VERSION}: {' '.join(asked)}"

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> CaseFile | None:
        """A file of cases: any YAML file that is named, else one that has cases."""
        if file_path.suffix != ".yaml":
            return None
        if file_path not in self._named and not CASES.search(file_path.read_bytes()):
            return None
        return CaseFile.from_parent(parent, path=file_path, cells=self)

    def pytest_unconfigure(self) -> None:
        """End the workers."""
        for worker in self._workers.values():
            worker.close()

    def finding(self, case: Case, target: Target, mode: str, *, own: bool) -> Finding:
        """Ask for one cell and judge it by both witnesses; `own` says that the case is not ours."""
        events: list[Event] = [] if target.is_reference else [self._oracle_answer(case)]
        deriver = ORACLE if oracle_differentiates(case) else target
        events += [self._derivatives(case, deriver)] if forwards_of(case) else []
        answered = self._worker(target).ask(Job(asked_of(target.label, case), mode))
        events += [TargetReady(target.label, self._worker(target).about), answered]
        findings = Findings({target.label: target.modes}, gate=self._gate)
        reviewer = Reviewer(findings, [case], [] if own else self._departures)
        return [found for event in events for found in reviewer.add(event)][-1]

    def _oracle_answer(self, case: Case) -> Answered:
        """The oracle's answer, asked for once."""
        if case.id not in self._oracle:
            self._oracle[case.id] = self._worker(ORACLE).ask(Job(case, "eager"))
        return self._oracle[case.id]

    def _derivatives(self, case: Case, target: Target) -> Answered:
        """A target's derivatives, asked for once."""
        key = case.id, target.label
        if key not in self._derived:
            self._derived[key] = self._worker(target).ask(Job(case, DERIVATIVE))
        return self._derived[key]

    def _worker(self, target: Target) -> Worker:
        if target.label not in self._workers:
            self._workers[target.label] = Worker(target, self._timeout, limits=self._limits)
        return self._workers[target.label]


class CaseFile(pytest.File):
    """A file of cases."""

    def __init__(self, *, cells: Cells, **pytests_own: Any) -> None:
        super().__init__(**pytests_own)
        self.cells = cells

    def collect(self) -> Iterator[CellItem]:
        """One item for each case, target and mode; every fault of the file at once."""
        own = not self.path.resolve().is_relative_to(self.cells.root.resolve())
        try:
            cases = load_file(self.path, self.cells.root)
        except CaseFileError as error:
            raise self.CollectError(str(error)) from error
        for case, target in product(cases, self.cells.targets):
            for mode in target.modes:
                name = f"{case.id.rpartition('/')[2]}[{target.label}:{mode}]"
                yield CellItem.from_parent(self, name=name, asked=(case, target, mode), own=own)


class CellItem(pytest.Item):
    """One cell."""

    def __init__(self, *, asked: tuple[Case, Target, str], own: bool, **pytests_own: Any) -> None:
        super().__init__(**pytests_own)
        self.case, self.target, self.mode = asked
        self.own = own
        self.finding: Finding | None = None

    def setup(self) -> None:
        """Ask and judge: a fault of the suite or an adapter is an error, not the target's."""
        try:
            found = self._cells.finding(self.case, self.target, self.mode, own=self.own)
        except TargetChanged as error:
            raise Told(printable(error)) from error
        self.finding = found
        if found.verdict in LEFT_OUT and not found.falls_short:
            pytest.skip(self._reason(found))
        if found.verdict not in ("pass", "known_deviation", *LEFT_OUT, *SHORTFALLS):
            raise Told(self._told(found))

    def runtest(self) -> None:
        """Tell the verdict: what is documented, or known by the baseline, is expected to fail."""
        assert self.finding is not None
        if self.finding.falls_short:
            raise Told(self._told(self.finding))
        if self.finding.verdict != "pass":
            pytest.xfail(self._reason(self.finding))

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the case is written, and the cell's name."""
        name = f"{self.case.id} [{self.target.label}:{self.mode}]"
        return self.path, self.case.place.line - 1, name

    def repr_failure(
        self, excinfo: ExceptionInfo[BaseException], style: Any = None
    ) -> str | TerminalRepr:
        """The same text as `gradconf run` has."""
        if isinstance(excinfo.value, Told):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    @property
    def _cells(self) -> Cells:
        assert isinstance(self.parent, CaseFile)
        return self.parent.cells

    def _reason(self, finding: Finding) -> str:
        (block,) = blocks_of([finding])
        told = [finding.standing or "", block.label, *block.told(), block.explanation]
        return "; ".join(filter(None, map(printable, told)))

    def _told(self, finding: Finding) -> str:
        own = ["--corpus", str(self.path.parent.parent)] if self.own else []
        (block,) = blocks_of([finding], own or self._cells.command)
        return block_text(block)
