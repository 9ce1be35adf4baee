"""`gradconf report`: what runs recorded."""

from __future__ import annotations

import argparse
from pathlib import Path

from conformance.closing import EXIT_CODES, UsageError
from conformance.commands.files import known_deviations, record_at, records_in
from conformance.commands.gating import add_baseline, baseline_of
from conformance.commands.options import add_corpus, corpus_folder, write_output
from conformance.corpus.cases import load_corpus
from conformance.report.formats import FORMATS, render
from conformance.report.history import Release, history
from conformance.targets.versions import version_key
from conformance.verdicts.results import results_of

HISTORY = "history"


def report_options(parser: argparse.ArgumentParser) -> None:
    """The options of `gradconf report`."""
    parser.add_argument(
        "record", metavar="RECORD", nargs="+", help="a run's record, or those of all its shards"
    )
    add_corpus(parser)
    add_baseline(parser)
    parser.add_argument(
        "--format",
        choices=(*FORMATS, HISTORY),
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
    gate = baseline_of(arguments, cases, [item["target"] for item in record.header["asked"]])
    results = results_of(record, cases, known_deviations(cases, folder), gate)
    write_output(render(results, arguments.format), arguments.output, _inputs(arguments))
    return EXIT_CODES[results.word]


def _inputs(arguments: argparse.Namespace) -> list[str | None]:
    return [*arguments.record, arguments.baseline]


def _history(arguments: argparse.Namespace) -> int:
    """Print the history of a target; a record that was cut short makes it untrustworthy."""
    folder = corpus_folder(arguments)
    cases = load_corpus(folder)
    deviations = known_deviations(cases, folder)
    releases = []
    for path in arguments.record:
        for record in records_in(Path(path)):
            results = results_of(record, cases, deviations)
            if len(results.asked) != 1:
                raise UsageError(f"{record.path}: {HISTORY} takes records of one target each")
            releases.append(Release(record, results))
    try:
        releases.sort(key=lambda release: version_key(release.version))
    except ValueError as error:
        raise UsageError(f"{HISTORY} takes records of targets with a version: {error}") from error
    document = history(releases, {case.id: case for case in cases}, deviations)
    write_output(document, arguments.output, _inputs(arguments))
    complete = all(release.results.complete for release in releases)
    return EXIT_CODES["conforms" if complete else "untrustworthy"]
