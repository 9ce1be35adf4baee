"""Where the corpus is, and what it holds."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

from conformance.corpus.kept import cases_of
from conformance.corpus.language.case import Case
from conformance.corpus.language.document import CaseFileError, Fault, read_all
from conformance.corpus.moves import contradictions
from conformance.files import data_folder

CORPUS_VERSION = "1"
"""The corpus's own version: raised when a case's meaning changes, not when one is added."""


def load_corpus(folder: Path | None = None) -> list[Case]:
    """Every case of the corpus, in order of file name; raises CaseFileError with every fault."""
    root = folder or data_folder("cases")
    return load_files(sorted(root.rglob("*.yaml")), root)


def load_files(files: Iterable[Path], root: Path | None = None) -> list[Case]:
    """The cases of these files; raises CaseFileError with the faults of all of them."""
    folder = root or data_folder("cases")
    cases = list(chain.from_iterable(read_all(files, lambda file: cases_of(file, folder))))
    if faults := [Fault(case.place, message) for case, message in contradictions(cases)]:
        raise CaseFileError(faults)
    return cases


def expectation_hash(case: Case, mode: str) -> str:
    """What identifies all that a case declares of a mode, apart from its program."""
    declared = (
        sorted(case.expectations_in(mode).items()),
        case.warns,
        case.not_applicable.get(mode),
    )
    return hashlib.sha256(repr(declared).encode()).hexdigest()[:16]


def corpus_hash(cases: Iterable[Case]) -> str:
    """What identifies a set of cases: a hash of their ids and texts."""
    found = hashlib.sha256()
    for case in cases:  # one by one: the text of all of them can be large
        found.update(f"{case.id} {case.run} {case.expect} {case.expect_in}\n".encode())
    return found.hexdigest()[:16]
