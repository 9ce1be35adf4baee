"""YAML files as located values: YAML 1.2's core schema, bounded, no aliases; faults by place."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import yaml

from conformance.closing import UsageError
from conformance.corpus.language.case import Place
from conformance.files import read_bounded
from conformance.text import clean, printable, suggest

MAX_FAULTS = 100
MAX_WORK = 1_000_000
MAX_SHOWN = 60

YamlValue: TypeAlias = "dict[str, Node] | list[Node] | str | int | float | bool | None"
Read = TypeVar("Read")
KINDS = {dict: "a mapping", list: "a list", str: "text", bool: "a boolean"}
KINDS |= {int: "an integer", float: "a number", type(None): "null"}


@dataclass(frozen=True)
class Fault:
    """One thing wrong with a file: where it stands, and what is wrong with it and to be done."""

    place: Place
    message: str

    def __str__(self) -> str:
        return printable(f"{self.place}: {self.message}")


class CaseFileError(UsageError):
    """A file that cannot be used; carries every fault that was found in it."""

    def __init__(self, faults: list[Fault]) -> None:
        super().__init__("\n".join(str(fault) for fault in faults))
        self.faults = faults


@dataclass(frozen=True)
class Hole:
    """Where a template's `${...}` stood in the written text, and what stands there when filled."""

    start: int
    end: int
    written_start: int
    written_end: int


@dataclass
class Reading:
    """The faults of one reading, which are told all at once, and what its work comes to.

    A small file can ask for a lot of work.
    """

    faults: list[Fault] = field(default_factory=list)
    spent: int = 0


@dataclass(slots=True)
class Node:
    """A YAML value, its place, and the reading that it belongs to; it is not changed.

    A text's own characters begin at `text_line`, `text_column`; `text_line` is 0 where its lines
    are not the file's (a folded or an escaped text). `key` is the place of the key that it stands
    under. A text whose template had holes keeps what was written, so that faults point there.
    """

    value: YamlValue
    place: Place
    reading: Reading = field(default_factory=Reading, repr=False, compare=False)
    key: Place | None = None
    text_line: int = 0
    text_column: int = 0
    written: str = ""
    holes: tuple[Hole, ...] = ()

    @property
    def kind(self) -> str:
        """What a person would call the value: a mapping, a list, text, null, ..."""
        return KINDS[type(self.value)]

    @property
    def name_place(self) -> Place:
        """Where the node's key stands; where the node stands if it has none."""
        return self.key or self.place

    def holding(self, value: YamlValue) -> Node:
        """Another value in this one's place; as `replace` makes it, three times as fast."""
        where = self.place, self.reading, self.key, self.text_line, self.text_column
        return Node(value, *where, self.written, self.holes)

    def at(self, line: int, column: int) -> Place:
        """The place in the file of a 1-based line and a 0-based column of the node's text."""
        if not self.text_line:
            return self.place
        if self.holes:
            line, column = self._in_template(line, column)
        file, *_, path = self.place
        return Place(file, self.text_line + line - 1, self.text_column + column, path)

    def _in_template(self, line: int, column: int) -> tuple[int, int]:
        lines = str(self.value).split("\n")
        offset = sum(len(before) + 1 for before in lines[: line - 1]) + column
        for hole in reversed(self.holes):
            if offset >= hole.start:
                beyond = offset - hole.end
                offset = hole.written_end + beyond if beyond >= 0 else hole.written_start
                break
        before = self.written[:offset]
        return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1)

    def fault(self, message: str, place: Place | None = None) -> None:
        """Note that `message` is wrong here or at `place`; raises CaseFileError beyond 100."""
        fault, found = Fault(place or self.place, message), self.reading.faults
        if fault in found:  # the same entry filled with another combination
            return
        found.append(fault)
        if len(found) >= MAX_FAULTS:
            stop = Fault(fault.place, f"{MAX_FAULTS} faults: reading stops here")
            raise CaseFileError([*found, stop])

    def fault_of_name(self, message: str) -> None:
        """Note that `message` is wrong where the node's key stands."""
        self.fault(message, self.name_place)

    def spend(self, amount: int) -> None:
        """Account for work; raises CaseFileError where a file asks for too much of it."""
        self.reading.spent += amount
        if self.reading.spent > MAX_WORK:
            message = "the file's combinations and draws come to more than can be read: split it"
            raise CaseFileError([*self.reading.faults, Fault(self.place, message)])

    def finish(self) -> None:
        """End the reading; raises CaseFileError with every fault, in the order of the file."""
        if found := self.reading.faults:
            raise CaseFileError(sorted(found, key=lambda f: (f.place.line, f.place.column)))

    # What the node holds: each notes a fault, and gives something harmless, for another kind.

    def mapping(self) -> dict[str, Node]:
        """The mapping; an empty one where it is something else."""
        if isinstance(self.value, dict):
            return self.value
        self.fault(f"expected a mapping, got {self.kind}")
        return {}

    def items(self) -> list[Node]:
        """The list; an empty one where it is something else."""
        if isinstance(self.value, list):
            return self.value
        self.fault(f"expected a list, got {self.kind}")
        return []

    def lines(self) -> tuple[str, ...]:
        """The lines of a list."""
        return tuple(item.line() for item in self.items())

    def text(self) -> str:
        """The text; "" where it is something else or empty."""
        if isinstance(self.value, str) and self.value.strip():
            return self.value
        self.fault(f"expected text, got {'nothing' if self.value == '' else self.kind}")
        return ""

    def line(self) -> str:
        """The text without the white space around it.

        A fault where it has a line break, or a character that a terminal would obey or not show.
        """
        text = self.text().strip()
        if "\n" in text:
            self.fault("expected text of one line")
        elif not text.isprintable():
            found = next(character for character in text if not character.isprintable())
            self.fault(f"the character {found!r} cannot be shown: leave it out")
        return text

    def flag(self) -> bool:
        """The boolean; False where it is something else."""
        if not isinstance(self.value, bool):
            self.fault(f"expected true or false, got {self.kind}")
        return self.value is True

    def keys(self, known: Sequence[str], required: Sequence[str] = ()) -> None:
        """Refuse keys outside `known` and the absence of those `required`."""
        mapping = self.mapping()
        for key, child in mapping.items():
            if key not in known:
                child.fault_of_name(f"unknown key '{shortened(key)}'{suggest(key, known)}")
        missing = [key for key in required if key not in mapping]
        if missing and isinstance(self.value, dict):
            self.fault_of_name(f"missing {', '.join(missing)}")

    def read(self, key: str, read: Callable[[Node], Read]) -> Read | None:
        """What `read` makes of the value under a key; None where there is no such key."""
        child = self.value.get(key) if isinstance(self.value, dict) else None
        return None if child is None else read(child)


def read_all(files: Iterable[Path], read: Callable[[Path], Read]) -> list[Read]:
    """What `read` makes of each file; raises CaseFileError with the faults of all of them."""
    found: list[Read] = []
    faults: list[Fault] = []
    for file in files:
        try:
            found.append(read(file))
        except CaseFileError as error:
            faults += error.faults
    if faults:
        raise CaseFileError(faults)
    return found


def shortened(text: str) -> str:
    """A text of the file as a message repeats it: not longer than a line."""
    return clean(text, MAX_SHOWN)


# ----- YAML text to nodes -----

MAX_LEVELS = 40
MAX_KEY = 200
MAX_PATH = 200

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # PyYAML may be built without libyaml


@dataclass(frozen=True)
class Limits:
    """The most that a YAML file may hold."""

    bytes: int = 1_000_000
    values: int = 100_000


CASE_FILE = Limits()


def read_document(path: Path, shown_as: str | None = None, limits: Limits = CASE_FILE) -> Node:
    """The one document of a YAML file.

    Raises CaseFileError for what cannot be read: no regular file, not UTF-8, beyond its limits, not
    YAML, deeper than 40 levels, a duplicate key, an alias, a tag, several documents.
    """
    file = shown_as or str(path)
    try:
        text = read_bounded(path, limits.bytes).decode("utf-8-sig")
    except OSError as error:
        raise _no_document(file, f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise _no_document(file, f"not UTF-8: {error.reason} at byte {error.start}") from error
    return parse_document(text, file, limits)


def parse_document(text: str, file: str, limits: Limits = CASE_FILE) -> Node:
    """The one document of YAML text that is named `file` in faults; raises as read_document."""
    try:
        if len(text.encode()) > limits.bytes:
            raise _no_document(file, f"longer than {limits.bytes:,} bytes: split the file")
        return _Builder(text, file, limits.values).document()
    except UnicodeEncodeError as error:
        message = f"not UTF-8: {error.reason} at character {error.start}"
        raise _no_document(file, message) from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        message = f"not YAML: {error.problem or error.context}"
        raise _no_document(file, message, line, column) from error
    except yaml.YAMLError as error:
        raise _no_document(file, "not YAML: " + " ".join(str(error).split())) from error


def _no_document(file: str, message: str, line: int = 1, column: int = 1) -> CaseFileError:
    return CaseFileError([Fault(Place(file, line, column, "$"), message)])


class _Builder:
    """Turns the parser's events into nodes, refusing what a case file must not hold.

    Events rather than PyYAML's own composer, which recurses as deep as its input does.
    """

    def __init__(self, text: str, file: str, most: int) -> None:
        self.file, self.most = file, most
        self.lines = text.splitlines()
        self.events: Iterator[Any] = iter(yaml.parse(text, Loader=_LOADER))
        self.nodes = 0
        self.reading = Reading()

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
        if depth > MAX_LEVELS:
            self._refuse(event, path, f"nested deeper than {MAX_LEVELS} levels")
        if self.nodes > self.most:
            self._refuse(event, path, f"more than {self.most:,} values: split the file")
        if isinstance(event, yaml.AliasEvent) or event.anchor:
            self._refuse(event, path, "anchors and aliases are not used here: write the value out")
        if event.tag:
            self._refuse(event, path, f"tags are not used here: remove {shortened(event.tag)}")
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event, place, key)
        if isinstance(event, yaml.SequenceStartEvent):
            return Node(list(self._items(path, depth)), place, self.reading, key)
        return Node(self._pairs(path, depth), place, self.reading, key)

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
            below = _joined(path, _shown_key(f".{event.value}"))
            if event.value in pairs:
                self._refuse(event, below, f"duplicate key '{shortened(event.value)}'")
            key = self._place(event, below)
            pairs[event.value] = self._node(next(self.events), below, depth + 1, key)
        return pairs

    def _scalar(self, event: Any, place: Place, key: Place | None) -> Node:
        value = event.value if event.style else core_scalar(event.value)
        line, column = place.line, place.column
        if event.style == "|":
            line, column = line + 1, self._indentation(line, event.value) + 1
        elif event.start_mark.line != event.end_mark.line or "\n" in event.value:
            line, column = 0, 0
        elif event.style:
            column += 1
        return Node(value, place, self.reading, key, line, column)

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
        return path + part
    return path if path.endswith("...") else f"{path}..."


@lru_cache(1_000)  # a file has the same few keys in all its entries
def _shown_key(key: str) -> str:
    return shortened(key)


_INTEGER = re.compile(r"[-+]?[0-9]{1,40}|0o[0-7]{1,40}|0x[0-9a-fA-F]{1,40}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS: dict[str, YamlValue] = {word: None for word in ("", "~", "null", "Null", "NULL")}
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
