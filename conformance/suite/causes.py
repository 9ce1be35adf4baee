"""What a campaign found: programs that fail a check, grouped by what they have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from conformance.answers.mismatch import Mismatch
from conformance.suite.agreement import CALLED
from conformance.targets.specification import Target


@dataclass(frozen=True)
class Check:
    """What is held against what: a target in a mode, by the oracle, a mode, a target or a relation.

    `beside` is the label of what says what is due.
    """

    name: str
    target: Target
    mode: str
    beside: str

    def __str__(self) -> str:
        return f"{self.target.label}:{self.mode} and {self.beside}"


@dataclass(frozen=True)
class Finding:
    """One program that fails a check: `rewritten` is what a relation made of it."""

    check: Check
    entry: str
    batch: int
    mismatches: tuple[Mismatch, ...]
    rewritten: str = ""

    @property
    def kind(self) -> tuple[str, str, str]:
        """What shrinking keeps: the check and the class of what differs."""
        return self.check.name, str(self.check), self.mismatches[0].kind

    @cached_property
    def operations(self) -> frozenset[str]:
        """What the program calls."""
        return operations_of(self.entry)


def operations_of(entry: str) -> frozenset[str]:
    """The names of the framework that a program calls, but for the tapes around it."""
    tapes = ("GradientTape", "autodiff.ForwardAccumulator", "ones_like")
    return frozenset(name for name in CALLED.findall(entry) if name not in tapes)


@dataclass
class Cause:
    """Findings of one kind that have an operation in common, and a small one among them."""

    suspect: str
    findings: list[Finding]
    smallest: Finding


def causes_of(findings: Sequence[Finding], operations: Counter[str]) -> list[Cause]:
    """Findings by kind, and in a kind by the operation that is most often in what fails.

    That is the one whose programs fail most often; what holds it is taken away, and so on.
    """
    kinds: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in findings:
        kinds.setdefault(finding.kind, []).append(finding)
    causes = []
    for members in kinds.values():
        while members:
            failing = Counter(chain.from_iterable(one.operations for one in members))
            suspect = max(
                failing, key=lambda name: _suspicion(name, failing, operations), default=""
            )
            meant = [one for one in members if suspect in one.operations or not suspect]
            causes.append(Cause(suspect, meant, min(meant, key=lambda one: len(one.entry))))
            members = [one for one in members if one not in meant]
    return causes


def united(causes: Sequence[Cause]) -> list[Cause]:
    """Causes of one kind are one where their smallest programs call the same, or no suspect."""
    found: list[Cause] = []
    for cause in causes:
        small = cause.smallest
        suspect = cause.suspect if cause.suspect in small.operations else ""
        for known in found:
            same = known.smallest.operations == small.operations or known.suspect == suspect == ""
            if known.smallest.kind == small.kind and same:
                known.findings += cause.findings
                break
        else:
            found.append(Cause(suspect, [*cause.findings], small))
    return found


def _suspicion(name: str, failing: Counter[str], all: Counter[str]) -> tuple[float, int, str]:
    return failing[name] / (all[name] + 1), failing[name], name
