"""YAML text to located nodes: YAML 1.2's core schema, positions everywhere, bounded, no aliases."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from conformance.corpus.language.case import Place
from conformance.corpus.language.nodes import CaseFileError, Fault, Faults, Node, Value, spoken

__all__ = [
    "CaseFileError",
    "Fault",
    "Faults",
    "Node",
    "Value",
    "core_scalar",
    "parse_document",
    "read_document",
]

MAX_BYTES = 1_000_000
MAX_DEPTH = 40
MAX_NODES = 100_000
MAX_KEY = 200
MAX_PATH = 200

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # PyYAML may be built without libyaml


def read_document(path: Path, shown_as: str | None = None) -> Node:
    """The one document of a YAML file.

    Raises CaseFileError for what cannot be read: not UTF-8, over 1 MB, not YAML, deeper than 40
    levels, over 100,000 values, a duplicate key, an alias, a tag, several documents.
    """
    file = shown_as or str(path)
    start = Place(file, 1, 1, "$")
    try:
        with path.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
        return parse_document(raw.decode("utf-8-sig"), file)
    except OSError as error:
        raise CaseFileError([Fault(start, f"cannot be read: {error.strerror}")]) from error
    except UnicodeDecodeError as error:
        if len(raw) > MAX_BYTES:
            raise CaseFileError([_too_large(start)]) from error
        message = f"not UTF-8: {error.reason} at byte {error.start}"
        raise CaseFileError([Fault(start, message)]) from error


def parse_document(text: str, file: str) -> Node:
    """The one document of YAML text that is named `file` in faults; raises as read_document."""
    start = Place(file, 1, 1, "$")
    try:
        if len(text) > MAX_BYTES or len(text.encode()) > MAX_BYTES:
            raise CaseFileError([_too_large(start)])
        return _Builder(text, file).document()
    except UnicodeEncodeError as error:
        message = f"not UTF-8: {error.reason} at character {error.start}"
        raise CaseFileError([Fault(start, message)]) from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        message = f"not YAML: {error.problem or error.context}"
        raise CaseFileError([Fault(Place(file, line, column, "$"), message)]) from error
    except yaml.YAMLError as error:
        message = "not YAML: " + " ".join(str(error).split())
        raise CaseFileError([Fault(start, message)]) from error


def _too_large(start: Place) -> Fault:
    return Fault(start, f"larger than {MAX_BYTES:,} bytes: split the file")


class _Builder:
    """Turns the parser's events into nodes, refusing what a case file must not hold.

    Events rather than PyYAML's own composer, which recurses as deep as its input does.
    """

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        self.lines = text.splitlines()
        self.events: Iterator[Any] = iter(yaml.parse(text, Loader=_LOADER))
        self.nodes = 0

    def document(self) -> Node:
        next(self.events)  # the start of the stream
        opening = next(self.events)
        if isinstance(opening, yaml.StreamEndEvent):
            self._refuse(opening, "$", "the file is empty")
        root = self._node(next(self.events), "$", 1)
        next(self.events)  # the end of the document
        following = next(self.events)
        if not isinstance(following, yaml.StreamEndEvent):
            self._refuse(following, "$", "a second document: write one document in a file")
        return root

    def _place(self, event: Any, path: str) -> Place:
        return Place(self.file, event.start_mark.line + 1, event.start_mark.column + 1, path)

    def _refuse(self, event: Any, path: str, message: str) -> None:
        raise CaseFileError([Fault(self._place(event, path), message)])

    def _node(self, event: Any, path: str, depth: int, key: Place | None = None) -> Node:
        place = self._place(event, path)
        self.nodes += 1
        if depth > MAX_DEPTH:
            self._refuse(event, path, f"nested deeper than {MAX_DEPTH} levels")
        if self.nodes > MAX_NODES:
            self._refuse(event, path, f"more than {MAX_NODES:,} values: split the file")
        if isinstance(event, yaml.AliasEvent) or event.anchor:
            self._refuse(event, path, "anchors and aliases are not used here: write the value out")
        if event.tag:
            self._refuse(event, path, f"tags are not used here: remove {spoken(event.tag)}")
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event, place, key)
        if isinstance(event, yaml.SequenceStartEvent):
            return Node(list(self._items(path, depth)), place, key=key)
        return Node(self._pairs(path, depth), place, key=key)

    def _items(self, path: str, depth: int) -> Iterator[Node]:
        index = 0
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            yield self._node(event, _joined(path, f"[{index}]"), depth + 1)
            index += 1

    def _pairs(self, path: str, depth: int) -> dict[str, Node]:
        pairs: dict[str, Node] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent) or event.anchor or event.tag:
                self._refuse(event, path, "a key must be a plain name")
            if len(event.value) > MAX_KEY:
                self._refuse(event, path, f"a key of more than {MAX_KEY} characters")
            below = _joined(path, f".{event.value}")
            if event.value in pairs:
                self._refuse(event, below, f"duplicate key '{spoken(event.value)}'")
            key = self._place(event, below)
            pairs[event.value] = self._node(next(self.events), below, depth + 1, key)
        return pairs

    def _scalar(self, event: Any, place: Place, key: Place | None) -> Node:
        if event.style == "|":
            column = self._indentation(place.line, event.value) + 1
            return Node(event.value, place, place.line + 1, column, key)
        if event.start_mark.line != event.end_mark.line or "\n" in event.value:
            value = event.value if event.style else core_scalar(event.value)
            return Node(value, place, key=key)
        if event.style:
            return Node(event.value, place, place.line, place.column + 1, key)
        return Node(core_scalar(event.value), place, place.line, place.column, key)

    def _indentation(self, header_line: int, text: str) -> int:
        """How far a block text is indented in the file beyond what the text itself holds."""
        filled = (line for line in self.lines[header_line:] if line.strip())
        own = (line for line in text.split("\n") if line.strip())
        return max(0, _leading_spaces(next(filled, "")) - _leading_spaces(next(own, "")))


def _leading_spaces(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _joined(path: str, part: str) -> str:
    """A path one level down; it ends in `...` where keys would make it long without bound."""
    if len(path) < MAX_PATH:
        return path + spoken(part)
    return path if path.endswith("...") else f"{path}..."


_INTEGER = re.compile(r"[-+]?[0-9]{1,40}|0o[0-7]{1,40}|0x[0-9a-fA-F]{1,40}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS: dict[str, Value] = {word: None for word in ("", "~", "null", "Null", "NULL")}
_WORDS |= {word: True for word in ("true", "True", "TRUE")}
_WORDS |= {word: False for word in ("false", "False", "FALSE")}
_WORDS |= {
    sign + word: float(sign + "inf") for sign in ("", "+", "-") for word in (".inf", ".Inf", ".INF")
}
_WORDS |= {word: float("nan") for word in (".nan", ".NaN", ".NAN")}


def core_scalar(text: str) -> str | int | float | bool | None:
    """A plain scalar by YAML 1.2's core schema: `1e-5` is a number; `no`, `on` and `y` are text.

    A number beyond float64 stays text: who means infinity writes `.inf`.
    """
    if text in _WORDS:
        return _WORDS[text]  # type: ignore[return-value]  # only scalars are in the table
    if _INTEGER.fullmatch(text):
        return int(text, 10 if text.lstrip("+-").isdigit() else 0)
    if _FLOAT.fullmatch(text) and not math.isinf(number := float(text)):
        return number
    return text
