"""The changes between two records, as text."""

from __future__ import annotations

from conformance.reporting.style import printable
from conformance.runs.difference import Change, Difference
from conformance.runs.record import Record


def difference_text(found: Difference) -> str:
    """Changes grouped by class, with both answers; then counts."""
    text = [f"old  {_titled(found.old)}", f"new  {_titled(found.new)}", ""]
    by_kind: dict[str, list[Change]] = {}
    for change in found.changes:
        by_kind.setdefault(change.kind, []).append(change)
    for kind, changes in by_kind.items():
        text += [f"{kind}: {len(changes)}", *(line for c in changes for line in _lines(c)), ""]
    text += [f"added    {cell}" for cell in found.added]
    text += [f"removed  {cell}" for cell in found.removed]
    text.append(
        f"{len(found.changes)} of {found.compared} cells changed, "
        f"{len(found.added)} added, {len(found.removed)} removed"
    )
    return "".join(f"{_safe(line)}\n" for line in text)


def _safe(line: str) -> str:
    """The line as it may be shown on a terminal, indented as it was."""
    return " " * (len(line) - len(line.lstrip(" "))) + printable(line)


def _titled(record: Record) -> str:
    versions = ", ".join(
        f"{label.split('==')[0]} {about.get('version', '')}".strip()
        for label, about in record.targets.items()
        if label != "reference"
    )
    cut = "" if record.complete else f" ({record.reason})"
    return f"{record.path}: {versions or 'no target'}{cut}"


def _lines(change: Change) -> list[str]:
    text = [f"  {change.new.cell}"]
    for mismatch in change.mismatches:
        text += [f"    {mismatch.where}", f"      was {mismatch.expected}"]
        text += [f"      now {mismatch.got}"]
        text += [f"      {mismatch.note}"] if mismatch.note else []
    return text
