"""Case files as items of pytest, one for each cell, told as `gradconf run` tells them."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from _pytest._code.code import ExceptionInfo, TerminalRepr

from conformance import __version__
from conformance.asking.ask import ORACLE
from conformance.asking.events import Answered, Event, TargetReady
from conformance.asking.worker import Job, Worker
from conformance.closing import UsageError
from conformance.corpus.cases import CORPUS_VERSION, load_corpus
from conformance.corpus.language.case import Case
from conformance.corpus.language.document import CaseFileError
from conformance.corpus.language.loader import load_file
from conformance.places import data_folder
from conformance.report.of_run import blocks_of
from conformance.report.text import block_text
from conformance.targets.environments import provisioned
from conformance.targets.specification import Target, TargetError, parse_target
from conformance.text import printable
from conformance.verdicts.departure_file import read_folder
from conformance.verdicts.departures import Departures
from conformance.verdicts.findings import Finding, Findings, Reviewer
from conformance.verdicts.judge import SHORTFALLS

LEFT_OUT = ("not_applicable", "unsupported")
CASES = re.compile(rb"^cases:", re.MULTILINE)


class Told(Exception):
    """What came of a cell, for a person: shown as it stands, without a traceback."""


class Cells:
    """The plugin at work in one process: its targets, and a worker for each and for the oracle."""

    def __init__(self, config: pytest.Config, words: Sequence[str]) -> None:
        self.targets = _targets(words)
        self._timeout = float(config.getoption("--cell-timeout"))
        self._named = {Path(word).resolve() for word in map(_file_of, config.args)}
        self._workers: dict[str, Worker] = {}
        self._oracle: dict[str, Answered] = {}

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

    def judged(self, case: Case, target: Target, mode: str, *, own: bool) -> Finding:
        """Ask for one cell and judge it by both witnesses; `own` says that the case is not ours."""
        answered = self._worker(target).ask(Job(case, mode))
        events: list[Event] = [TargetReady(target.label, self._worker(target).about)]
        if not target.is_reference:
            events.append(self._oracle_answer(case))
        results = Findings({target.label: target.modes})
        reviewer = Reviewer(results, [case], [] if own else self._deviations)
        return [judged for event in [*events, answered] for judged in reviewer.add(event)][-1]

    def _oracle_answer(self, case: Case) -> Answered:
        """The oracle's answer, asked for once."""
        if case.id not in self._oracle:
            self._oracle[case.id] = self._worker(ORACLE).ask(Job(case, "eager"))
        return self._oracle[case.id]

    def _worker(self, target: Target) -> Worker:
        if target.label not in self._workers:
            self._workers[target.label] = Worker(target, self._timeout)
        return self._workers[target.label]

    @cached_property
    def _deviations(self) -> list[Departures]:
        try:
            return read_folder(data_folder("deviations"), load_corpus())
        except UsageError as error:
            raise Told(str(error)) from error


def _targets(words: Sequence[str]) -> list[Target]:
    try:
        targets = [provisioned(parse_target(word), _say) for word in words]
    except TargetError as error:
        raise pytest.UsageError(f"--target: {error}") from error
    labels = [target.label for target in targets]
    if len(set(labels)) < len(labels):
        raise pytest.UsageError("--target: a target is named twice: write its modes together")
    return targets


def _say(line: str) -> None:
    print(line, file=sys.stderr)


def _file_of(word: str) -> str:
    return str(word).partition("::")[0]


class CaseFile(pytest.File):
    """A file of cases."""

    def __init__(self, *, cells: Cells, **pytests_own: Any) -> None:
        super().__init__(**pytests_own)
        self.cells = cells

    def collect(self) -> Iterator[CellItem]:
        """One item for each case, target and mode; every fault of the file at once."""
        root = data_folder("cases")
        own = not self.path.resolve().is_relative_to(root.resolve())
        try:
            cases = load_file(self.path, root)
        except CaseFileError as error:
            raise self.CollectError(str(error)) from error
        for case in cases:
            for target in self.cells.targets:
                for mode in target.modes:
                    name = f"{case.id.rpartition('/')[2]}[{target.label}:{mode}]"
                    asked = (case, target, mode)
                    yield CellItem.from_parent(self, name=name, asked=asked, own=own)


class CellItem(pytest.Item):
    """One cell."""

    def __init__(self, *, asked: tuple[Case, Target, str], own: bool, **pytests_own: Any) -> None:
        super().__init__(**pytests_own)
        self.case, self.target, self.mode = asked
        self.own = own
        self.judged: Finding | None = None

    def setup(self) -> None:
        """Ask and judge: a fault of the suite or an adapter is an error, not the target's."""
        assert isinstance(self.parent, CaseFile)
        cells = self.parent.cells
        self.judged = cells.judged(self.case, self.target, self.mode, own=self.own)
        if self.judged.verdict in LEFT_OUT:
            pytest.skip(self._reason(self.judged))
        if self.judged.verdict not in ("pass", "known_deviation", *SHORTFALLS):
            raise Told(self._told(self.judged))

    def runtest(self) -> None:
        """Tell the verdict."""
        assert self.judged is not None
        if self.judged.verdict == "known_deviation":
            pytest.xfail(self._reason(self.judged))
        if self.judged.verdict in SHORTFALLS:
            raise Told(self._told(self.judged))

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the case is written, and the cell's name."""
        return (
            self.path,
            self.case.place.line - 1,
            f"{self.case.id} [{self.target.label}:{self.mode}]",
        )

    def repr_failure(
        self, excinfo: ExceptionInfo[BaseException], style: Any = None
    ) -> str | TerminalRepr:
        """The same text as `gradconf run` has."""
        if isinstance(excinfo.value, Told):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def _reason(self, judged: Finding) -> str:
        (block,) = blocks_of([judged])
        told = [block.label, *block.shortened(), block.explanation]
        return "; ".join(filter(None, map(printable, told)))

    def _told(self, judged: Finding) -> str:
        command = ("--corpus", str(self.path.parent.parent)) if self.own else ()
        (block,) = blocks_of([judged], command)
        return block_text(block)
