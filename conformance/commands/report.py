"""`gradconf report`: what runs recorded."""

from __future__ import annotations

import argparse
from itertools import pairwise
from pathlib import Path

from conformance.closing import UsageError
from conformance.commands.files import record_at, records_in
from conformance.commands.gating import add_known, documented, gate_of
from conformance.commands.options import add_corpus, corpus_folder, write_output
from conformance.corpus.cases import load_corpus
from conformance.report.formats import FORMATS, render
from conformance.report.of_releases import report_of_releases, version_of
from conformance.report.of_run import report_of_run
from conformance.targets.versions import version_key
from conformance.verdicts.changes import (
    changes_between,
    changes_between_versions,
    side_of,
)
from conformance.verdicts.findings import findings_of

HISTORY = "history"


def report_options(parser: argparse.ArgumentParser) -> None:
    """The options of `gradconf report`."""
    parser.add_argument(
        "record", metavar="RECORD", nargs="+", help="a run's record, or those of all its shards"
    )
    add_corpus(parser)
    add_known(parser)
    parser.add_argument(
        "--format",
        choices=(*FORMATS["run"], HISTORY),
        default="text",
        help=f"{HISTORY} takes the records of several versions of one target",
    )
    parser.add_argument("--output", metavar="FILE", help="where the report goes instead of stdout")


def run_report(arguments: argparse.Namespace) -> int:
    """Show run records, judged again from their raw answers by the corpus of today."""
    if arguments.format == HISTORY:
        return _history(arguments)
    folder = corpus_folder(arguments)
    cases = load_corpus(folder)
    record = record_at(*arguments.record)
    gate = gate_of(arguments, cases, list(record.asked))
    departures = documented(arguments, cases, list(record.asked))
    findings = findings_of(record, cases, departures, gate)
    report = report_of_run(findings, changes_between_versions(findings, departures))
    write_output(render(report, arguments.format), arguments.output, _inputs(arguments))
    return report.exit_code


def _inputs(arguments: argparse.Namespace) -> list[str | None]:
    return [*arguments.record, arguments.baseline]


def _history(arguments: argparse.Namespace) -> int:
    """Print the history of a target; a record that was cut short makes it untrustworthy."""
    folder = corpus_folder(arguments)
    cases = load_corpus(folder)
    records = [record for path in arguments.record for record in records_in(Path(path))]
    labels = [label for record in records for label in record.asked]
    departures = documented(arguments, cases, labels)
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
    report = report_of_releases([release for release, _ in releases], changes, named)
    write_output(render(report, "markdown"), arguments.output, _inputs(arguments))
    return report.exit_code
