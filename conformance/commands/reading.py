"""The files that commands read, with their faults as usage errors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from conformance.asking.record import Record, RecordError, read_record
from conformance.asking.sharding import merged
from conformance.closing import UsageError
from conformance.corpus.cases import load_corpus
from conformance.corpus.language.case import Case
from conformance.corpus.language.document import CaseFileError
from conformance.places import data_folder
from conformance.verdicts.deviation_file import load_deviations
from conformance.verdicts.deviations import Deviation

RECORDS = (".jsonl", ".jsonl.gz")
"""How the names of records end."""


def corpus(folder: Path | None = None) -> list[Case]:
    """The whole corpus: the suite's own, or a folder of the user's."""
    try:
        return load_corpus(folder)
    except CaseFileError as error:
        raise UsageError(str(error)) from error


def known_deviations(cases: Sequence[Case], folder: Path | None = None) -> list[Deviation]:
    """The documented deviations; there are none for a corpus in a `folder` of the user's."""
    if folder is not None:
        return []
    try:
        return load_deviations(data_folder("deviations"), cases)
    except CaseFileError as error:
        raise UsageError(str(error)) from error


def record_at(*paths: str) -> Record:
    """The record of a file; or that of a run whose shards are these files, or in these folders."""
    try:
        return merged([record for path in paths for record in records_in(Path(path))])
    except RecordError as error:
        raise UsageError(str(error)) from error


def records_in(path: Path) -> list[Record]:
    """The record of a file, or every record of a folder."""
    try:
        return [read_record(file) for file in _files(path)]
    except RecordError as error:
        raise UsageError(str(error)) from error


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = sorted(file for file in path.iterdir() if file.name.endswith(RECORDS))
    if not found:
        raise UsageError(f"{path} is a folder without a record ({', '.join(RECORDS)})")
    return found
