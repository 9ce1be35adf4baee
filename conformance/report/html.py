"""A Report as one HTML page: to be looked at, with nothing to fetch and no script that it needs."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from conformance.report.model import TEMPLATES, Report, Table, TableCell, web
from conformance.text import in_line, printable

MOST_BLOCKS = 1_000
"""Blocks of one section that are written out; the others are counted."""
MARKS: Mapping[str, str] = {
    "pass": "✓",
    **dict.fromkeys(("fail", "crash", "timeout", "unexpected_pass"), "✗"),
    **dict.fromkeys(("bad_case", "error"), "!"),
    "known_deviation": "≠",
    "unsupported": "○",
    "surveyed": "~",
    "not_applicable": "·",
    "not_run": "?",
}
"""What stands for a verdict where there is room for one character; the colour says no more."""
FIRST = ("counts", "areas")
"""The sections that stand before the others."""


def write(report: Report) -> str:
    """The page as text. All text that is not ours is escaped, and no script of others can run."""
    script = (TEMPLATES / "page.js").read_text(encoding="utf-8").strip()
    page = _environment().get_template("page.html")
    text = page.render(
        report=report,
        sections=sorted(report.sections, key=lambda section: section.kind not in FIRST),
        marks=MARKS,
        shares=shares,
        most=MOST_BLOCKS,
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )
    return f"{text}\n"


@lru_cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: value if isinstance(value, Markup) else printable(value),
    )
    environment.filters.update(web=web, anchor=anchor, address=address, lines=lines)
    return environment


def lines(given: Iterable[str]) -> Markup:
    """Lines as they stand in a `pre`."""
    return Markup("\n").join(escape(in_line(line)) for line in given)


def anchor(text: str) -> str:
    """What an element is known by: the text without a space."""
    return "_".join(printable(text).split())


def address(text: str) -> str:
    """The link to an anchor."""
    return "#" + quote(anchor(text), safe="/:,.-_~")


def shares(table: Table, row: Sequence[TableCell]) -> list[tuple[str, float, str]]:
    """The counts of a row that have a colour: tone, share in per cent, and what it says."""
    counted: list[tuple[Any, int]] = [
        (column, cell)
        for column, cell in zip(table.columns, row, strict=True)
        if column.tone and isinstance(cell, int) and cell
    ]
    total = sum(count for _, count in counted)
    return [(c.tone, 100 * count / total, f"{count} {c.head}") for c, count in counted]
