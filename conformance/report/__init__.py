"""Reporting: findings and changes become a Report, and a Report a text: one module each format."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Literal, TypeAlias, get_args

from conformance.report.model import Kind, Report

Format: TypeAlias = Literal["text", "markdown", "html", "json", "junit", "github"]
FORMATS: Mapping[Kind, tuple[Format, ...]] = {
    "run": get_args(Format),
    "difference": ("text", "markdown", "html", "json"),
    "releases": ("text", "markdown", "html", "json"),
    "causes": ("markdown", "html", "json"),
    "conventions": ("markdown",),
}
"""What each kind of report can be written in."""


def render(report: Report, format: Format) -> str:
    """The report as a whole document, nothing left out; it ends with a newline.

    A format's module is imported here: what it needs is not loaded for another.
    """
    if format not in FORMATS[report.kind]:
        raise ValueError(f"a report of {report.kind} is not written as {format}")
    text: str = import_module(f"conformance.report.{format}").write(report)
    return text
