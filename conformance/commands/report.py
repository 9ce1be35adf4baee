"""Show run records: judged again from their raw answers by the corpus of today."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from conformance.commands.gating import add_baseline, baseline_of
from conformance.commands.reading import corpus, known_deviations, record_at, records_in
from conformance.commands.selecting import add_corpus, corpus_folder
from conformance.judging.deviations import version_key
from conformance.reporting.formats import FORMATS, render
from conformance.reporting.history import Release, history
from conformance.runs.results import EXIT_CODES, results_of
from conformance.usage import UsageError

HISTORY = "history"


def add_arguments(parser: argparse.ArgumentParser) -> None:
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


def run(arguments: argparse.Namespace) -> int:
    """Print the report; the exit code is that of the run's closing word."""
    if arguments.format == HISTORY:
        return _history(arguments)
    folder = corpus_folder(arguments)
    cases = corpus(folder)
    results = results_of(record_at(*arguments.record), cases, known_deviations(cases, folder))
    results.baseline = baseline_of(arguments, cases, list(results.asked))
    sys.stdout.write(render(results, arguments.format))
    return EXIT_CODES[results.word]


def _history(arguments: argparse.Namespace) -> int:
    """Print the history of a target; a record that was cut short makes it untrustworthy."""
    folder = corpus_folder(arguments)
    cases = corpus(folder)
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
    sys.stdout.write(history(releases, {case.id: case for case in cases}, deviations))
    complete = all(release.results.complete for release in releases)
    return EXIT_CODES["conforms" if complete else "untrustworthy"]
