"""How text looks on a stream: colours, marks, width, and nothing that a terminal would obey."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TextIO, TypeAlias

from conformance.verdicts.judge import Verdict

WIDTH = 80
KEPT = "\N{NO-BREAK SPACE}"
"""A space where `wrap` breaks no line."""

ColorChoice: TypeAlias = Literal["auto", "always", "never"]
CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "magenta": "35"}
OF_VERDICT: Mapping[Verdict, str] = {
    "pass": "green",
    "fail": "red",
    "crash": "red",
    "timeout": "red",
    "unexpected_pass": "red",
    "bad_case": "magenta",
    "error": "magenta",
    "known_deviation": "yellow",
    "unsupported": "yellow",
    "not_run": "yellow",
    "not_applicable": "dim",
}


@dataclass(frozen=True)
class Style:
    """What a stream can show; the default is plain ASCII without colour."""

    colour: bool = False
    unicode: bool = False
    encoding: str = "utf-8"

    def paint(self, text: str, *names: str) -> str:
        """The text in a colour, where there are colours."""
        codes = ";".join(CODES[name] for name in names if name)
        return f"\x1b[{codes}m{text}\x1b[0m" if self.colour and codes and text else text

    def encodable(self, text: str) -> str:
        """The text with escapes for the characters that the stream cannot encode."""
        return text.encode(self.encoding, "backslashreplace").decode(self.encoding)

    def rule(self, width: int) -> str:
        """A line that parts one section from the next."""
        return ("─" if self.unicode else "-") * width

    def bar(self, done: int, total: int, width: int = 16) -> str:
        """`[####....]`."""
        filled = width * done // total if total else width
        full, rest = ("█", "░") if self.unicode else ("#", ".")
        return f"[{full * filled}{rest * (width - filled)}]"


def style_of(
    stream: TextIO, color: ColorChoice = "auto", environ: Mapping[str, str] | None = None
) -> Style:
    """What a stream can show, and what the user asked for.

    `color` wins, then NO_COLOR, FORCE_COLOR and TERM=dumb; else a terminal has colours.
    """
    environ = os.environ if environ is None else environ
    encoding = getattr(stream, "encoding", None) or "utf-8"
    unicode = encoding.lower().replace("-", "").replace("_", "") in ("utf8", "utf8sig")
    return Style(_is_coloured(stream, color, environ), unicode, encoding)


def is_terminal(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Whether a line on this stream can be drawn again."""
    return stream.isatty() and environ.get("TERM") != "dumb"


def _is_coloured(stream: TextIO, color: ColorChoice, environ: Mapping[str, str]) -> bool:
    if color != "auto":
        return color == "always"
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR"):
        return environ["FORCE_COLOR"] != "0"
    return is_terminal(stream, environ)


def columns(text: str) -> int:
    """How many columns a text takes: wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(map(_columns_of, text))


def _columns_of(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def cut(text: str, width: int) -> str:
    """The text in at most `width` columns, with `...` for what is left out at its end."""
    if columns(text) <= width:
        return text
    return _fitting(text, max(width - 3, 0)) + "..."[:width]


def cut_start(text: str, width: int) -> str:
    """The text in at most `width` columns, without its start: the end of a path tells most."""
    if columns(text) <= width:
        return text
    return "..."[:width] + _fitting(text[::-1], max(width - 3, 0))[::-1]


def padded(text: str, width: int, *, right: bool = False) -> str:
    """The text filled up to `width` columns."""
    space = " " * (width - columns(text))
    return space + text if right else text + space


def wrap(text: str, indent: str = "", hanging: str | None = None) -> Iterator[str]:
    """Lines of at most WIDTH columns; the later ones start with `hanging`."""
    hanging = indent if hanging is None else hanging
    line, start = "", indent
    for word in _breakable(text, WIDTH - max(columns(indent), columns(hanging))):
        longer = f"{line} {word}" if line else word
        if line and columns(start + longer) > WIDTH:
            yield (start + line).replace(KEPT, " ")
            line, start = word, hanging
        else:
            line = longer
    yield (start + line).rstrip().replace(KEPT, " ")


def _breakable(text: str, width: int) -> Iterator[str]:
    for word in text.split(" "):
        while columns(word) > width:
            head = _fitting(word, width)
            yield head
            word = word[len(head) :]
        yield word


def _fitting(text: str, width: int) -> str:
    taken = 0
    for position, character in enumerate(text):
        taken += _columns_of(character)
        if taken > width:
            return text[:position]
    return text
