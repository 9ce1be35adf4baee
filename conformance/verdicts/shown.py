"""Where faults show: the recorded releases that have a cause, and a cell of the newest one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from conformance.asking.record import Record
from conformance.corpus.language.case import MODES, Case
from conformance.targets.releases import version_key
from conformance.verdicts.causes import Cause, Causes
from conformance.verdicts.departures import Departures
from conformance.verdicts.findings import Finding, findings_of


@dataclass(frozen=True)
class Shown:
    """A fault, the recorded releases that have it, oldest first, and a typical cell of the newest.

    No cell is there where the releases that have it are not recorded.
    """

    cause: Cause
    releases: tuple[str, ...]
    typical: Finding | None

    @property
    def span(self) -> tuple[str, ...]:
        """The first and last version that has it; nothing where its departures have no bounds."""
        firsts = {entry.since for entry in self.cause.departures}
        lasts = {entry.until for entry in self.cause.departures}
        if firsts | lasts == {""}:
            return ()
        return (
            "the first release" if "" in firsts else min(firsts, key=version_key),
            "the newest" if "" in lasts else max(lasts, key=version_key),
        )

    @property
    def modes(self) -> tuple[str, ...]:
        """The modes in which it shows."""
        named = {mode for entry in self.cause.departures for mode in entry.modes}
        return tuple(mode for mode in MODES if mode in named)


def shown(
    causes: Causes,
    records: Sequence[Record],
    cases: Sequence[Case],
    departures: Sequence[Departures],
) -> Iterator[Shown]:
    """Each fault, the most severe first; of the records only what shows one is judged.

    The records are those of the versions of one target, the oldest first.
    """
    having = {
        cause: [record for record in records if cause.holds(record.version, _modes(record))]
        for cause in causes.faults
    }
    judged: dict[Cause, list[Finding]] = {}
    for record in records:
        newest = [cause for cause, having_it in having.items() if having_it[-1:] == [record]]
        cells = _judged(record, newest, cases, departures)
        for cause in newest:
            judged[cause] = [found for found in cells if causes.of(found.explained_by) is cause]
    for cause, having_it in having.items():
        order = [entry.name for entry in cause.departures]
        typical = min(
            judged.get(cause, ()), key=lambda found: order.index(_name(found)), default=None
        )
        yield Shown(cause, tuple(record.version for record in having_it), typical)


def _judged(
    record: Record,
    causes: Sequence[Cause],
    cases: Sequence[Case],
    departures: Sequence[Departures],
) -> list[Finding]:
    """The cells of a record that these causes speak of, judged by the cases of today."""
    entries = [entry for cause in causes for entry in cause.departures]
    named = [case for case in cases if any(entry.names(case.id) for entry in entries)]
    ids = {case.id for case in named}
    answers = [answered for answered in record.answers if answered.cell.case in ids]
    part = replace(record, answers=answers)
    return findings_of(part, named, departures).cells


def _name(found: Finding) -> str:
    return found.explained_by.name if found.explained_by else ""


def _modes(record: Record) -> list[str]:
    return [mode for modes in record.asked.values() for mode in modes]
