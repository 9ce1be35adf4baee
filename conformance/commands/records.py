"""`gradconf report` and `gradconf diff`: what runs recorded, and what changed between two."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

from conformance.asking.record import Record, read_record
from conformance.asking.sharding import merged
from conformance.asking.together import together
from conformance.closing import UsageError
from conformance.commands.gating import (
    add_known,
    documented,
    gate_of,
    our_causes,
    our_deviations,
)
from conformance.commands.options import add_corpus, write_output
from conformance.corpus.cases import load_corpus
from conformance.corpus.index import summaries
from conformance.corpus.language.case import Case
from conformance.corpus.moves import Movable, ids_of_today
from conformance.files import data_folder
from conformance.report import FORMATS, render
from conformance.report.building import grouped
from conformance.report.model import Report
from conformance.report.of_causes import Faults, report_of_causes
from conformance.report.of_conventions import report_of_conventions
from conformance.report.of_difference import Known, report_of_difference
from conformance.report.of_releases import report_of_releases
from conformance.report.of_run import report_of_run
from conformance.report.text import encodable, print_report
from conformance.targets.releases import version_key
from conformance.text import suggest
from conformance.verdicts.against import Against
from conformance.verdicts.causes import Causes
from conformance.verdicts.changes import (
    RELEASED,
    SHORT,
    ChangeClass,
    changes_between,
    changes_between_versions,
    side_of,
)
from conformance.verdicts.conventions import points
from conformance.verdicts.departure_file import read_folder
from conformance.verdicts.departures import target_name
from conformance.verdicts.findings import findings_of
from conformance.verdicts.shown import shown

RECORDS = (".jsonl", ".jsonl.gz")
"""How the names of records end."""
HISTORY, FINDINGS, CONVENTIONS = "history", "findings", "conventions"
"""The formats that show TensorFlow's releases, the faults of targets, and where they differ."""
ANY = "any"
"""Every change; what is unstable is none."""


def record_at(*paths: str, cases: Iterable[Movable]) -> Record:
    """The record of a file; or of these files, or those in these folders, as one.

    They are the shards of a run, or records of different targets.

    Answers to those of the `cases` that were moved since are read as answers of today's.
    """
    records = records_in(*paths, cases=cases)
    return (merged if any("shard" in one.header for one in records) else together)(records)


def records_in(*paths: str | Path, cases: Iterable[Movable]) -> list[Record]:
    """The records of files, and every record of folders."""
    files: list[Path] = []
    for path in map(Path, paths):
        inside = sorted(file for ending in RECORDS for file in path.glob(f"*{ending}"))
        if path.is_dir() and not inside:
            raise UsageError(f"{path} is a folder without a record ({', '.join(RECORDS)})")
        files += inside or [path]
    moved = ids_of_today(cases)
    return [read_record(file, moved) for file in files]


def against(word: str, label: str, cases: Sequence[Case]) -> Against:
    """The gate of the target of this label: a record, or that of a version among our own."""
    path = Path(word)
    if not path.is_file():
        folder = data_folder("reports")
        path = folder / f"{RELEASED}-{word}{RECORDS[1]}"
        if not path.is_file():
            raise UsageError(f"--against {word}: no such file, and no record of it in {folder}")
    record, name = record_at(str(path), cases=cases), target_name(label)
    if [target_name(one) for one in record.asked] != [name] or not record.complete:
        raise UsageError(f"--against {path}: no complete record of {name}")
    return Against.of(record, name)


def report_options(parser: argparse.ArgumentParser) -> None:
    """The options of `gradconf report`."""
    add = parser.add_argument
    about = (
        f"{HISTORY} takes the records of several versions of one target, {FINDINGS} and"
        f" {CONVENTIONS} those of several targets; any other shows targets side by side"
    )
    add(
        "record",
        metavar="RECORD",
        nargs="+",
        help="a record, those of all shards, or of several targets",
    )
    add_corpus(parser)
    add_known(parser)
    add("--format", choices=(*FORMATS["run"], *PAGES), default="text", help=about)
    add("--output", metavar="FILE", help="where the report goes instead of stdout")


def run_report(arguments: argparse.Namespace) -> int:
    """Show run records, judged again from their raw answers by the corpus of today."""
    of = PAGES.get(arguments.format, _of_run)
    report = of(arguments, load_corpus(arguments.corpus))
    text = render(report, "markdown" if arguments.format in PAGES else arguments.format)
    write_output(text, arguments.output, [*arguments.record, arguments.baseline])
    return report.exit_code


def _of_run(arguments: argparse.Namespace, cases: Sequence[Case]) -> Report:
    record = record_at(*arguments.record, cases=cases)
    gate = gate_of(arguments, cases, list(record.asked))
    departures = documented(arguments, cases, list(record.asked))
    findings = findings_of(record, cases, departures, gate)
    return report_of_run(findings, changes_between_versions(findings, departures))


def _of_releases(arguments: argparse.Namespace, cases: Sequence[Case]) -> Report:
    """The history of a target; a record that was cut short makes it untrustworthy."""
    records = _versions(arguments, cases)
    departures = documented(arguments, cases, [label for one in records for label in one.asked])
    releases = [findings_of(record, cases, departures) for record in records]
    sides = map(side_of, records)
    changes = (changes_between(old, new, departures) for old, new in pairwise(sides))
    causes = {} if arguments.deviations or arguments.corpus else our_causes(departures)
    own = causes.get(target_name(next(iter(records[0].asked))), Causes())
    return report_of_releases(releases, changes, {case.id: case for case in cases}, own)


def _versions(arguments: argparse.Namespace, cases: Sequence[Case]) -> list[Record]:
    """The records of the versions of a target, the oldest first."""
    records = records_in(*arguments.record, cases=cases)
    for record in records:
        if len(record.asked) != 1:
            raise UsageError(f"{record.path}: {arguments.format} takes records of one target each")
    try:
        return sorted(records, key=lambda record: version_key(record.version))
    except ValueError as error:
        about = f"{arguments.format} takes records of targets with a version"
        raise UsageError(f"{about}: {error}") from error


def _of_causes(arguments: argparse.Namespace, cases: Sequence[Case]) -> Report:
    """The faults of the targets of records, as these show them, each record of one target."""
    lists = read_folder(data_folder("deviations"), cases)
    causes = our_causes(lists)
    return report_of_causes(
        [
            Faults(name, own[-1].version, tuple(shown(causes[name], own, cases, lists)))
            for name, own in _by_target(arguments, cases).items()
        ]
    )


def _of_conventions(arguments: argparse.Namespace, cases: Sequence[Case]) -> Report:
    """Where the targets of records choose differently, each record of one target."""
    lists = read_folder(data_folder("deviations"), cases)
    by_name = _by_target(arguments, cases)
    versions = {name: [one.version for one in own] for name, own in by_name.items()}
    found = points([one for own in by_name.values() for one in own], cases, lists)
    return report_of_conventions([*found], versions)


def _by_target(arguments: argparse.Namespace, cases: Sequence[Case]) -> dict[str, list[Record]]:
    """The records of each target's versions; first those of the one whose contract it is."""
    by_name = grouped(_versions(arguments, cases), lambda one: target_name(next(iter(one.asked))))
    return dict(sorted(by_name.items(), key=lambda item: (item[0] != RELEASED, item[0])))


PAGES = {HISTORY: _of_releases, FINDINGS: _of_causes, CONVENTIONS: _of_conventions}
"""What makes the pages of releases and frameworks."""


def diff_options(parser: argparse.ArgumentParser) -> None:
    """The options of `gradconf diff`."""
    add, classes = parser.add_argument, f"fall short on {', '.join(SHORT)}, or {ANY}"
    add("old", metavar="OLD", help="a record, or a folder with those of all shards")
    add("new", metavar="NEW")
    add("--fail-on", type=_gated, default=(), metavar="CLASS[,CLASS]", help=classes)
    add("--format", choices=FORMATS["difference"], default="text")
    add_corpus(parser)


def run_diff(arguments: argparse.Namespace) -> int:
    """Compare two run records, raw answer against raw answer, and say of each change what made it.

    The classes of changes, the most severe first: implementation, environment, oracle, warning,
    expectation and program changed, removed, added; unstable comes last and is no change. The last
    line is a word where --fail-on gates classes (conforms: no cell has one of them; falls_short) or
    where the records cannot be compared (nothing_ran, untrustworthy). Without --fail-on changes are
    told, not judged.
    """
    cases = summaries(arguments.corpus)
    old, new = (side_of(record_at(path, cases=cases)) for path in (arguments.old, arguments.new))
    if not (old.answers or new.answers):
        raise UsageError("the records have no cells")
    found = changes_between(old, new, our_deviations(arguments))
    titles = {case.id: case.title for case in cases}
    report = report_of_difference(found, arguments.fail_on, Known(titles, arguments.command))
    if arguments.format == "text":
        print_report(report, sys.stdout, limit=None)
    else:
        sys.stdout.write(encodable(render(report, arguments.format), sys.stdout))
    return report.exit_code


def _gated(text: str) -> tuple[ChangeClass, ...]:
    """The classes that a `--fail-on` names, the most severe first."""
    names = [name.strip() for name in text.split(",")]
    known = [*SHORT, ANY]
    for name in names:
        if name not in known:
            raise UsageError(f"--fail-on: no class '{name}'{suggest(name, known)}")
    return tuple(
        kind
        for name, kind in SHORT.items()
        if name in names or (ANY in names and kind != "unstable")
    )
