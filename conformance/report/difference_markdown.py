"""A difference as GitHub-flavoured Markdown, ready for a job summary or a pull request."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import groupby

from conformance.report.difference_blocks import (
    Block,
    Known,
    about_side,
    absences,
    blocks_of,
    counted_changes,
    modes_of,
    reservations,
    rows_of,
)
from conformance.report.markup import MOST, code, escaped, fenced
from conformance.text import plural
from conformance.verdicts.changes import ChangeClass, Changes

MARKS = {"conforms": "✅ ", "falls_short": "❌ ", "nothing_ran": "❌ ", "untrustworthy": "❌ "}


def difference_markdown(found: Changes, gated: Collection[ChangeClass], known: Known) -> str:
    """The document as text. All text that is not ours is escaped, or stands in code."""
    return "\n".join(_document(found, gated, known)) + "\n"


def _document(found: Changes, gated: Collection[ChangeClass], known: Known) -> Iterator[str]:
    word = found.word(gated)
    yield f"## {MARKS.get(word or '', '')}gradconf diff: {counted_changes(found)}"
    yield ""
    for name, side in (("old", found.old), ("new", found.new)):
        yield f"- {name}: {', '.join(map(code, about_side(side)))}"
    yield from (f"- ⚠️ {code(reservation)}" for reservation in reservations(found))
    yield from change_markdown(found, known)
    if gated:
        yield f"\ngated: {', '.join(gated)}"
    if word:
        yield f"\n**{word}**"


def change_markdown(found: Changes, known: Known) -> Iterator[str]:
    """The table, then every change, class by class; nothing if there is none."""
    if found.changes:
        yield from _table(found)
    written = 0
    for kind, cells in found.counts.items():
        yield f"\n### {kind} ({plural(cells, 'cell')})\n"
        for text in _class(found, kind, known):
            written += len(text)
            if written > MOST:
                yield f"\n... and more: {code('gradconf diff --format text')} shows all"
                return
            yield text


def _table(found: Changes) -> Iterator[str]:
    rows = rows_of(found)
    modes = modes_of(rows)
    yield f"\n| class | area | {' | '.join(modes)} | cells |"
    yield f"| :-- | :-- |{' --: |' * (len(modes) + 1)}"
    for row in rows:
        numbers = [*(row.modes[mode] for mode in modes), sum(row.modes.values())]
        yield f"| {row.kind} | {code(row.area)} | {' | '.join(map(str, numbers))} |"


def _class(found: Changes, kind: ChangeClass, known: Known) -> Iterator[str]:
    if kind == "removed" or kind == "added":
        yield from (f"- {code(absence)}" for absence in absences(found, kind))
        return
    for cause, group in groupby(blocks_of(found, kind, known), lambda block: block.cause):
        yield f"{code(cause)}\n"
        yield from map(_block, group)


def _block(block: Block) -> str:
    facts = [
        line
        for fact in block.facts
        for line in (
            f"{fact.where}",
            f"  was {fact.old}",
            f"  now {fact.new}",
            *([f"  {fact.note}"] if fact.note else []),
        )
    ]
    return "\n".join(
        [
            f"<details><summary><b>{escaped(block.mismatch)}</b> {code(block.case)} "
            f"{code(block.modes)}</summary>\n",
            *([f"{escaped(block.title)}\n"] if block.title else []),
            *([fenced(facts, "text")] if facts else []),
            fenced([block.show], "sh"),
            "\n</details>",
        ]
    )
