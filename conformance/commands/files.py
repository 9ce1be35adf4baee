"""The files that commands read: cases, deviations and records."""

from __future__ import annotations

import argparse
from pathlib import Path

from conformance.asking.record import Record, read_record
from conformance.asking.sharding import merged
from conformance.closing import UsageError
from conformance.corpus.cases import load_corpus
from conformance.corpus.language.case import Case
from conformance.corpus.selection import NothingSelected, Selection, select

RECORDS = (".jsonl", ".jsonl.gz")
"""How the names of records end."""


def one_case(arguments: argparse.Namespace) -> Case:
    """The one case that a command's word names."""
    try:
        chosen = select(load_corpus(arguments.corpus), Selection((arguments.case,)))
    except NothingSelected as nothing:
        raise UsageError(str(nothing)) from nothing
    if len(chosen) > 1:
        ids = ", ".join(case.id for case in chosen[:3])
        raise UsageError(f"'{arguments.case}' is {len(chosen)} cases: name one, such as {ids}")
    return chosen[0]


def record_at(*paths: str) -> Record:
    """The record of a file; or that of a run whose shards are these files, or in these folders."""
    return merged(records_in(*paths))


def records_in(*paths: str | Path) -> list[Record]:
    """The records of files, and every record of folders."""
    files: list[Path] = []
    for path in map(Path, paths):
        inside = sorted(file for ending in RECORDS for file in path.glob(f"*{ending}"))
        if path.is_dir() and not inside:
            raise UsageError(f"{path} is a folder without a record ({', '.join(RECORDS)})")
        files += inside or [path]
    return list(map(read_record, files))
