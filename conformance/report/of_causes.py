"""Makes the Report of the faults of a target: each cause with what it answers, and a script."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from conformance.report.building import grouped, table_of
from conformance.report.model import Block, Report, Rows, Section, Table
from conformance.report.of_run import blocks_of
from conformance.verdicts.causes import SEVERITIES, Severity
from conformance.verdicts.shown import Shown

HEAD = (
    "Made from the records in this folder and in frameworks/, and from deviations/, by gradconf"
    " report reports reports/frameworks --format findings; do not edit. Each fault names the"
    " versions that have it, those of them that are recorded, the modes in which it shows, and one"
    " case with what was answered and what is due. The script needs the framework alone, and knows"
    " what is right from mathematics or a document; the last word that it prints is departs, or"
    " keeps where a release has the fault not. Tests run it on the installed release, tox run -e"
    " findings on all that are kept ready."
)


@dataclass(frozen=True)
class Faults:
    """The faults of a target, and its newest version that is recorded."""

    target: str
    newest: str
    shown: Sequence[Shown]

    @property
    def name(self) -> str:
        """`jax 0.10.2`."""
        return f"{self.target} {self.newest}"


def report_of_causes(found: Sequence[Faults]) -> Report:
    """The Report of the faults of targets, of each the most severe first."""
    return Report(
        "causes",
        "Findings: the faults of frameworks' gradients",
        None,
        headline=(HEAD,),
        sections=(
            Section("Causes", "counts", tables=(_counts(found),)),
            *(section for own in found for section in _sections(own)),
        ),
    )


def _counts(found: Sequence[Faults]) -> Table:
    """How many causes of each severity there are; of several versions also in the newest."""
    columns: list[str] = []
    counts: dict[Severity, list[int]] = {severity: [] for severity in SEVERITIES}
    for faults in found:
        several = any(set(one.releases) - {faults.newest} for one in faults.shown)
        columns += [faults.target, f"in {faults.newest}"] if several else [faults.name]
        for severity, told in counts.items():
            own = [one for one in faults.shown if one.cause.severity == severity]
            told += [len(own), *([sum(faults.newest in one.releases for one in own)] * several)]
    rows: Rows = [(severity, SEVERITIES[severity], *told) for severity, told in counts.items()]
    return table_of(("severity", "meaning"), columns, rows)


def _sections(faults: Faults) -> Iterator[Section]:
    """A section for each severity that a target's faults have."""
    for severity, own in grouped(faults.shown, lambda one: one.cause.severity).items():
        if severity:
            heading = f"{faults.target}, {severity}: {SEVERITIES[severity]}"
            blocks = (_block(one, faults) for one in own)
            yield Section(heading, "findings", tuple(blocks))


def _block(one: Shown, faults: Faults) -> Block:
    """A cause with what is said of its typical cell, or of its first departure."""
    cause, entry = one.cause, one.cause.departures[0]
    if one.typical:
        entry = one.typical.explained_by or entry
        (block,) = blocks_of([one.typical])
    else:
        told = (f"{faults.target} answers {entry.was}",)
        block = Block("", "known_deviation", entry.cases[0], faults.target, (), findings=told)
    found = f"; found by {cause.drawn}" if cause.drawn else ""
    return replace(
        block,
        label=cause.severity,
        modes=one.modes,
        title=cause.title,
        cause=_versions(one, faults.newest),
        since=entry.kind,
        reason=f"{entry.reason}; right is {entry.right}{found}",
        link=cause.issue or entry.link,
        program=cause.script,
        show="",
        replay="",
    )


def _versions(one: Shown, newest: str) -> str:
    """`2.5 to 2.8 (recorded: 2.5.3, 2.8.4)`; of what departures do not bound, the recorded ones.

    Where no record has the mode in which it shows, it is `0.10.2 (recorded: none)`, the newest one.
    """
    recorded = ", ".join(one.releases)
    if one.releases and not one.span:
        return recorded
    return f"{' to '.join(one.span) or newest} (recorded: {recorded or 'none'})"
