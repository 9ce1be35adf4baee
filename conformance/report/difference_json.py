"""A difference as one JSON document, for programs; its shape is versioned and written down here."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import fields
from typing import Any

from conformance import __version__
from conformance.answers.mismatch import Mismatch
from conformance.asking.events import Answered
from conformance.closing import EXIT_CODES
from conformance.report.difference_blocks import Known, reservations
from conformance.report.json_text import dumped
from conformance.verdicts.changes import Change, ChangeClass, Changes, Side

VERSION = 1
"""Raised when a key changes its meaning or goes; a new key does not raise it."""
NAMES = {"expected": "old", "got": "new"}
"""What the sides of a mismatch are called here."""


def difference_json(found: Changes, gated: Collection[ChangeClass], known: Known) -> str:
    """The document as text."""
    return dumped(document(found, gated, known))


def document(found: Changes, gated: Collection[ChangeClass], known: Known) -> dict[str, Any]:
    """The document as Python values.

    difference    the version of this shape
    gradconf      the version of the suite that compared
    word, exit_code    the closing word, null where nothing was gated nor is wrong; the exit code
    gated         the classes that were gated
    reservations  what a reader must know before the word
    old, new      {title, complete, reason, targets: {label: what its worker said of itself}}
    compared      how many cells both sides have
    counts        {class: cells}; a class that no cell has is left out
    changes       [{class, case, title, mode, cause, mismatch, why, mismatches, old, new, show}]
    change.old, change.new    {target, version, outcome, detail, program, expectation}; null where
                  the side has no such cell
    mismatches    [{kind, name, path, index, old, new, difference, bound, floor, note}]

    `mismatch` is the class of the first mismatch, `outcome` or `malformed` where `why` says what
    differs, empty where no answers were compared. A number that JSON does not have is a string.
    """
    word = found.word(gated)
    return {
        "difference": VERSION,
        "gradconf": __version__,
        "word": word,
        "exit_code": EXIT_CODES[word] if word else 0,
        "gated": list(gated),
        "reservations": reservations(found),
        "old": _side(found.old),
        "new": _side(found.new),
        "compared": found.compared,
        "counts": found.counts,
        "changes": [change_document(change, found, known) for change in found.changes],
    }


def change_document(change: Change, found: Changes, known: Known) -> dict[str, Any]:
    """One change as Python values."""
    cell = change.cell
    return {
        "class": change.kind,
        "case": cell.case,
        "title": known.titles.get(cell.case, ""),
        "mode": cell.mode,
        "cause": change.cause,
        "mismatch": change.mismatch,
        "why": change.why,
        "mismatches": [_mismatch(mismatch) for mismatch in change.mismatches],
        "old": _answered(change.old, found.old),
        "new": _answered(change.new, found.new),
        "show": known.show(cell),
    }


def _side(side: Side) -> dict[str, Any]:
    return {
        "title": side.title,
        "complete": side.complete,
        "reason": side.reason,
        "targets": {label: dict(about) for label, about in side.targets.items()},
    }


def _answered(answered: Answered | None, side: Side) -> dict[str, Any] | None:
    if answered is None:
        return None
    return {
        "target": answered.cell.target,
        "version": side.version(answered.cell),
        "outcome": answered.answer.outcome,
        "detail": answered.answer.detail,
        "program": answered.program,
        "expectation": answered.expectation,
    }


def _mismatch(mismatch: Mismatch) -> dict[str, Any]:
    names = [field.name for field in fields(mismatch)]
    return {NAMES.get(name, name): getattr(mismatch, name) for name in names}
