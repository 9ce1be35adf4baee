"""The files that commands read, with their faults as usage errors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from conformance.corpus import load_corpus
from conformance.judging.deviation_file import load_deviations
from conformance.judging.deviations import Deviation
from conformance.language.case import Case
from conformance.language.document import CaseFileError
from conformance.places import data_folder
from conformance.runs.record import Record, RecordError, read_record
from conformance.usage import UsageError


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


def record_at(path: str) -> Record:
    """The record of a file."""
    try:
        return read_record(Path(path))
    except RecordError as error:
        raise UsageError(str(error)) from error
