"""What a run is beside its baseline: counts, and a line for each cell that a reader must know."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.text import printable
from conformance.verdicts.findings import Finding, Findings

NOW = {
    "pass": "now passes",
    "unsupported": "now unsupported",
    "not_applicable": "no longer applicable",
    "known_deviation": "now a documented deviation",
}


def baseline_lines(findings: Findings, *, known: bool = False) -> Iterator[str]:
    """The counts, then what is better, what is worse than an entry says, and perhaps the known."""
    if findings.gate is None:
        return
    counts = findings.standings()
    file = printable(findings.gate.baseline.file)
    known_ones = f"{counts.pop('known', 0)} known by the baseline {file}"
    yield ", ".join([known_ones, *(f"{count} {word}" for word, count in counts.items())])
    for finding in findings.cells:
        standing = finding.standing
        if standing == "better":
            now = NOW.get(finding.verdict, printable(finding.verdict))
            yield f"better: {now}: {printable(finding.cell)} ({_was(finding)})"
        elif standing == "worse" and (finding.explained_by or finding.verdict == "unsupported"):
            yield f"worse: {printable(finding.cell)} ({_was(finding)})"
        elif standing == "known" and known:
            yield f"known: {printable(finding.cell)} ({_was(finding)})"
        elif standing == "new case":
            yield f"new case: {printable(finding.cell)} (not asked when the baseline was written)"


def _was(finding: Finding) -> str:
    entry = finding.explained_by
    if entry is None:
        return "the baseline does not say that the target lacks this"
    reason = f"; {entry.reason}" if entry.reason else ""
    return printable(f"was {entry.was}; since {entry.first_seen}{reason}")
