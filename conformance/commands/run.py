"""`gradconf run`: cases asked of targets, judged, recorded and gated."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from conformance.asking.ask import DEFAULT_TIMEOUT, with_oracle
from conformance.asking.events import Answered, Event
from conformance.asking.record import RecordError, is_headless, read_record
from conformance.asking.record_writer import Kept, RecordLock, RecordWriter
from conformance.asking.resuming import resumed
from conformance.asking.sharding import Shard, durations, parse_shard, part_of
from conformance.closing import EXIT_CODES, UsageError
from conformance.commands.files import record_at
from conformance.commands.gating import add_known, documented, gate_of, update
from conformance.commands.options import (
    add_limits,
    add_selection,
    corpus_folder,
    limits_of,
    output_path,
    positive,
    say,
    selection_of,
)
from conformance.commands.performing import Plan, perform
from conformance.corpus.cases import load_corpus
from conformance.corpus.index import summaries
from conformance.corpus.language.case import Case
from conformance.corpus.selection import NothingSelected, select, words_by_kind
from conformance.files import data_folder
from conformance.report.of_run import report_of_run
from conformance.report.progress import Progress
from conformance.report.text import print_report
from conformance.targets.environments import provisioned
from conformance.targets.specification import Target, names_target, parse_targets
from conformance.verdicts.changes import changes_between_versions
from conformance.verdicts.findings import Findings, Reviewer

JOBS = min(2, os.cpu_count() or 1)
DEFAULT_RECORD = "gradconf-run.jsonl"
REPETITIONS = 2
"""How often what may be unstable is asked again where versions are compared."""


def run_options(parser: argparse.ArgumentParser) -> None:
    """The options of `gradconf run`."""
    parser.add_argument("words", nargs="*", metavar="TARGET|CASE")
    add_selection(parser)
    parser.add_argument("--python", metavar="PATH", help="an existing environment's interpreter")
    parser.add_argument(
        "-j", "--jobs", type=positive(int), default=JOBS, help="workers for each target"
    )
    parser.add_argument(
        "--timeout", type=positive(float), default=DEFAULT_TIMEOUT, help="seconds for a cell"
    )
    parser.add_argument("--fail-fast", action="store_true", help="stop at the first shortfall")
    parser.add_argument(
        "--shard", type=_shard, metavar="I/N", help="run the I-th of N parts of the cases"
    )
    parser.add_argument(
        "--durations", metavar="RECORD", help="make the shards even by how long its cells took"
    )
    parser.add_argument(
        "--repeat", type=int, metavar="N", help="ask what may be unstable N times more"
    )
    parser.add_argument(
        "--output", metavar="FILE", help=f"the record (of the whole corpus: {DEFAULT_RECORD})"
    )
    parser.add_argument(
        "--resume", action="store_true", help="ask only what the record has no answer to"
    )
    add_limits(parser)
    add_known(parser)
    parser.add_argument(
        "--update-baseline", action="store_true", help="write the baseline of this run"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress")


def run_run(arguments: argparse.Namespace) -> int:
    """Run cases on targets, judge every cell against its declaration and the oracle, and gate.

    Words are targets (reference, tensorflow, tensorflow:graph,xla, ./tape.py,
    package.module:attribute) and cases (an id, an area/topic, a file); without targets tensorflow
    is asked, without cases all.
    """
    _check_options(arguments)
    parse_targets([word for word in arguments.words if names_target(word)])  # refused first
    folder = corpus_folder(arguments)
    listed = summaries(folder or data_folder("cases"))
    words = words_by_kind(arguments.words, listed, names_target)
    targets = parse_targets(words.targets or ["tensorflow"], arguments.python)
    for word, meant in words.unknown.items():
        raise NothingSelected(f"no case matches '{word}'{meant}")
    selection = selection_of(arguments, words.cases)
    ids = {case.id for case in select(listed, selection)}
    cases = load_corpus(folder)
    chosen = [case for case in cases if case.id in ids]
    shard = arguments.shard
    part = part_of(chosen, shard, _durations(arguments)) if shard else chosen
    if not part:
        raise NothingSelected(f"shard {shard} of {len(chosen)} cases has none")
    narrowed = bool(shard) or not selection.everything
    if arguments.update_baseline and narrowed:
        raise UsageError("--update-baseline writes what the whole corpus shows: select no cases")
    labels = [target.label for target in targets]
    gate = gate_of(arguments, cases, labels, updates=arguments.update_baseline)
    deviations = documented(arguments, cases, labels)
    targets = [provisioned(target, say) for target in targets]
    results = Findings({target.label: target.modes for target in targets}, arguments.command, gate)
    plan = Plan(
        part,
        targets,
        timeout=arguments.timeout,
        workers=arguments.jobs,
        fail_fast=arguments.fail_fast,
        repeat=_repetitions(arguments, targets),
        limits=limits_of(arguments),
    )
    path = _record_path(arguments, plan, shard, whole=selection.everything and folder is None)
    writer, kept = _writer(path, arguments, chosen, plan, shard)
    results.record = str(path) if path else ""
    progress = Progress(results, len(part), sys.stderr, quiet=arguments.quiet)
    compared = arguments.update_baseline or _compared(plan, kept.events)
    reviewer = Reviewer(results, part, deviations, compared=compared)
    perform(plan, kept.events, reviewer, progress, writer)
    try:
        if arguments.update_baseline:
            print(*update(results, cases), sep="\n")
    finally:  # also where the baseline cannot be written
        changes = changes_between_versions(results, deviations)
        print_report(report_of_run(results, changes), sys.stdout)
    return EXIT_CODES[results.word]


def _shard(text: str) -> Shard:
    try:
        return parse_shard(text)
    except ValueError as error:
        raise UsageError(f"--shard: {error}") from error


def _check_options(arguments: argparse.Namespace) -> None:
    if arguments.durations and not arguments.shard:
        raise UsageError("--durations is for --shard I/N")
    if arguments.repeat is not None and arguments.repeat < 0:
        raise UsageError("--repeat must not be below zero")


def _durations(arguments: argparse.Namespace) -> Mapping[str, float]:
    return durations(record_at(arguments.durations)) if arguments.durations else {}


def _repetitions(arguments: argparse.Namespace, targets: Sequence[Target]) -> int:
    """As often as was asked for; versions that are compared are repeated in any case."""
    if arguments.repeat is not None:
        return int(arguments.repeat)
    return REPETITIONS if _has_versions(targets) else 0


def _has_versions(targets: Sequence[Target]) -> bool:
    names = [target.name for target in targets]
    return len(set(names)) < len(names)


def _compared(plan: Plan, kept: Sequence[Event]) -> bool:
    """Whether answers are held against others: of another version, or repeated, now or before."""
    repeated = any(isinstance(event, Answered) and event.repeat for event in kept)
    return bool(plan.repeat) or repeated or _has_versions(plan.targets)


def _record_path(
    arguments: argparse.Namespace, plan: Plan, shard: Shard | None, *, whole: bool
) -> Path | None:
    """Where the record goes; a part of the corpus must not overwrite the record of all of it."""
    if arguments.output:
        modules = [target.module for target in plan.targets]
        inputs = [*arguments.words, *modules, arguments.durations, arguments.baseline]
        return output_path(arguments.output, inputs)
    if not whole:
        return None
    return Path(f"gradconf-run.{shard.index}-of-{shard.of}.jsonl" if shard else DEFAULT_RECORD)


def _writer(
    path: Path | None,
    arguments: argparse.Namespace,
    cases: Sequence[Case],
    plan: Plan,
    shard: Shard | None,
) -> tuple[RecordWriter | None, Kept]:
    """The record of the run, and what is kept of the one that it resumes."""
    if path is None and arguments.resume:
        raise UsageError("--resume continues a record: name it with --output FILE")
    if path is None:
        return None, Kept()
    part = str(shard) if shard else ""
    try:
        with RecordLock(path) as lock:
            kept = _kept(path, plan, part) if arguments.resume else Kept()
            command = arguments.command
            return RecordWriter(lock, cases, plan.targets, command, shard=part, kept=kept), kept
    except RecordError as error:
        raise UsageError(f"--output {error}") from error


def _kept(path: Path, plan: Plan, shard: str) -> Kept:
    """What the record at a path has answered already."""
    if not path.exists():
        return Kept()
    if is_headless(path):
        say(f"{path} ends before its header: it is started anew")
        return Kept()
    return resumed(
        read_record(path), plan.cases, with_oracle(plan.targets), say, shard, plan.limits
    )
