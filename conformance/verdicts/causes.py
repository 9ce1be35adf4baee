"""Causes: what many departures have in common, each with a script that shows it by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import filter as matching
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeAlias, cast, get_args

from conformance.corpus.language.case import Place
from conformance.corpus.language.document import Node, read_document
from conformance.text import did_you_mean, suggest
from conformance.verdicts.departures import Departure, Departures

Severity: TypeAlias = Literal[
    "silent value", "crash", "None for a value", "accepts", "raises", "compiles"
]
SEVERITIES: Mapping[Severity, str] = {
    "silent value": "a wrong number, dtype or shape, without an error",
    "crash": "the process dies",
    "None for a value": "None where a gradient is due",
    "accepts": "an answer where an error is due",
    "raises": "an error where an answer, or another error, is due",
    "compiles": "fails when it is compiled, and only then",
}
"""The classes of faults, the most severe first, and what each means to a user."""
assert tuple(SEVERITIES) == get_args(Severity)


@dataclass(frozen=True, eq=False)
class Cause:
    """What these departures have in common; the first one is typical.

    `script` is a program that shows the fault: the last word that it prints is `departs`, or
    `keeps` where the release has it not. What is no fault has neither severity nor script. `issue`
    is the public issue where the departures link to something else, `drawn` the `gradconf fuzz`
    that found it and finds it again.
    """

    name: str
    title: str
    departures: tuple[Departure, ...]
    place: Place
    severity: Severity | Literal[""] = ""
    script: str = ""
    issue: str = ""
    drawn: str = ""

    def holds(self, version: str, modes: Sequence[str]) -> bool:
        """Whether one of its departures speaks of a version, in one of these modes."""
        return any(entry.covers(version, mode) for entry in self.departures for mode in modes)


@dataclass(frozen=True)
class Causes:
    """The causes of a target's departures, the most severe first, then what is no fault."""

    causes: tuple[Cause, ...] = ()

    @property
    def faults(self) -> list[Cause]:
        """The causes that are faults of the target."""
        return [cause for cause in self.causes if cause.severity]

    def of(self, departure: Departure | None) -> Cause | None:
        """The cause of a departure, if it is known."""
        return self._by_departure.get(departure.name) if departure else None

    @cached_property
    def _by_departure(self) -> dict[str, Cause]:
        return {entry.name: cause for cause in self.causes for entry in cause.departures}


def read_causes(path: Path, departures: Departures, shown_as: str | None = None) -> Causes:
    """The causes that a file gives to the departures of its target.

    A file that says what is `no_fault` accounts for every departure, another one for the bugs.

    Raises CaseFileError with every fault: what is malformed, and departures that are not known,
    that have no cause, or more than one.
    """
    root = read_document(path, shown_as)
    root.keys(("introduction", "target", "causes", "no_fault"), required=("target", "causes"))
    target = root.read("target", Node.line)
    if target not in (None, departures.target):
        root.mapping()["target"].fault(f"got {target}, expected {departures.target}")
    whole = "no_fault" in root.mapping()
    listed = {one.name: one for one in departures.entries if whole or one.kind == "bug"}
    taken: dict[str, str] = {}
    causes = [
        cause
        for key, is_fault in (("causes", True), ("no_fault", False))
        for name, node in (root.read(key, Node.mapping) or {}).items()
        for cause in _cause(name, node, listed, taken, is_fault=is_fault)
    ]
    for name in listed.keys() - taken:
        root.fault(f"{name} has no cause in {root.place.file}", listed[name].place)
    root.finish()
    order = [*SEVERITIES, ""]
    return Causes(tuple(sorted(causes, key=lambda cause: order.index(cause.severity))))


def _cause(
    name: str,
    node: Node,
    listed: Mapping[str, Departure],
    taken: dict[str, str],
    *,
    is_fault: bool,
) -> Iterator[Cause]:
    """A cause, its departures marked as taken; none where something is wrong with it."""
    keys = ("title", "severity", "departures", "script") if is_fault else ("why", "departures")
    node.keys((*keys, "issue", "drawn"), required=keys)
    names = list(_named(node.read("departures", Node.items) or [], listed))
    for item, departure in names:
        if departure in taken:
            item.fault(f"{departure} has the cause {taken[departure]} already")
        taken[departure] = name
    severity = node.read("severity", Node.line) or ""
    if severity not in ("", *SEVERITIES):
        message = f"no severity '{severity[:60]}'{suggest(severity, SEVERITIES)}"
        node.mapping()["severity"].fault(message)
    elif names:
        yield Cause(
            name,
            node.read(keys[0], Node.line) or "",
            tuple(listed[departure] for _, departure in names),
            node.place,
            cast("Severity", severity),
            node.read("script", Node.text) or "",
            node.read("issue", Node.line) or "",
            node.read("drawn", Node.line) or "",
        )


def _named(items: Sequence[Node], listed: Mapping[str, Departure]) -> Iterator[tuple[Node, str]]:
    """The departures that patterns name, each with its pattern."""
    for item in items:
        pattern = item.line()
        found = [pattern] if pattern in listed else matching(listed, pattern)
        if not found:
            near = did_you_mean(pattern, listed, cutoff=0.4)
            item.fault(f"{pattern} is none of the departures{near}")
        yield from ((item, name) for name in found)
