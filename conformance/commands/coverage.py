"""Show which lines of the contract have a case, part by part, from what the cases cite."""

from __future__ import annotations

import argparse

from conformance.closing import UsageError
from conformance.commands.reading import corpus
from conformance.corpus.contract import PARTS, Coverage, coverage
from conformance.corpus.language.document import CaseFileError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `gradconf coverage`."""
    parser.add_argument("--missing", action="store_true", help="print the lines without a case")
    parser.add_argument("--cases", action="store_true", help="print the cases of each line")


def run(arguments: argparse.Namespace) -> int:
    """Print the coverage; a citation of a line that does not exist is a fault of its case."""
    try:
        found = coverage(corpus())
    except CaseFileError as error:
        raise UsageError(str(error)) from error
    if found.unknown:
        raise UsageError(
            "\n".join(
                f"{case.place}.source: the contract has no line '{source}' (docs/contract.md)"
                for case, source in found.unknown
            )
        )
    for part in PARTS.values():
        covered, excused, missing = found.of_part(part)
        total = len(covered) + len(excused) + len(missing)
        counts = f"{len(covered):4} of {total:4} lines ({len(covered) / total:.0%})"
        print(f"{part:22}{counts}" + (f", {len(excused)} cannot be a case" if excused else ""))
        if arguments.cases:
            _print_cases(found, part)
        if arguments.missing:
            for line in missing:
                print(f"    {line.id}: {line.text[:100]}")
            for line in excused:
                print(f"    {line.id} is no case: {found.excused[line.id]}")
    return 0


def _print_cases(found: Coverage, part: str) -> None:
    for line in found.of_part(part)[0]:
        print(f"    {line.id}: {', '.join(found.cited[line.id])}")
