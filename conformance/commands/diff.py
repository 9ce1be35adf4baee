"""`gradconf diff`: what changed from one record to another."""

from __future__ import annotations

import argparse
import sys

from conformance.closing import UsageError
from conformance.commands.files import record_at
from conformance.commands.options import add_corpus
from conformance.corpus.index import summaries
from conformance.files import data_folder
from conformance.report import FORMATS, render
from conformance.report.of_difference import Known, report_of_difference
from conformance.report.text import encodable, print_report
from conformance.text import suggest
from conformance.verdicts.changes import SHORT, ChangeClass, changes_between, side_of
from conformance.verdicts.departure_file import read_folder

ANY = "any"
"""Every change; what is unstable is none."""


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
    old, new = (side_of(record_at(path)) for path in (arguments.old, arguments.new))
    if not (old.answers or new.answers):
        raise UsageError("the records have no cells")
    documented = [] if arguments.corpus else read_folder(data_folder("deviations"))
    found = changes_between(old, new, documented)
    titles = {summary.id: summary.title for summary in summaries(arguments.corpus)}
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
