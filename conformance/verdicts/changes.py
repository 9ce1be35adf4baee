"""Changes: two runs side by side, and why a cell's answer is another one.

Cells are paired by case, target and mode. The first rule that holds gives the class of a change:

program changed         what ran has another hash; the answers are then not compared
unstable                the answers differ, and so do those of a repetition in a fresh process
oracle changed          the answers differ, and the cell is one of the oracle's own
implementation changed  the answers differ, and so does the target's version, or its file's text
environment changed     the answers differ, the version is known and the same, and Python, numpy, a
                        package that answers depend on or the platform is another one
implementation changed  the answers differ, and the version does not say what the target is: it is
                        unknown, or that of a file or module, which changes under one version
unstable                the answers differ, and nothing that is known does
warning changed         the answers agree, and what was logged does not
expectation changed     the answers agree, and what is declared has another hash
removed, added          one side alone has an answer; a cell that was not run has none
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Literal, TypeAlias, get_args

from conformance.answers.answer import Answer, Raised
from conformance.answers.compare import difference_of
from conformance.answers.mismatch import Mismatch, MismatchClass
from conformance.answers.text import describe, steady
from conformance.asking.events import Answered, Cell
from conformance.asking.profile import left_out
from conformance.asking.record import Record
from conformance.closing import Word
from conformance.corpus.language.case import MODES, ExpectedAnyOf
from conformance.targets.specification import name_of
from conformance.text import printable
from conformance.verdicts.against import Against
from conformance.verdicts.departures import Departure, Departures, target_name
from conformance.verdicts.findings import ORACLE_LABEL, Finding, Findings
from conformance.verdicts.judge import RAN

ChangeClass: TypeAlias = Literal[
    "implementation changed", "environment changed", "oracle changed", "warning changed",
    "expectation changed", "program changed", "removed", "added", "unstable",
]  # fmt: skip
CLASSES: tuple[ChangeClass, ...] = get_args(ChangeClass)
"""The most severe class first. The last one is no change: the cell never had one answer."""
SHORT: Mapping[str, ChangeClass] = {kind.removesuffix(" changed"): kind for kind in CLASSES}
"""The classes by the names that a command line has for them."""
REWORDED = "message"
"""What differs where an error differs in nothing but its message."""
KINDS: tuple[str, ...] = ("outcome", *get_args(MismatchClass), REWORDED, "")
NOT_OF_A_RUN: tuple[ChangeClass, ...] = ("removed", "added", "expectation changed")
RELEASED = "tensorflow"
"""The target whose version says which implementation it is."""
SURROUNDINGS = {
    "python": "Python",
    "numpy": "numpy",
    "distribution": "distribution",
    "platform": "platform",
}
ONCE = "Instructions for updating:"
"""Part of a warning that TensorFlow gives once a process: it depends on what ran before."""


@dataclass(frozen=True)
class Side:
    """One of two runs that are compared: a record, or one target of a run."""

    title: str
    targets: Mapping[str, Mapping[str, Any]]
    answers: Sequence[Answered]
    repeats: Mapping[Cell, Sequence[Answered]] = field(default_factory=dict)
    complete: bool = True
    reason: str = ""

    @property
    def cells(self) -> list[Answered]:
        """The cells that were run, in order."""
        return [
            answered
            for answered in self.answers
            if answered.answer.outcome != "not_run" and answered.cell.runs
        ]

    def about(self, cell: Cell) -> Mapping[str, Any]:
        """What the worker of a cell said of itself."""
        return self.targets.get(cell.target, {})

    def version(self, cell: Cell) -> str:
        """The version of a cell's target, empty where it is not known."""
        return str(self.about(cell).get("version") or "")


@dataclass(frozen=True)
class Change:
    """A cell that is not what it was; `cause` says between which versions, and what else differs.

    What differs are `mismatches`, of which `expected` is the old value and `got` the new one; where
    `why` says that the outcomes differ, they tell the values of the side that has some.
    `explained_by` is the departure that began or ended between the two, and `turn` says which.
    """

    kind: ChangeClass
    old: Answered | None
    new: Answered | None
    cause: str = ""
    mismatches: tuple[Mismatch, ...] = ()
    why: str = ""
    explained_by: Departure | None = None
    turn: str = ""

    @property
    def cell(self) -> Cell:
        """The cell, by its new target where it has one."""
        answered = self.new or self.old
        assert answered is not None
        return answered.cell

    @property
    def mismatch(self) -> str:
        """The class of its mismatches that comes first in the list, or `message`.

        `outcome` where `why` speaks; nothing where no answers were compared.
        """
        if self.why:
            return "outcome"
        if self.mismatches and all(map(self._is_reworded, self.mismatches)):
            return REWORDED
        return min((mismatch.kind for mismatch in self.mismatches), key=KINDS.index, default="")

    def _is_reworded(self, mismatch: Mismatch) -> bool:
        """Whether an error of one class stands on both sides."""
        old, new = (side.answer.observed(mismatch.name) for side in (self.old, self.new) if side)
        return isinstance(old, Raised) and isinstance(new, Raised) and old.type == new.type


@dataclass(frozen=True)
class Changes:
    """What changed from one side to the other, the most severe class first.

    `pairs` are the old and the new label of each target that both sides have; `compared` counts the
    cells that both have. Where the oracle is only a witness, its cells are not counted, and of
    their changes only `oracle changed` (or `unstable`) is one.
    """

    old: Side
    new: Side
    pairs: tuple[tuple[str, str], ...]
    changes: tuple[Change, ...]
    compared: int

    def of(self, kind: ChangeClass) -> list[Change]:
        """The changes of one class."""
        return [change for change in self.changes if change.kind == kind]

    @property
    def counts(self) -> dict[ChangeClass, int]:
        """How many cells have each class; one that no cell has is left out."""
        counted = Counter(change.kind for change in self.changes)
        return {kind: counted[kind] for kind in CLASSES if counted[kind]}

    def word(self, gated: Collection[ChangeClass] = ()) -> Word | None:
        """The closing word where these classes are gated; None where nothing was, nor is wrong."""
        if not (self.old.complete and self.new.complete):
            return "untrustworthy"
        if not self.compared:
            return "nothing_ran"
        if not gated:
            return None
        return "falls_short" if any(kind in gated for kind in self.counts) else "conforms"


# ----- two runs -----


def side_of(record: Record) -> Side:
    """A record as one side."""
    targets, answers, repeats = record.targets, record.answers, record.repeats
    return Side(record.path, targets, answers, repeats, record.complete, record.reason)


def changes_between(old: Side, new: Side, departures: Sequence[Departures] = ()) -> Changes:
    """Every change from `old` to `new`, with the departure that began or ended with it.

    A target is paired with that of its very label, else with the only other version of its name.
    """
    pairs = _pairs(_labels(old.cells), _labels(new.cells))
    asked = {label for side in (old, new) for label in _labels(side.cells)} - {ORACLE_LABEL}
    witness = ORACLE_LABEL if asked else ""
    partners = {label: partner for partner, label in pairs}
    before = {_key(answered, {}): answered for answered in old.cells}
    after = {_key(answered, partners): answered for answered in new.cells}
    never_asked = {
        cell
        for side, asked in ((old, before), (new, after))
        if side.complete
        for cell in left_out(asked.keys())
    }
    found: list[Change] = []
    compared = 0
    for key in before | after:
        was, now, is_witness = before.get(key), after.get(key), key.target == witness
        change: Change | None
        if was and now:
            compared += not is_witness
            change = _change(old, new, was, now)
        elif key in never_asked:
            continue
        else:
            change = Change("removed" if was else "added", was, now)
        if change and (not is_witness or change.kind in ("oracle changed", "unstable")):
            found.append(_explained(change, old, new, departures))
    return Changes(old, new, pairs, tuple(sorted(found, key=_order)), compared)


def changes_between_versions(
    findings: Findings, departures: Sequence[Departures] = ()
) -> Iterator[Changes]:
    """The changes from each version of a target to the next, in the order they were asked for.

    The record that the run is held against comes before them. One run asks all versions for the
    same cases: what one of them alone has is no change, nor is what is expected.
    """
    before = [side_of(findings.gate.record)] if isinstance(findings.gate, Against) else []
    names = dict.fromkeys(map(name_of, findings.asked))
    for name in names:
        labels = [label for label in findings.asked if name_of(label) == name]
        several = before or len(labels) > 1
        sides = [*before, *(_side_of(findings, label) for label in labels)] if several else []
        for old, new in pairwise(sides):
            found = changes_between(old, new, departures)
            own = [change for change in found.changes if change.kind not in NOT_OF_A_RUN]
            if found.compared:
                yield replace(found, changes=tuple(own))


def suspects(findings: Findings) -> set[Cell]:
    """The cells whose answer may not be the same each time, and that are not repeated yet.

    Those are the cells that do not plainly pass, those with several allowed answers, and those
    that two versions of a target answer differently.
    """
    found = {
        finding.cell
        for finding in findings.cells
        if finding.verdict in RAN and (finding.verdict != "pass" or _has_choice(finding))
    }
    by_name: dict[tuple[str, str, str], Finding] = {}
    for finding in findings.cells:
        cell = finding.cell
        key = (cell.case, name_of(cell.target), cell.mode)
        other = by_name.get(key)
        if other and difference_of(other.answer, finding.answer):
            found |= {other.cell, cell}
        by_name[key] = finding
    return found - findings.repeats.keys()


def _has_choice(finding: Finding) -> bool:
    expectations = finding.case.expectations_in(finding.cell.mode).values()
    return any(isinstance(expected, ExpectedAnyOf) for expected in expectations)


def _side_of(findings: Findings, label: str) -> Side:
    answers = [
        Answered(finding.cell, finding.lowered.hash, finding.answer)
        for finding in findings.everything
        if finding.cell.target == label
    ]
    about = {label: findings.targets.get(label, {})}
    return Side(findings.title(label), about, answers, findings.repeats)


def _labels(answers: Iterable[Answered]) -> list[str]:
    return list(dict.fromkeys(answered.cell.target for answered in answers))


def _pairs(old: Sequence[str], new: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """The targets of both sides: of one label, or else the only one left of its name on each."""
    same = [(label, label) for label in old if label in new]
    was, now = _only([a for a in old if a not in new]), _only([a for a in new if a not in old])
    return (*same, *((label, now[name]) for name, label in was.items() if name in now))


def _only(labels: Sequence[str]) -> dict[str, str]:
    """By name the label that no other one shares it with."""
    counted = Counter(map(name_of, labels))
    return {name_of(label): label for label in labels if counted[name_of(label)] == 1}


def _key(answered: Answered, partners: Mapping[str, str]) -> Cell:
    """The cell, by the label that its target has on the old side."""
    cell = answered.cell
    return Cell(cell.case, partners.get(cell.target, cell.target), cell.mode)


def _order(change: Change) -> tuple[Any, ...]:
    cell = change.cell
    kinds = CLASSES.index(change.kind), change.cause, KINDS.index(change.mismatch)
    return *kinds, cell.case, cell.target, (*MODES, cell.mode).index(cell.mode), cell.mode


# ----- two answers of a cell -----


def _change(old: Side, new: Side, before: Answered, after: Answered) -> Change | None:
    """What changed between two answers of a cell, if anything; the rules are the module's."""
    cell = after.cell
    name, was, now = name_of(cell.target), old.version(before.cell), new.version(cell)
    between = f"{name} {was or 'unknown version'} -> {now or 'unknown version'}"
    if was == now:
        between = f"{name} {now}" if now else f"{name}, of unknown version"
    if before.program != after.program:
        return Change("program changed", before, after, between)
    repeats = old.repeats.get(before.cell, ()), new.repeats.get(cell, ())
    differing = difference_of(before.answer, after.answer)
    if differing:
        kind, cause = _class_of(cell, old.about(before.cell), new.about(cell))
        if _wavers(before, after, repeats[0]) or _wavers(after, before, repeats[1]):
            kind, cause = "unstable", "another answer in a fresh process"
        causes = "; ".join(filter(None, (between, cause)))
        mismatches = differing.mismatches or tuple(_values(before.answer, after.answer))
        return Change(kind, before, after, causes, mismatches, differing.why)
    logged = [
        [_logged(told.answer) for told in (first, *again)]
        for first, again in zip((before, after), repeats, strict=True)
    ]
    (warned, *_), (warns, *_) = logged
    if warned != warns:
        gone, come = (
            printable("; ".join(sorted(some - other))) or "nothing of it"
            for some, other in ((warned, warns), (warns, warned))
        )
        mismatch = Mismatch("warning", "warnings", "", gone, come)
        is_steady = all(len(set(told)) == 1 for told in logged)
        kind = "warning changed" if is_steady else "unstable"
        return Change(kind, before, after, between, (mismatch,))
    if before.expectation != after.expectation:
        return Change("expectation changed", before, after, between)
    return None


def _values(old: Answer, new: Answer) -> Iterator[Mismatch]:
    """What the side that did answer says, where the other one did not."""
    for name in dict.fromkeys([*old.observations, *new.observations]):
        was, now = (
            describe(answer.observed(name), 2)
            if answer.outcome == "answered"
            else answer.end or answer.outcome
            for answer in (old, new)
        )
        yield Mismatch("error", name, "", was, now)


def _logged(answer: Answer) -> frozenset[str]:
    """The warnings, without what depends on the process."""
    return frozenset(steady(warning) for warning in answer.warnings if ONCE not in warning)


def _class_of(
    cell: Cell, old: Mapping[str, Any], new: Mapping[str, Any]
) -> tuple[ChangeClass, str]:
    """The class of a difference of answers, and what speaks for it beside the versions."""
    environment = ", ".join(_environment(old, new))
    if cell.target == ORACLE_LABEL:
        return "oracle changed", environment
    if not new.get("version") or old.get("version") != new.get("version"):
        return "implementation changed", environment
    if old.get("digest") != new.get("digest"):
        return "implementation changed", ", ".join(filter(None, ("another text", environment)))
    if environment:
        return "environment changed", environment
    if name_of(cell.target) != RELEASED:
        return "implementation changed", "the version is the same"
    return "unstable", "nothing that is known differs"


def _wavers(told: Answered, other: Answered, repeats: Sequence[Answered]) -> bool:
    """Whether repetitions differ from the answer, or give the other side's."""
    return any(
        difference_of(told.answer, again.answer) or not difference_of(again.answer, other.answer)
        for again in repeats
    )


def _environment(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """`numpy 1.26.4 -> 2.1.0` for each part that both sides know and that differs."""
    parts = {
        label: (old[key], new[key])
        for key, label in SURROUNDINGS.items()
        if old.get(key) and new.get(key)
    }
    packages = old.get("packages"), new.get("packages")
    if isinstance(packages[0], Mapping) and isinstance(packages[1], Mapping):
        for name in sorted(packages[0].keys() | packages[1].keys()):
            parts[name] = packages[0].get(name, "none"), packages[1].get(name, "none")
    return [f"{name} {was} -> {now}" for name, (was, now) in parts.items() if was != now]


def _explained(change: Change, old: Side, new: Side, lists: Sequence[Departures]) -> Change:
    """The change with the departure that speaks of one side alone."""
    if change.old is None or change.new is None:
        return change
    cell = change.cell
    versions = old.version(change.old.cell), new.version(change.new.cell)
    for departures in lists:
        if departures.target == target_name(cell.target):
            was, now = (departures.covering(v, cell.case, cell.mode) for v in versions)
            for entry in (*was, *now):
                if entry not in was or entry not in now:
                    turn = f"until {entry.until}" if entry in was else f"since {entry.since}"
                    return replace(change, explained_by=entry, turn=turn)
    return change
