"""`gradconf report`: what runs recorded."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import pairwise

from conformance.closing import UsageError
from conformance.commands.files import record_at, records_in
from conformance.commands.gating import add_known, documented, gate_of
from conformance.commands.options import add_corpus, write_output
from conformance.corpus.cases import load_corpus
from conformance.corpus.language.case import Case
from conformance.report import FORMATS, render
from conformance.report.model import Report
from conformance.report.of_releases import report_of_releases, version_of
from conformance.report.of_run import report_of_run
from conformance.targets.releases import version_key
from conformance.verdicts.changes import changes_between, changes_between_versions, side_of
from conformance.verdicts.findings import findings_of

HISTORY = "history"


def report_options(parser: argparse.ArgumentParser) -> None:
    """The options of `gradconf report`."""
    add = parser.add_argument
    about_history = f"{HISTORY} takes the records of several versions of one target"
    add("record", metavar="RECORD", nargs="+", help="a run's record, or those of all its shards")
    add_corpus(parser)
    add_known(parser)
    add("--format", choices=(*FORMATS["run"], HISTORY), default="text", help=about_history)
    add("--output", metavar="FILE", help="where the report goes instead of stdout")


def run_report(arguments: argparse.Namespace) -> int:
    """Show run records, judged again from their raw answers by the corpus of today."""
    history = arguments.format == HISTORY
    report = (_of_releases if history else _of_run)(arguments, load_corpus(arguments.corpus))
    text = render(report, "markdown" if history else arguments.format)
    write_output(text, arguments.output, [*arguments.record, arguments.baseline])
    return report.exit_code


def _of_run(arguments: argparse.Namespace, cases: Sequence[Case]) -> Report:
    record = record_at(*arguments.record)
    gate = gate_of(arguments, cases, list(record.asked))
    departures = documented(arguments, cases, list(record.asked))
    findings = findings_of(record, cases, departures, gate)
    return report_of_run(findings, changes_between_versions(findings, departures))


def _of_releases(arguments: argparse.Namespace, cases: Sequence[Case]) -> Report:
    """The history of a target; a record that was cut short makes it untrustworthy."""
    records = records_in(*arguments.record)
    departures = documented(arguments, cases, [label for one in records for label in one.asked])
    releases = []
    for record in records:
        if len(record.asked) != 1:
            raise UsageError(f"{record.path}: {HISTORY} takes records of one target each")
        releases.append((findings_of(record, cases, departures), side_of(record)))
    try:
        releases.sort(key=lambda release: version_key(version_of(release[0])))
    except ValueError as error:
        raise UsageError(f"{HISTORY} takes records of targets with a version: {error}") from error
    changes = (changes_between(old, new, departures) for (_, old), (_, new) in pairwise(releases))
    named = {case.id: case for case in cases}
    return report_of_releases([findings for findings, _ in releases], changes, named)
