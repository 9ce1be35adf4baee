"""Repeating: cells asked again in fresh processes, to see which answers are unstable."""

from __future__ import annotations

from collections.abc import Container, Generator, Sequence
from dataclasses import replace

from conformance.answers.answer import Answer
from conformance.answers.compare import difference_of
from conformance.asking.ask import ask
from conformance.asking.events import Answered, Cell
from conformance.corpus.language.case import Case, ExpectedAnyOf
from conformance.targets.specification import Target, name_of
from conformance.verdicts.findings import Finding, Findings
from conformance.verdicts.judge import RAN


def suspects(results: Findings) -> set[Cell]:
    """The cells whose answer may not be the same each time, and that are not repeated yet.

    Those are the cells that do not plainly pass, those with several allowed answers, and those
    that two versions of a target answer differently.
    """
    found = {
        judged.cell
        for judged in results.cells
        if judged.verdict in RAN and (judged.verdict != "pass" or _has_choice(judged))
    }
    by_name: dict[tuple[str, str, str], Finding] = {}
    for judged in results.cells:
        cell = judged.cell
        key = (cell.case, name_of(cell.target), cell.mode)
        other = by_name.get(key)
        if other and difference_of(other.answer, judged.answer, cell.mode):
            found |= {other.cell, cell}
        by_name[key] = judged
    return found - results.repeats.keys()


def _has_choice(judged: Finding) -> bool:
    expectations = judged.case.expectations_in(judged.cell.mode).values()
    return any(isinstance(expected, ExpectedAnyOf) for expected in expectations)


def unstable(first: Answer, repeats: Sequence[Answered], mode: str) -> bool:
    """Whether a cell's answer was another one when it was asked again."""
    return any(difference_of(first, again.answer, mode) for again in repeats)


def repetitions(
    cases: Sequence[Case],
    targets: Sequence[Target],
    cells: Container[Cell],
    times: int,
    *,
    timeout: float,
    workers: int,
) -> Generator[Answered]:
    """Ask each of these cells `times` times more, every time in a process that is new."""
    for number in range(1, times + 1):
        asking = ask(cases, targets, timeout=timeout, workers=workers, wanted=cells.__contains__)
        for event in asking:
            if isinstance(event, Answered):
                yield replace(event, repeat=number)
