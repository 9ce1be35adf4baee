"""Run cases on targets, judge every cell against its declaration and the oracle, and gate.

Words are targets (reference, tensorflow, tensorflow:graph,xla, ./tape.py, package.module:attribute)
and cases (an id, an area/topic, a file); without targets tensorflow is asked, without cases all.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from conformance.commands.gating import add_baseline, add_update, baseline_of, update
from conformance.commands.reading import corpus, known_deviations
from conformance.commands.selecting import add_selection, corpus_folder, selection_of
from conformance.language.case import Case
from conformance.language.features import words_of
from conformance.reporting.progress import Progress
from conformance.reporting.terminal import print_results
from conformance.runs.record import RecordWriter
from conformance.runs.results import EXIT_CODES, Results, Reviewer
from conformance.runs.run import DEFAULT_TIMEOUT, run_cells, with_oracle
from conformance.selection import NothingSelected, Selection, select
from conformance.targets.environments import provisioned
from conformance.targets.specification import NAMED, Target, TargetError, parse_target
from conformance.usage import UsageError

JOBS = min(2, os.cpu_count() or 1)
DEFAULT_RECORD = "gradconf-run.jsonl"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `gradconf run`."""
    parser.add_argument("words", nargs="*", metavar="TARGET|CASE")
    add_selection(parser)
    parser.add_argument("--python", metavar="PATH", help="an existing environment's interpreter")
    parser.add_argument("-j", "--jobs", type=int, default=JOBS, help="workers for each target")
    parser.add_argument("--timeout", type=float, default=DEFAULT_TIMEOUT, help="seconds for a cell")
    parser.add_argument("--fail-fast", action="store_true", help="stop at the first shortfall")
    parser.add_argument(
        "--output", metavar="FILE", help=f"the record (of the whole corpus: {DEFAULT_RECORD})"
    )
    add_baseline(parser)
    add_update(parser)
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress")


def run(arguments: argparse.Namespace) -> int:
    """Run, print the results, and return the exit code of their closing word."""
    folder = corpus_folder(arguments)
    cases = corpus(folder)
    words, targets = _targets(arguments, cases)
    if arguments.jobs < 1 or arguments.timeout <= 0:
        raise UsageError("--jobs and --timeout must be above zero")
    selection = selection_of(arguments, words)
    try:
        chosen = select(cases, selection, words_of)
    except NothingSelected as nothing:
        print(nothing, "nothing_ran", sep="\n")
        return EXIT_CODES["nothing_ran"]
    labels = [target.label for target in targets]
    against = baseline_of(arguments, cases, labels, narrowed=not selection.everything)
    try:
        targets = [provisioned(target, _say) for target in targets]
    except TargetError as error:
        print(error, "no_target", sep="\n")
        return EXIT_CODES["no_target"]
    results = Results({target.label: target.modes for target in targets}, sys.argv[1:])
    results.baseline = against
    reviewer = Reviewer(results, chosen, known_deviations(cases, folder))
    _perform(arguments, chosen, targets, results, reviewer, _record_path(arguments, selection))
    if arguments.update_baseline:
        print(*update(results, cases), sep="\n")
    print_results(results, sys.stdout)
    return EXIT_CODES[results.word]


def _targets(
    arguments: argparse.Namespace, cases: Sequence[Case]
) -> tuple[list[str], list[Target]]:
    """The words that choose cases, and the targets that the others name."""
    areas = {case.area for case in cases}
    chosen = [word for word in arguments.words if _chooses_cases(word, areas)]
    named = [word for word in arguments.words if word not in chosen] or ["tensorflow"]
    try:
        targets = [parse_target(word, arguments.python) for word in named]
    except TargetError as error:
        raise UsageError(str(error)) from error
    labels = [target.label for target in targets]
    if len(set(labels)) < len(labels):
        raise UsageError(
            "a target is named twice: write its modes together, tensorflow:eager,graph"
        )
    return chosen, targets


def _chooses_cases(word: str, areas: set[str]) -> bool:
    name = word.partition(":")[0]
    is_target = name.partition("==")[0] in NAMED or name.endswith(".py")
    return not is_target and ("/" in word or word.endswith(".yaml") or word in areas)


def _say(line: str) -> None:
    print(line, file=sys.stderr)


def _record_path(arguments: argparse.Namespace, selection: Selection) -> Path | None:
    """Where the record goes; a part of the corpus must not overwrite the record of all of it."""
    if arguments.output:
        return Path(arguments.output)
    whole = selection.everything and arguments.corpus is None
    return Path(DEFAULT_RECORD) if whole else None


def _perform(
    arguments: argparse.Namespace,
    cases: Sequence[Case],
    targets: Sequence[Target],
    results: Results,
    reviewer: Reviewer,
    path: Path | None,
) -> None:
    """Run the cells, and leave what came of it in the results and the record."""
    started = time.monotonic()
    progress = Progress(results, len(cases), sys.stderr, quiet=arguments.quiet)
    writer = _writer(path, cases, targets)
    results.record = str(path) if path else ""
    events = run_cells(
        cases, with_oracle(targets), timeout=arguments.timeout, workers=arguments.jobs
    )
    try:
        for event in events:
            if writer:
                writer.write(event)
            progress.event(event)
            for judged in reviewer.add(event):
                progress.judged(judged)
                if arguments.fail_fast and results.falls_short_by(judged):
                    results.reason = "fail-fast"
            if results.reason:
                break
        else:
            results.complete = True
    except KeyboardInterrupt:
        results.reason = "interrupted"
    finally:
        events.close()
        list(reviewer.finish())
        results.seconds = time.monotonic() - started
        progress.close()
        if writer:
            writer.finish(complete=results.complete, reason=results.reason, seconds=results.seconds)
            writer.close()


def _writer(
    path: Path | None, cases: Sequence[Case], targets: Sequence[Target]
) -> RecordWriter | None:
    try:
        return RecordWriter(path, cases, targets, sys.argv[1:]) if path else None
    except OSError as error:
        raise UsageError(f"--output {path}: {error.strerror}") from error
