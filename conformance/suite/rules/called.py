"""Which registered gradients the cases call: the corpus on TensorFlow, its registry wrapped."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from conformance.answers.answer import Answer
from conformance.asking.ask import ORACLE, ask
from conformance.asking.events import Answered, Cell
from conformance.corpus.catalogue import FOLDER
from conformance.corpus.language.case import Case
from conformance.corpus.language.derivative import oracle_differentiates
from conformance.corpus.language.document import read_document
from conformance.targets.specification import Target
from conformance.verdicts.departures import Departures
from conformance.verdicts.findings import ORACLE_LABEL, Findings, Reviewer

MODES = ("eager", "graph")
TARGET = Target("tensorflow", "conformance.suite.rules.inside.target", MODES, attribute="tf")
"""TensorFlow, whose rules tell that they are called."""
PREFIX = "rule: "
"""What marks the warnings in which they do."""
UNREACHABLE = FOLDER.with_name("unreachable.yaml")


@dataclass(frozen=True)
class Call:
    """One way in which a case calls a rule; `order` is that of the gradient that was asked for.

    `broadcasts` says that an input was smaller than the operation's result.
    """

    order: int
    dtypes: tuple[str, ...]
    ranks: tuple[int, ...]
    attributes: tuple[str, ...]
    broadcasts: bool


@dataclass
class Called:
    """What the unbroken registry showed; `calls` are those of each rule, by case.

    `findings` judge the answers as in any run; `oracle` are the reference's, by case, and `derived`
    the derivatives of TensorFlow's forward, in which a broken rule has no part.
    """

    findings: Findings
    registered: set[str] = field(default_factory=set)
    calls: dict[str, dict[str, list[Call]]] = field(default_factory=dict)
    oracle: dict[str, Answer] = field(default_factory=dict)
    derived: dict[str, Answer] = field(default_factory=dict)

    def calls_of(self, rule: str) -> list[Call]:
        """Every call of a rule."""
        return [call for calls in self.calls.get(rule, {}).values() for call in calls]

    @property
    def passed(self) -> set[str]:
        """The cases whose cell passes: only these can show that a mistake is one."""
        return {found.cell.case for found in self.findings.cells if found.verdict == "pass"}


def unreachable(file: Path = UNREACHABLE) -> dict[str, str]:
    """The registered gradients that no program can call, and why; raises CaseFileError."""
    root = read_document(file, file.name)
    reasons = root.mapping()["unreachable"].mapping()
    found = {name: reason for reason, names in reasons.items() for name in names.lines()}
    root.finish()
    return found


def without_facts(answer: Answer) -> Answer:
    """An answer without what the wrapped registry told beside it."""
    warnings = tuple(text for text in answer.warnings if not text.startswith(PREFIX))
    return replace(answer, warnings=warnings)


def facts_of(answer: Answer) -> Iterator[dict[str, Any]]:
    """What the wrapped registry told beside an answer."""
    for text in answer.warnings:
        if text.startswith(PREFIX):
            yield json.loads(text.removeprefix(PREFIX))


def call_rules(cases: Sequence[Case], departures: Sequence[Departures], workers: int = 2) -> Called:
    """Ask TensorFlow every case once, its registry wrapped and nothing broken."""
    called = Called(Findings({TARGET.label: MODES}))
    reviewer = Reviewer(called.findings, cases, departures, compared=False)
    modes = {case.id: case.simplest_mode for case in cases}
    by_id = {case.id: case for case in cases}

    def wanted(cell: Cell) -> bool:
        return cell.target == ORACLE_LABEL or not cell.runs or cell.mode == modes[cell.case]

    for event in ask(cases, [ORACLE, TARGET], wanted=wanted, workers=workers):
        if isinstance(event, Answered) and not event.cell.runs:
            of_oracle = event.cell.target == ORACLE_LABEL
            if of_oracle == oracle_differentiates(by_id[event.cell.case]):
                called.derived[event.cell.case] = event.answer
        elif isinstance(event, Answered) and event.cell.target == ORACLE_LABEL:
            called.oracle[event.cell.case] = event.answer
        elif isinstance(event, Answered):
            _add(called, event)
            event = replace(event, answer=without_facts(event.answer))
        reviewer.add(event)
    reviewer.finish()
    called.findings.complete = True
    return called


def _add(called: Called, answered: Answered) -> None:
    for facts in facts_of(answered.answer):
        called.registered.update(facts.get("registered", ()))
        if "rule" in facts:
            call = Call(
                facts["order"],
                tuple(facts["dtypes"]),
                tuple(facts["ranks"]),
                tuple(facts["attributes"]),
                facts["broadcasts"],
            )
            cases = called.calls.setdefault(facts["rule"], {})
            cases.setdefault(answered.cell.case, []).append(call)
