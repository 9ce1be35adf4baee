"""Text for people: untrusted text made printable, counted nouns, and the nearest known names."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

MOST_KNOWN = 20
"""How many known names a message lists where none is near."""


def clean(text: object, limit: int = 200) -> str:
    """Untrusted text in one printable line of at most `limit` characters."""
    line = " ".join(str(text)[: limit * 4].split())
    shown = line
    if not line.isprintable():
        shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in line)
    return shown if len(shown) <= limit else f"{shown[: limit - 3]}..."


def printable(text: object, limit: int = 2_000) -> str:
    """A whole message in one printable line; only a very long one is cut."""
    return clean(text, limit)


def in_line(line: str) -> str:
    """A line in printable characters, with its indentation."""
    return line[: len(line) - len(line.lstrip(" "))] + printable(line)


def plural(count: int, noun: str) -> str:
    """`1 cell`, `2 cells`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def did_you_mean(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """The end of a message: the nearest known names, or nothing where none is near.

    >>> did_you_mean("egaer", ["eager", "graph"])
    ' (did you mean eager?)'
    """
    near = get_close_matches(name[:80], known, n=3, cutoff=cutoff)
    return f" (did you mean {' or '.join(near)}?)" if near else ""


def suggest(name: str, known: Iterable[str]) -> str:
    """The end of a message: the nearest known names, or the known ones where none is near."""
    names = list(known)[:400]
    listed = ", ".join(sorted(names)[:MOST_KNOWN]) + (", ..." if len(names) > MOST_KNOWN else "")
    return did_you_mean(name, names) or (f" (known: {listed})" if names else "")
