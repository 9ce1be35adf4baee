"""Show run records: judged again from their raw answers by the corpus of today."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from conformance.closing import EXIT_CODES, UsageError
from conformance.commands.gating import add_baseline, baseline_of
from conformance.commands.output import output_path
from conformance.commands.reading import corpus, known_deviations, record_at, records_in
from conformance.commands.selecting import add_corpus, corpus_folder
from conformance.report.formats import FORMATS, render
from conformance.report.history import Release, history
from conformance.targets.versions import version_key
from conformance.verdicts.results import results_of

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
    parser.add_argument("--output", metavar="FILE", help="where the report goes instead of stdout")


def run(arguments: argparse.Namespace) -> int:
    """Print the report; the exit code is that of the run's closing word."""
    if arguments.format == HISTORY:
        return _history(arguments)
    folder = corpus_folder(arguments)
    cases = corpus(folder)
    results = results_of(record_at(*arguments.record), cases, known_deviations(cases, folder))
    results.baseline = baseline_of(arguments, cases, list(results.asked))
    _write(render(results, arguments.format), arguments.output)
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
    document = history(releases, {case.id: case for case in cases}, deviations)
    _write(document, arguments.output)
    complete = all(release.results.complete for release in releases)
    return EXIT_CODES["conforms" if complete else "untrustworthy"]


def _write(report: str, output: str | None) -> None:
    if output is None:
        sys.stdout.write(report)
        return
    try:
        output_path(output).write_text(report, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--output {output}: {error.strerror}") from error
