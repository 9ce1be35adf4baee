"""Points at which frameworks choose differently, and none is wrong: what each of them answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from conformance.answers.answer import Answer
from conformance.answers.text import describe
from conformance.asking.record import Record
from conformance.corpus.language.case import DERIVATIVE, Case
from conformance.verdicts.departures import Departure, Departures, target_name
from conformance.verdicts.findings import ORACLE_LABEL, Finding, findings_of

CONVENTION = "convention"
READ = ("eager", DERIVATIVE)
"""The mode that every framework has, and what its gradients are held against."""
DEPTH = 2
"""How far the items of lists are told."""


@dataclass(frozen=True)
class Choice:
    """What a version of a framework answers at a point; `finding` says whether it departs."""

    version: str
    text: str
    finding: Finding


@dataclass(frozen=True)
class Point:
    """A case at which a framework departs by convention, and each framework's choices there.

    `choices` are by framework and in the order of its versions; one that lacks what the case needs
    is left out. `contract` is what is due.
    """

    case: Case
    contract: str
    choices: Mapping[str, Sequence[Choice]]

    @cached_property
    def usual(self) -> str:
        """What most frameworks answer in their newest version; the contract's where they tie."""
        told = Counter(found[-1].text for found in self.choices.values())
        most = max(told.values())
        return self.contract if told[self.contract] == most else max(told, key=lambda t: told[t])

    @property
    def reasons(self) -> list[str]:
        """Why they depart by convention, each reason once."""
        found = (convention_of(one.finding) for own in self.choices.values() for one in own)
        return list(dict.fromkeys(by.reason for by in found if by))


def convention_of(finding: Finding) -> Departure | None:
    """The departure that says that what was found is a convention."""
    by = finding.explained_by if finding.verdict == "known_deviation" else None
    return by if by and by.kind == CONVENTION else None


def points(
    records: Sequence[Record], cases: Sequence[Case], lists: Sequence[Departures]
) -> Iterator[Point]:
    """The points in the order of the corpus; the records of a framework, the oldest first."""
    entries = [entry for each in lists for entry in each.entries if entry.kind == CONVENTION]
    chosen = [case for case in cases if any(entry.names(case.id) for entry in entries)]
    ids = {case.id for case in chosen}
    found: dict[str, dict[str, list[tuple[str, Finding]]]] = {id: {} for id in ids}
    due: dict[str, Finding] = {}
    for record in records:
        answers = [a for a in record.answers if a.cell.case in ids and a.cell.mode in READ]
        findings = findings_of(replace(record, answers=answers), chosen, lists)
        for one in findings.everything:
            if one.cell.target == ORACLE_LABEL:
                due.setdefault(one.cell.case, one)
            elif one.cell.mode == "eager" and one.verdict not in ("unsupported", "not_run"):
                own = found[one.cell.case].setdefault(target_name(one.cell.target), [])
                own.append((findings.version(one.cell.target), one))
    for case in chosen:
        point = _point(case, found[case.id], due.get(case.id))
        if point.reasons:
            yield point


def _point(
    case: Case, found: Mapping[str, Sequence[tuple[str, Finding]]], oracle: Finding | None
) -> Point:
    everyone = [one for own in found.values() for _, one in own]
    names = _names(case, everyone)
    right = oracle if oracle and oracle.answer.outcome == "answered" else None
    kept = right or next((one for one in everyone if one.verdict == "pass"), None)
    contract = _told(kept.answer, names) if kept else "as the case says"
    choices = {
        name: [
            Choice(version, contract if one.verdict == "pass" else _told(one.answer, names), one)
            for version, one in own
        ]
        for name, own in found.items()
    }
    return Point(case, contract, choices)


def _names(case: Case, findings: Sequence[Finding]) -> list[str]:
    """The names that departures by convention speak of; all that are observed where none does."""
    spoken = {name for by in map(convention_of, findings) if by for name in by.answer}
    return [name for name in case.observed if name in spoken] or list(case.observed)


def _told(answer: Answer, names: Sequence[str]) -> str:
    """The values of these names in one line, or how the program ended."""
    if answer.end:
        return answer.end
    if answer.error:
        return f"raises {answer.error.type}"
    told = [describe(answer.observed(name), DEPTH) for name in names]
    return told[0] if len(told) == 1 else "; ".join(map("{}: {}".format, names, told))
