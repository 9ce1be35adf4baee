"""`gradconf run`: cases asked of targets, judged, recorded and gated."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from conformance.asking.ask import DEFAULT_TIMEOUT, ask, with_oracle
from conformance.asking.cluster import Cluster, ClusterLost
from conformance.asking.events import Answered, Cell, Event, TargetReady
from conformance.asking.nodes import about_on
from conformance.asking.profile import PROFILES, asked_by
from conformance.asking.record import RecordError, is_headless, read_record
from conformance.asking.record_writer import Kept, RecordLock, RecordWriter
from conformance.asking.resuming import about_of, resumed
from conformance.asking.sharding import Shard, durations, parse_shard, part_of
from conformance.asking.worker import TargetChanged
from conformance.closing import EXIT_CODES, UsageError
from conformance.commands import options
from conformance.commands.gating import add_known, documented, gate_of, update
from conformance.commands.options import say
from conformance.commands.records import against, record_at
from conformance.corpus.cases import load_corpus
from conformance.corpus.index import summaries
from conformance.corpus.language.case import Case
from conformance.corpus.moves import ids_of_today
from conformance.corpus.selection import NothingSelected, Selection, select, words_by_kind
from conformance.drivers import Limits
from conformance.process import INTERRUPTION
from conformance.report.of_run import report_of_run
from conformance.report.progress import Progress
from conformance.report.text import print_report
from conformance.targets.environments import provisioned
from conformance.targets.specification import Target, names_target, parse_targets
from conformance.verdicts.changes import changes_between_versions, suspects
from conformance.verdicts.departures import Gate
from conformance.verdicts.findings import Findings, Reviewer

JOBS = min(2, os.cpu_count() or 1)
DEFAULT_RECORD = "gradconf-run.jsonl"
REPETITIONS = 2
"""How often what may be unstable is asked again where versions are compared."""


@dataclass(frozen=True)
class Plan:
    """What a run is to do: ask these targets for these cases, and again what may be unstable."""

    cases: Sequence[Case]
    targets: Sequence[Target]
    asked: Callable[[Cell], bool]
    timeout: float
    workers: int
    fail_fast: bool
    repeat: int
    limits: Limits
    cluster: Cluster | None = None


def run_options(parser: argparse.ArgumentParser) -> None:
    """The options of `gradconf run`."""
    add, count, seconds = parser.add_argument, options.positive(int), options.positive(float)
    add("words", nargs="*", metavar="TARGET|CASE")
    options.add_selection(parser)
    options.add_portable(parser)
    every = "full: rows of tables in every mode, as where you select cases"
    add("--profile", choices=PROFILES, help=every)
    add("--python", metavar="PATH", help="an existing environment's interpreter")
    add("-j", "--jobs", type=count, default=JOBS, help="workers for each target, or local nodes")
    options.add_cluster(parser)
    add("--timeout", type=seconds, default=DEFAULT_TIMEOUT, help="seconds for a cell")
    add("--fail-fast", action="store_true", help="stop at the first shortfall")
    add("--shard", type=_shard, metavar="I/N", help="run the I-th of N parts of the cases")
    even = "make the shards even by how long its cells took"
    add("--durations", metavar="RECORD", help=even)
    add("--repeat", type=int, metavar="N", help="ask what may be unstable N times more")
    add("--output", metavar="FILE", help=f"the record (of the whole corpus: {DEFAULT_RECORD})")
    add("--resume", action="store_true", help="ask only what the record has no answer to")
    options.add_limits(parser)
    add_known(parser)
    about = "fail only on what is worse than this record, or the one of this version in reports/"
    add("--against", metavar="VERSION|RECORD", help=about)
    add("--update-baseline", action="store_true", help="write the baseline of this run")
    add("-q", "--quiet", action="store_true", help="no progress")


def run_run(arguments: argparse.Namespace) -> int:
    """Run cases on targets, judge every cell against its declaration and the oracle, and gate.

    Words are targets (reference, tensorflow, tensorflow:graph,xla, ./tape.py,
    package.module:attribute) and cases (an id, an area/topic, a file); without targets tensorflow
    is asked, without cases all; other frameworks alone are asked those of them that are portable.
    """
    parse_targets([word for word in arguments.words if names_target(word)])  # refused first
    if arguments.durations and not arguments.shard:
        raise UsageError("--durations is for --shard I/N")
    if (arguments.repeat or 0) < 0:
        raise UsageError("--repeat must not be below zero")
    with options.cluster_of(arguments) as cluster:
        return _run(arguments, cluster)


def _run(arguments: argparse.Namespace, cluster: Cluster | None) -> int:
    """Run them here, or on the nodes of a cluster."""
    shard = arguments.shard
    targets, selection, cases, chosen = _chosen(arguments)
    part = chosen
    if shard:
        record = arguments.durations and record_at(arguments.durations, cases=cases)
        took = durations(record) if record else {}
        part = part_of(chosen, shard, took)
    if not part:
        raise NothingSelected(f"shard {shard} of {len(chosen)} cases has none")
    if arguments.update_baseline and (shard or not selection.everything):
        raise UsageError("--update-baseline writes what the whole corpus shows: select no cases")
    labels = [target.label for target in targets]
    gate = _gate(arguments, cases, labels)
    deviations = documented(arguments, cases, labels)
    if not cluster:  # whose nodes have environments of their own
        targets = [provisioned(target, say) for target in targets]
    versions = len({target.name for target in targets}) < len(targets)
    usual = REPETITIONS if versions else 0
    repeat = usual if arguments.repeat is None else arguments.repeat
    profile = arguments.profile or ("default" if selection.everything else "full")
    plan = Plan(
        part,
        targets,
        asked_by(profile, cases, targets),
        timeout=arguments.timeout,
        workers=arguments.jobs,
        fail_fast=arguments.fail_fast,
        repeat=repeat,
        limits=options.limits_of(arguments),
        cluster=cluster,
    )
    path = _record_path(arguments, plan, whole=selection.everything and not arguments.corpus)
    writer, kept = _writer(path, arguments, chosen, plan)
    asked = {target.label: target.modes for target in targets}
    results = Findings(asked, arguments.command, gate, record=str(path or ""))
    repeated = any(isinstance(event, Answered) and event.repeat for event in kept.events)
    compared = bool(
        arguments.update_baseline or arguments.against or repeat or repeated or versions
    )
    reviewer = Reviewer(results, part, deviations, compared=compared)
    progress = Progress(results, _count(plan), sys.stderr, quiet=arguments.quiet)
    _perform(plan, kept.events, reviewer, progress, writer)
    try:
        if arguments.update_baseline:
            print(*update(results, chosen), sep="\n")
    finally:  # also where the baseline cannot be written
        changes = changes_between_versions(results, deviations)
        print_report(report_of_run(results, changes), sys.stdout)
    return EXIT_CODES[results.word]


def _chosen(
    arguments: argparse.Namespace,
) -> tuple[list[Target], Selection, list[Case], list[Case]]:
    """The targets and the selection that the words name, the corpus, and what it takes of that."""
    listed = summaries(arguments.corpus)
    words = words_by_kind(arguments.words, listed, names_target)
    targets = parse_targets(words.targets or ["tensorflow"], arguments.python)
    for word, meant in words.unknown.items():
        raise NothingSelected(f"no case matches '{word}'{meant}")
    selection = options.selection_of(arguments, words.cases)
    if arguments.portable is None and not words.cases:
        others = all(target.is_adapted for target in targets)
        selection = replace(selection, portable=others)
    ids = {case.id for case in select(listed, selection)}
    cases = load_corpus(arguments.corpus)
    return targets, selection, cases, [case for case in cases if case.id in ids]


def _gate(
    arguments: argparse.Namespace, cases: Sequence[Case], labels: Sequence[str]
) -> Gate | None:
    """The baseline or the record that the run is held against."""
    if arguments.against is None:
        return gate_of(arguments, cases, labels, updates=arguments.update_baseline)
    if arguments.baseline or arguments.update_baseline or arguments.strict_new:
        raise UsageError("--against and --baseline are two gates: hold the run against one")
    if len(labels) > 1:
        raise UsageError("--against speaks of one target: run the others by themselves")
    return against(arguments.against, "".join(labels), cases)


def _shard(text: str) -> Shard:
    try:
        return parse_shard(text)
    except ValueError as error:
        raise UsageError(f"--shard: {error}") from error


# ----- its record -----


def _record_path(arguments: argparse.Namespace, plan: Plan, *, whole: bool) -> Path | None:
    """Where the record goes; a part of the corpus must not overwrite the record of all of it."""
    if arguments.output:
        modules = [target.module for target in plan.targets]
        inputs = [
            *arguments.words,
            *modules,
            arguments.durations,
            arguments.baseline,
            arguments.against,
        ]
        return options.output_path(arguments.output, inputs)
    if not whole:
        return None
    shard = arguments.shard
    return Path(f"gradconf-run.{shard.index}-of-{shard.of}.jsonl" if shard else DEFAULT_RECORD)


def _writer(
    path: Path | None, arguments: argparse.Namespace, cases: Sequence[Case], plan: Plan
) -> tuple[RecordWriter | None, Kept]:
    """The record of the run, and what is kept of the one that it resumes."""
    if path is None:
        if arguments.resume:
            raise UsageError("--resume continues a record: name it with --output FILE")
        return None, Kept()
    part = str(arguments.shard or "")
    try:
        with RecordLock(path) as lock:
            kept = _kept(path, cases, plan, part) if arguments.resume else Kept()
            command = arguments.command
            nodes = sorted(plan.cluster.threads()) if plan.cluster else ()
            writer = RecordWriter(
                lock, cases, plan.targets, command, shard=part, kept=kept, nodes=nodes
            )
            return writer, kept
    except RecordError as error:
        raise UsageError(f"--output {error}") from error


def _kept(path: Path, cases: Sequence[Case], plan: Plan, shard: str) -> Kept:
    """What the record at a path has answered already."""
    if not path.exists():
        return Kept()
    if is_headless(path):
        say(f"{path} ends before its header: it is started anew")
        return Kept()
    targets = with_oracle(plan.targets)
    record = read_record(path, ids_of_today(cases))
    asking = partial(about_on, plan.cluster) if plan.cluster else about_of
    start = partial(asking, limits=plan.limits)
    return resumed(record, plan.cases, targets, say, shard, start)


# ----- the run -----


def _count(plan: Plan) -> int:
    """How many cells a run asks for."""
    return sum(
        plan.asked(Cell(case.id, target.label, mode))
        for case in plan.cases
        for target in plan.targets
        for mode in target.modes
    )


def _perform(
    plan: Plan,
    kept: Sequence[Event],
    reviewer: Reviewer,
    progress: Progress,
    writer: RecordWriter | None,
) -> None:
    """Run the cells, and leave what came of it in the reviewer's findings and the record.

    `kept` are events of an earlier run, which the writer has already. A run whose record cannot be
    written ends there, and says so.
    """
    started = time.monotonic()
    findings = reviewer.findings
    events = _events(plan, kept, findings)
    try:
        for number, event in enumerate(INTERRUPTION.between(events)):
            if writer and number >= len(kept):
                writer.write(event)
            if isinstance(event, TargetReady):
                _say_what_is_told(event, plan, findings)
            progress.event(event)
            for finding in reviewer.add(event):
                progress.found(finding)
                if plan.fail_fast and finding.falls_short:
                    findings.reason = "fail-fast"
            if findings.reason:
                break
        else:
            findings.complete = True
    except KeyboardInterrupt:
        findings.reason = "interrupted"
    except (ClusterLost, RecordError, TargetChanged) as error:
        findings.reason = str(error)
    finally:
        events.close()
        reviewer.finish()
        findings.seconds = time.monotonic() - started
        progress.close()
        if writer:
            _finish(writer, findings, plan)


def _finish(writer: RecordWriter, findings: Findings, plan: Plan) -> None:
    nodes = sorted(plan.cluster.answered) if plan.cluster else ()
    try:
        writer.finish(
            complete=findings.complete,
            reason=findings.reason,
            seconds=findings.seconds,
            nodes=nodes,
        )
    except RecordError as error:
        findings.complete, findings.reason = False, findings.reason or str(error)


WALLS = {"your files": {"files"}, "the network": {"network", "TCP"}}
"""What a target is kept from, and what of its confinement does it."""


def _say_what_is_told(ready: TargetReady, plan: Plan, findings: Findings) -> None:
    """Say once what the author of a target should look at."""
    if plan.limits.confined and not findings.targets:
        _say_what_is_open(ready)
    if ready.target not in findings.targets:
        for note in ready.about.get("notes", ()):
            say(f"{ready.target}: {note}")


def _say_what_is_open(ready: TargetReady) -> None:
    """Say once in a run what targets can reach as the user can."""
    held = {*ready.about["confined"]}
    if reached := [what for what, walls in WALLS.items() if not walls & held]:
        say(f"this platform does not keep targets from {' and '.join(reached)} (docs/trust.md)")


def _events(plan: Plan, kept: Sequence[Event], findings: Findings) -> Generator[Event]:
    """What is known, what is asked, and what is asked again once all has been judged.

    What may be unstable is asked every time in a process that is new.
    """
    first: dict[str, Any] = {}
    asking = partial(ask, plan.cases, timeout=plan.timeout, workers=plan.workers)
    asked = partial(asking, limits=plan.limits, first=first, cluster=plan.cluster)
    yield from kept
    answered = {event.cell for event in kept if isinstance(event, Answered)}
    yield from asked(
        with_oracle(plan.targets), wanted=lambda cell: cell not in answered and plan.asked(cell)
    )
    doubtful = suspects(findings) if plan.repeat else ()
    for number in range(1, plan.repeat + 1):
        for event in asked(plan.targets, wanted=doubtful.__contains__):
            if isinstance(event, Answered):
                yield replace(event, repeat=number)
