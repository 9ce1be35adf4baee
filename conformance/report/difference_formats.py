"""The formats that a difference can be written in: a closed list, one function."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal, TypeAlias, get_args

from conformance.report.difference_blocks import Known
from conformance.report.difference_json import difference_json
from conformance.report.difference_markdown import difference_markdown
from conformance.report.difference_text import difference_text
from conformance.report.style import Style
from conformance.verdicts.changes import ChangeClass, Changes

DifferenceFormat: TypeAlias = Literal["text", "markdown", "json"]
FORMATS: tuple[DifferenceFormat, ...] = get_args(DifferenceFormat)


def render(
    found: Changes,
    format: DifferenceFormat,
    gated: Collection[ChangeClass],
    known: Known,
    style: Style,
) -> str:
    """The difference as a whole document, nothing left out; it ends with a newline."""
    if format == "json":
        return difference_json(found, gated, known)
    if format == "markdown":
        return difference_markdown(found, gated, known)
    return "".join(f"{line}\n" for line in difference_text(found, gated, known, style))
