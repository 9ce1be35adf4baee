"""List cases: id and title, or ids alone for other programs."""

from __future__ import annotations

import argparse

from conformance.commands.selecting import add_selection, corpus_folder, selection_of
from conformance.corpus.index import summaries
from conformance.corpus.selection import NothingSelected, select
from conformance.places import data_folder


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `gradconf list`."""
    parser.add_argument("words", nargs="*", metavar="CASE", help="ids, area/topic, files")
    add_selection(parser)
    parser.add_argument("--ids", action="store_true", help="ids alone")


def run(arguments: argparse.Namespace) -> int:
    """Print the chosen cases; 3 where there are none."""
    folder = corpus_folder(arguments) or data_folder("cases")
    try:
        chosen = select(summaries(folder), selection_of(arguments, arguments.words))
    except NothingSelected as nothing:
        print(nothing, "nothing_ran", sep="\n")
        return 3
    for case in chosen:
        print(case.id if arguments.ids else f"{case.id}\n    {case.title}")
    if not arguments.ids:
        print(f"{len(chosen)} cases")
    return 0
