"""Compare two run records, raw answer against raw answer, with the comparer that judges."""

from __future__ import annotations

import argparse

from conformance.commands.reading import record_at
from conformance.reporting.difference_text import difference_text
from conformance.runs.difference import difference
from conformance.runs.results import EXIT_CODES
from conformance.usage import UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `gradconf diff`."""
    parser.add_argument("old", metavar="OLD")
    parser.add_argument("new", metavar="NEW")


def run(arguments: argparse.Namespace) -> int:
    """Print every cell that answers differently."""
    old, new = record_at(arguments.old), record_at(arguments.new)
    found = difference(old, new)
    if not found.compared:
        if not (found.added or found.removed):
            raise UsageError("the records have no cells")
        print("the records have no target and mode in common", "nothing_ran", sep="\n")
        return EXIT_CODES["nothing_ran"]
    print(difference_text(found), end="")
    if not (old.complete and new.complete):
        print("untrustworthy")
        return EXIT_CODES["untrustworthy"]
    return 0
