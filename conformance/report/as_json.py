"""Results as one JSON document, for programs; its shape is versioned and written down here."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from conformance import __version__
from conformance.answers.mismatch import Mismatch
from conformance.asking.events import Cell
from conformance.closing import EXIT_CODES
from conformance.corpus.cases import CORPUS_VERSION as CORPUS
from conformance.report.difference_blocks import Known
from conformance.report.difference_json import change_document
from conformance.report.json_text import dumped
from conformance.report.summary import (
    Standing,
    replay_command,
    reservations,
    rows_of,
    show_command,
    standings,
)
from conformance.verdicts.changes import changes_between_versions
from conformance.verdicts.results import ORACLE_LABEL, Judged, Results

VERSION = 1
"""Raised when a key changes its meaning or goes; a new key does not raise it."""


def document(results: Results) -> dict[str, Any]:
    """The document as Python values.

    report        the version of this shape
    gradconf, corpus                     versions of the suite that judged
    command       the words of the command line that made the run
    word, exit_code                      the closing word and what the process exits with
    complete, reason, reservations       whether the run ended well, and what a reader must know
    seconds, record                      how long it took, and where the raw answers are
    counts        {verdict: cells}, of all targets; a verdict that no cell has is left out
    targets       [{target, title, modes, about, failed, headline, rows: [{mode, cells, counts}]}]
    headline      {passed, applicable, share, short, compared, both_witnesses, counts}
    oracle        what the oracle's worker said of itself; null where it did not start
    baseline      {file, strict_new, counts: {standing: cells}}; null where there is none
    cells         [{case, title, target, mode, verdict, baseline, compared, witnesses, mismatches,
                    note, reason, seconds, program, file, line, show, replay}], one for each cell
    mismatches    [{kind, name, path, index, expected, got, difference, bound, floor, note}]
    stale         [{case, target, mode}], cells of the record that were not judged
    changes       [{old, new, compared, counts: {class: cells}, changes}], from each version of a
                  target to the next; a change is as `gradconf diff --format json` has it

    A cell's `baseline` is its standing beside the baseline: known, worse, better, new case, null.
    `note` is the judge's, `reason` is what the run said of a cell without an answer. A number that
    JSON does not have is a string: "nan", "inf", "-inf". Texts are as the target gave them.
    """
    return {
        "report": VERSION,
        "gradconf": __version__,
        "corpus": CORPUS,
        "command": list(results.command),
        "word": results.word,
        "exit_code": EXIT_CODES[results.word],
        "complete": results.complete,
        "reason": results.reason,
        "reservations": reservations(results),
        "seconds": results.seconds,
        "record": results.record,
        "counts": results.counts(),
        "targets": [_target(results, standing) for standing in standings(results)],
        "oracle": _about(results, ORACLE_LABEL),
        "baseline": _baseline(results),
        "cells": [_cell(judged, results) for judged in results.cells],
        "stale": [_named(cell) for cell in results.stale],
        "changes": _changes(results),
    }


def write_json(results: Results) -> str:
    """The document as text: ASCII, so that no terminal obeys what a target wrote."""
    return dumped(document(results))


def _target(results: Results, standing: Standing) -> dict[str, Any]:
    rows = [row for row in rows_of(results) if row.target == standing.target]
    return {
        "target": standing.target,
        "title": results.title(standing.target),
        "modes": list(results.asked[standing.target]),
        "about": _about(results, standing.target),
        "failed": results.failed.get(standing.target),
        "headline": {
            "passed": standing.passed,
            "applicable": standing.applicable,
            "share": standing.passed / standing.applicable if standing.applicable else None,
            "short": standing.short,
            "compared": standing.compared,
            "both_witnesses": standing.seconded,
            "counts": dict(standing.counts),
        },
        "rows": [{"mode": row.mode, "cells": row.cells, "counts": row.counts} for row in rows],
    }


def _about(results: Results, target: str) -> dict[str, Any] | None:
    about = results.targets.get(target)
    if about is None:
        return None
    kept = (str, int, float, list, tuple, type(None))
    return {key: value for key, value in about.items() if isinstance(value, kept)}


def _baseline(results: Results) -> dict[str, Any] | None:
    gate = results.gate
    if gate is None:
        return None
    counts = results.standings()
    return {"file": gate.baseline.file, "strict_new": gate.strict_new, "counts": counts}


def _cell(judged: Judged, results: Results) -> dict[str, Any]:
    judgement, place, command = judged, judged.case.place, results.command
    return {
        **_named(judged.cell),
        "title": judged.case.title,
        "verdict": judged.verdict,
        "baseline": judged.standing,
        "compared": judgement.compared,
        "witnesses": list(judgement.witnesses),
        "mismatches": [_mismatch(mismatch) for mismatch in judgement.mismatches],
        "note": judgement.note,
        "reason": judged.answer.detail,
        "seconds": judged.answer.seconds,
        "program": judged.lowered.hash,
        "file": place.file,
        "line": place.line,
        "show": show_command(judged.cell, command),
        "replay": replay_command(judged.cell, command=command),
    }


def _changes(results: Results) -> list[dict[str, Any]]:
    known = Known.of(results)
    return [
        {
            "old": found.old.title,
            "new": found.new.title,
            "compared": found.compared,
            "counts": found.counts,
            "changes": [change_document(change, found, known) for change in found.changes],
        }
        for found in changes_between_versions(results)
    ]


def _named(cell: Cell) -> dict[str, str]:
    return {"case": cell.case, "target": cell.target, "mode": cell.mode}


def _mismatch(mismatch: Mismatch) -> dict[str, Any]:
    return {field.name: getattr(mismatch, field.name) for field in fields(mismatch)}
