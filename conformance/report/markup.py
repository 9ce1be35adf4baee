"""Markdown in which nothing that a target or a record wrote is markup."""

from __future__ import annotations

import re
from collections.abc import Sequence

from conformance.text import printable

MOST = 900_000
"""Characters of blocks after which the rest is counted: a job summary holds a megabyte."""
SPECIAL = re.compile(r"""[\\`*_{}\[\]<>#|~&@:$"']|(?<=www)\.""")


def escaped(text: object) -> str:
    """Text in which nothing is markup, wherever it stands: each special character is an entity."""
    return SPECIAL.sub(lambda found: f"&#{ord(found.group())};", printable(text))


def code(text: object) -> str:
    """Text in which nothing is markup, shown as code: nobody is mentioned in it either."""
    return f"<code>{escaped(text)}</code>"


def fenced(lines: Sequence[str], language: str) -> str:
    """Lines in a code block that none of them can end."""
    text = "\n".join(_line(line) for line in lines)
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _line(line: str) -> str:
    indent = line[: len(line) - len(line.lstrip(" "))]
    return indent + printable(line)


def _longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)
