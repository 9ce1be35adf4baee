"""Makes the Report of the faults of a target: each cause with what it answers, and a script."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from conformance.report.building import grouped, table_of
from conformance.report.model import Block, Report, Rows, Section, Table
from conformance.report.of_run import blocks_of
from conformance.verdicts.causes import SEVERITIES
from conformance.verdicts.shown import Shown

HEAD = (
    "Made from the records in this folder, deviations/tensorflow.yaml and deviations/causes.yaml"
    " by gradconf report reports --format findings; do not edit. Each fault names the versions that"
    " have it, those of them that are recorded, the modes in which it shows, and one case with what"
    " was answered and what is due. The script needs TensorFlow alone, and knows what is right from"
    " mathematics or a document; the last word that it prints is departs, or keeps where a release"
    " has the fault not. Tests run it on the installed release, tox run -e findings on all that are"
    " kept ready."
)


def report_of_causes(found: Sequence[Shown], newest: str) -> Report:
    """The Report of these faults, the most severe first, and how many the newest release has."""
    by_severity = grouped(found, lambda one: one.cause.severity)
    sections = [
        Section(f"{severity}: {SEVERITIES[severity]}", "findings", tuple(map(_block, own)))
        for severity, own in by_severity.items()
        if severity
    ]
    return Report(
        "causes",
        "Findings: the faults of TensorFlow's gradients",
        None,
        headline=(HEAD,),
        sections=(Section("Causes", "counts", tables=(_counts(found, newest),)), *sections),
    )


def _counts(found: Sequence[Shown], newest: str) -> Table:
    rows: Rows = []
    for severity, meaning in SEVERITIES.items():
        own = [one for one in found if one.cause.severity == severity]
        rows.append((severity, meaning, len(own), sum(newest in one.releases for one in own)))
    return table_of(("severity", "meaning"), ("causes", f"in {newest}"), rows)


def _block(one: Shown) -> Block:
    """A cause with what is said of its typical cell, or of its first departure."""
    cause, entry = one.cause, one.cause.departures[0]
    if one.typical:
        entry = one.typical.explained_by or entry
        (block,) = blocks_of([one.typical])
    else:
        told = (f"TensorFlow answers {entry.was}",)
        block = Block("", "known_deviation", entry.cases[0], "tensorflow", (), findings=told)
    return replace(
        block,
        label=cause.severity,
        modes=one.modes,
        title=cause.title,
        cause=f"{' to '.join(one.span)} (recorded: {', '.join(one.releases) or 'none'})",
        since=entry.kind,
        reason=f"{entry.reason}; right is {entry.right}",
        link=cause.issue or entry.link,
        program=cause.script,
        show="",
        replay="",
    )
