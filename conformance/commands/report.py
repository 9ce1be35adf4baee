"""Show a run record: judged again from its raw answers by the corpus of today."""

from __future__ import annotations

import argparse
import sys

from conformance.commands.gating import add_baseline, baseline_of
from conformance.commands.reading import corpus, known_deviations, record_at
from conformance.commands.selecting import add_corpus, corpus_folder
from conformance.reporting.formats import FORMATS, render
from conformance.runs.results import EXIT_CODES, results_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `gradconf report`."""
    parser.add_argument(
        "record", metavar="RECORD", nargs="+", help="a run's record, or those of all its shards"
    )
    add_corpus(parser)
    add_baseline(parser)
    parser.add_argument("--format", choices=FORMATS, default="text")


def run(arguments: argparse.Namespace) -> int:
    """Print the report; the exit code is that of the run's closing word."""
    folder = corpus_folder(arguments)
    cases = corpus(folder)
    results = results_of(record_at(*arguments.record), cases, known_deviations(cases, folder))
    results.baseline = baseline_of(arguments, cases, list(results.asked))
    sys.stdout.write(render(results, arguments.format))
    return EXIT_CODES[results.word]
