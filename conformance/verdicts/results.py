"""The names that findings had before: they go once the report has its own model."""

from conformance.verdicts.findings import ORACLE_LABEL, Reviewer
from conformance.verdicts.findings import Finding as Judged
from conformance.verdicts.findings import Findings as Results
from conformance.verdicts.findings import findings_of as results_of
from conformance.verdicts.judge import FAULTS, RAN, SHORTFALLS

__all__ = [
    "FAULTS",
    "ORACLE_LABEL",
    "RAN",
    "SHORTFALLS",
    "Judged",
    "Results",
    "Reviewer",
    "results_of",
]
