"""Located values and located faults: what every reader of a YAML file works with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

from conformance.corpus.language.case import Place
from conformance.text import clean, printable, suggest

MAX_FAULTS = 100
MAX_WORK = 1_000_000
MAX_SPOKEN = 60

Value: TypeAlias = "dict[str, Node] | list[Node] | str | int | float | bool | None"
KINDS = {dict: "a mapping", list: "a list", str: "text", bool: "a boolean"}
KINDS |= {int: "an integer", float: "a number", type(None): "null"}


@dataclass(frozen=True)
class Fault:
    """One thing wrong with a file: where it stands, and what is wrong with it and to be done."""

    place: Place
    message: str

    def __str__(self) -> str:
        return printable(f"{self.place}: {self.message}")


class CaseFileError(Exception):
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


@dataclass(frozen=True)
class Node:
    """A YAML value and its place.

    A text's own characters begin at `text_line`, `text_column`; `text_line` is 0 where its lines
    are not the file's (a folded or an escaped text). `key` is the place of the key that it stands
    under. A text whose template had holes keeps what was written, so that faults point there.
    """

    value: Value
    place: Place
    text_line: int = 0
    text_column: int = 0
    key: Place | None = None
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

    def at(self, line: int, column: int) -> Place:
        """The place in the file of a 1-based line and a 0-based column of the node's text."""
        if not self.text_line:
            return self.place
        if self.holes:
            line, column = self._in_template(line, column)
        return replace(self.place, line=self.text_line + line - 1, column=self.text_column + column)

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


class Faults:
    """The faults of one reading, collected so that a reader reports them all at once.

    It also keeps the account of the reading's work: a small file can ask for a lot of it.
    """

    def __init__(self) -> None:
        self.found: list[Fault] = []
        self.spent = 0

    def add(self, where: Node | Place, message: str) -> None:
        """Note that `message` is wrong at `where`; raises CaseFileError beyond 100 faults."""
        fault = Fault(where.place if isinstance(where, Node) else where, message)
        if fault in self.found:  # the same entry filled with another combination
            return
        self.found.append(fault)
        if len(self.found) >= MAX_FAULTS:
            self.found.append(Fault(fault.place, f"{MAX_FAULTS} faults: reading stops here"))
            raise CaseFileError(self.found)

    def spend(self, where: Node, amount: int) -> None:
        """Account for work; raises CaseFileError where a file asks for too much of it."""
        self.spent += amount
        if self.spent > MAX_WORK:
            message = "the file's combinations and draws come to more than can be read: split it"
            raise CaseFileError([*self.found, Fault(where.place, message)])

    def mapping(self, node: Node) -> dict[str, Node]:
        """The node's mapping; a fault and an empty one where it is something else."""
        if isinstance(node.value, dict):
            return node.value
        self.add(node, f"expected a mapping, got {node.kind}")
        return {}

    def items(self, node: Node) -> list[Node]:
        """The node's list; a fault and an empty one where it is something else."""
        if isinstance(node.value, list):
            return node.value
        self.add(node, f"expected a list, got {node.kind}")
        return []

    def text(self, node: Node) -> str:
        """The node's text; a fault and "" where it is something else or empty."""
        if isinstance(node.value, str) and node.value.strip():
            return node.value
        self.add(node, f"expected text, got {'nothing' if node.value == '' else node.kind}")
        return ""

    def line(self, node: Node) -> str:
        """The node's text without the white space around it.

        A fault where it has a line break, or a character that a terminal would obey or not show.
        """
        text = self.text(node).strip()
        if "\n" in text:
            self.add(node, "expected text of one line")
        elif not text.isprintable():
            found = next(character for character in text if not character.isprintable())
            self.add(node, f"the character {found!r} cannot be shown: leave it out")
        return text

    def flag(self, node: Node) -> bool:
        """The node's boolean; a fault and False where it is something else."""
        if not isinstance(node.value, bool):
            self.add(node, f"expected true or false, got {node.kind}")
        return node.value is True

    def keys(self, node: Node, known: tuple[str, ...], required: tuple[str, ...] = ()) -> None:
        """Refuse keys outside `known` and the absence of those `required`."""
        mapping = self.mapping(node)
        for key, child in mapping.items():
            if key not in known:
                self.add(child.name_place, f"unknown key '{spoken(key)}'{suggest(key, known)}")
        missing = [key for key in required if key not in mapping]
        if missing and isinstance(node.value, dict):
            self.add(node.name_place, f"missing {', '.join(missing)}")


def spoken(text: str) -> str:
    """A text of the file as a message repeats it: not longer than a line."""
    return clean(text, MAX_SPOKEN)
