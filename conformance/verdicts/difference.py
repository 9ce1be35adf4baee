"""Two runs side by side: their cells paired, and what changed from one to the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, TypeAlias

from conformance.asking.events import Answered, Cell
from conformance.asking.record import Record
from conformance.closing import Word
from conformance.corpus.language.case import MODES
from conformance.targets.specification import name_of
from conformance.verdicts.changes import CLASSES, KINDS, Change, ChangeClass, Told, change_of
from conformance.verdicts.findings import ORACLE_LABEL, Findings

Key: TypeAlias = tuple[str, str, str]


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
        return [answered for answered in self.answers if answered.answer.outcome != "not_run"]

    def told(self, answered: Answered) -> Told:
        """An answer with what is known beside it."""
        about = self.targets.get(answered.cell.target, {})
        return Told(answered, about, self.repeats.get(answered.cell, ()))


@dataclass(frozen=True)
class Difference:
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


def side_of(record: Record) -> Side:
    """A record as one side."""
    targets, answers, repeats = record.targets, record.answers, record.repeats
    return Side(record.path, targets, answers, repeats, record.complete, record.reason)


def difference(old: Side, new: Side) -> Difference:
    """Every change from `old` to `new`; cells are paired by case, target and mode.

    A target is paired with that of its very label, else with the only other version of its name.
    """
    pairs = _pairs(_labels(old.cells), _labels(new.cells))
    asked = {label for side in (old, new) for label in _labels(side.cells)} - {ORACLE_LABEL}
    witness = ORACLE_LABEL if asked else ""
    before = {_key(answered): answered for answered in old.cells}
    partners = {label: partner for partner, label in pairs}
    after = {_key(answered, partners): answered for answered in new.cells}
    found: list[Change] = []
    compared = 0
    for key, answered in before.items():
        is_witness = answered.cell.target == witness
        if key in after:
            change = change_of(old.told(answered), new.told(after[key]))
            compared += not is_witness
        else:
            change = Change("removed", answered, None)
        if change and (not is_witness or change.kind in ("oracle changed", "unstable")):
            found.append(change)
    found += [
        Change("added", None, answered)
        for key, answered in after.items()
        if key not in before and answered.cell.target != witness
    ]
    return Difference(old, new, pairs, tuple(sorted(found, key=_order)), compared)


def changes_between_versions(results: Findings) -> Iterator[Difference]:
    """The changes from each version of a target to the next, in the order they were asked for.

    One run asks all versions for the same cases: what one of them alone has is no change.
    """
    by_name: dict[str, list[str]] = {}
    for label in results.asked:
        by_name.setdefault(name_of(label), []).append(label)
    for labels in by_name.values():
        for old, new in pairwise(labels):
            found = difference(_side_of(results, old), _side_of(results, new))
            both = [change for change in found.changes if change.kind not in ("removed", "added")]
            if found.compared:
                yield replace(found, changes=tuple(both))


def _side_of(results: Findings, label: str) -> Side:
    answers = [
        Answered(judged.cell, judged.program, judged.answer)
        for judged in results.everything
        if judged.cell.target == label
    ]
    about = {label: results.targets.get(label, {})}
    return Side(results.title(label), about, answers, results.repeats)


def _labels(answers: Iterable[Answered]) -> list[str]:
    return list(dict.fromkeys(answered.cell.target for answered in answers))


def _pairs(old: Sequence[str], new: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """The targets of both sides: of one label, or else the only one left of its name on each."""
    left, right = ([a for a in one if a not in other] for one, other in ((old, new), (new, old)))
    lone = [
        {name: label for label in labels for name in [name_of(label)] if names[name] == 1}
        for labels in (left, right)
        for names in [Counter(map(name_of, labels))]
    ]
    same = [(label, label) for label in old if label in new]
    return (*same, *((lone[0][name], lone[1][name]) for name in lone[0] if name in lone[1]))


def _key(answered: Answered, partners: Mapping[str, str] | None = None) -> Key:
    cell = answered.cell
    return cell.case, (partners or {}).get(cell.target, cell.target), cell.mode


def _order(change: Change) -> tuple[Any, ...]:
    cell = change.cell
    mode = MODES.index(cell.mode) if cell.mode in MODES else len(MODES)
    kinds = CLASSES.index(change.kind), change.cause, KINDS.index(change.mismatch)
    return *kinds, cell.case, cell.target, mode, cell.mode
