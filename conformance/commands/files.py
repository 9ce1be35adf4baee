"""The files that commands read: cases, deviations and records."""

from __future__ import annotations

import argparse
from pathlib import Path

from conformance.asking.record import Record, read_record
from conformance.asking.sharding import merged
from conformance.closing import UsageError
from conformance.commands.options import corpus_folder
from conformance.corpus.cases import load_corpus
from conformance.corpus.language.case import Case
from conformance.corpus.selection import NothingSelected, Selection, select

RECORDS = (".jsonl", ".jsonl.gz")
"""How the names of records end."""


def one_case(arguments: argparse.Namespace) -> Case:
    """The one case that a command's word names."""
    try:
        chosen = select(load_corpus(corpus_folder(arguments)), Selection((arguments.case,)))
    except NothingSelected as nothing:
        raise UsageError(str(nothing)) from nothing
    if len(chosen) > 1:
        ids = ", ".join(case.id for case in chosen[:3])
        raise UsageError(f"'{arguments.case}' is {len(chosen)} cases: name one, such as {ids}")
    return chosen[0]


def record_at(*paths: str) -> Record:
    """The record of a file; or that of a run whose shards are these files, or in these folders."""
    return merged([record for path in paths for record in records_in(Path(path))])


def records_in(path: Path) -> list[Record]:
    """The record of a file, or every record of a folder."""
    if not path.is_dir():
        return [read_record(path)]
    found = sorted(file for file in path.iterdir() if file.name.endswith(RECORDS))
    if not found:
        raise UsageError(f"{path} is a folder without a record ({', '.join(RECORDS)})")
    return [read_record(file) for file in found]
