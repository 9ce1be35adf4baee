"""The formats that results can be written in: a closed list, one function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias, get_args

from conformance.report.annotations import write_github
from conformance.report.as_json import write_json
from conformance.report.html.page import write_html
from conformance.report.junit import write_junit
from conformance.report.markdown import write_markdown
from conformance.report.style import Style
from conformance.report.terminal import report_lines
from conformance.verdicts.results import Results

Format: TypeAlias = Literal["text", "markdown", "html", "json", "junit", "github"]
FORMATS: tuple[Format, ...] = get_args(Format)


def render(results: Results, format: Format) -> str:
    """The results as a whole document, nothing left out; it ends with a newline."""
    return WRITERS[format](results)


def write_text(results: Results) -> str:
    """The summary of the terminal in plain ASCII marks, with every block."""
    return "\n".join(report_lines(results, Style())) + "\n"


WRITERS: Mapping[Format, Callable[[Results], str]] = {
    "text": write_text,
    "markdown": write_markdown,
    "html": write_html,
    "json": write_json,
    "junit": write_junit,
    "github": write_github,
}
assert tuple(WRITERS) == FORMATS
