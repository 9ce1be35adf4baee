"""The class of a change: why a cell's answer is another one, by all that is known of both sides.

The first rule that holds gives the class:

program changed         what ran has another hash; the answers are then not compared
unstable                the answers differ, and so do those of a repetition in a fresh process
oracle changed          the answers differ, and the cell is one of the oracle's own
implementation changed  the answers differ, and so does the target's version, or its file's text
environment changed     the answers differ, the version is known and the same, and Python, numpy, a
                        package that answers depend on or the platform is another one
implementation changed  the answers differ, and the version does not say what the target is: it is
                        unknown, or that of a file or module, which changes under one version
unstable                the answers differ, and nothing that is known does
expectation changed     the answers agree, and what is declared has another hash
removed, added          one side alone has an answer; a cell that was not run has none
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from conformance.answers.compare import difference_of
from conformance.answers.mismatch import Mismatch, MismatchClass
from conformance.answers.values import Raised
from conformance.asking.events import Answered, Cell
from conformance.targets.specification import name_of
from conformance.verdicts.findings import ORACLE_LABEL
from conformance.verdicts.repeating import unstable

ChangeClass: TypeAlias = Literal[
    "implementation changed", "environment changed", "oracle changed", "expectation changed",
    "program changed", "removed", "added", "unstable",
]  # fmt: skip
CLASSES: tuple[ChangeClass, ...] = get_args(ChangeClass)
"""The most severe class first. The last one is no change: the cell never had one answer."""
SHORT: Mapping[str, ChangeClass] = {kind.removesuffix(" changed"): kind for kind in CLASSES}
"""The classes by the names that a command line has for them."""
REWORDED = "message"
"""What differs where an error differs in nothing but its message."""
KINDS: tuple[str, ...] = ("outcome", *get_args(MismatchClass), REWORDED, "")
RELEASED = "tensorflow"
"""The target whose version says which implementation it is."""
SURROUNDINGS = {
    "python": "Python",
    "numpy": "numpy",
    "distribution": "distribution",
    "platform": "platform",
}


@dataclass(frozen=True)
class Told:
    """A cell's answer on one side, what its worker said of itself, and its repetitions."""

    answered: Answered
    about: Mapping[str, Any]
    repeats: Sequence[Answered] = ()

    @property
    def version(self) -> str:
        """The version of the target, empty where it is not known."""
        return str(self.about.get("version") or "")


@dataclass(frozen=True)
class Change:
    """A cell that is not what it was; `cause` says between which versions, and what else differs.

    What differs are `mismatches`, of which `expected` is the old value and `got` the new one, or
    `why` says it.
    """

    kind: ChangeClass
    old: Answered | None
    new: Answered | None
    cause: str = ""
    mismatches: tuple[Mismatch, ...] = ()
    why: str = ""

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


def change_of(old: Told, new: Told) -> Change | None:
    """What changed between two answers of a cell, if anything; the rules are the module's."""
    between = _between(old, new)
    sides = (old.answered, new.answered)
    if old.answered.program != new.answered.program:
        return Change("program changed", *sides, between)
    differing = difference_of(old.answered.answer, new.answered.answer, new.answered.cell.mode)
    if differing is not None:
        kind, cause = _class_of(old, new)
        causes = "; ".join(filter(None, (between, cause)))
        return Change(kind, *sides, causes, differing.mismatches, differing.why)
    if old.answered.expectation != new.answered.expectation:
        return Change("expectation changed", *sides, between)
    return None


def _between(old: Told, new: Told) -> str:
    """`tensorflow 2.8.4 -> 2.21.0`."""
    name = name_of(new.answered.cell.target)
    if old.version == new.version:
        return f"{name} {new.version}" if new.version else f"{name}, of unknown version"
    return f"{name} {old.version or 'unknown version'} -> {new.version or 'unknown version'}"


def _class_of(old: Told, new: Told) -> tuple[ChangeClass, str]:
    """The class of a difference of answers, and what speaks for it beside the versions."""
    environment = ", ".join(_environment(old.about, new.about))
    if _wavers(old, new) or _wavers(new, old):
        return "unstable", "another answer in a fresh process"
    if new.answered.cell.target == ORACLE_LABEL:
        return "oracle changed", environment
    if not new.version or old.version != new.version:
        return "implementation changed", environment
    if old.about.get("digest") != new.about.get("digest"):
        return "implementation changed", ", ".join(filter(None, ("another text", environment)))
    if environment:
        return "environment changed", environment
    if name_of(new.answered.cell.target) != RELEASED:
        return "implementation changed", "the version is the same"
    return "unstable", "nothing that is known differs"


def _wavers(told: Told, other: Told) -> bool:
    """Whether repetitions differ from the answer, or give the other side's."""
    first, theirs = told.answered.answer, other.answered.answer
    mode = told.answered.cell.mode
    if unstable(first, told.repeats, mode):
        return True
    return not all(difference_of(again.answer, theirs, mode) for again in told.repeats)


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
