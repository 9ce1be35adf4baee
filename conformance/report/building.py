"""What every builder needs: groups, tables of counts, and the commands to see a cell again."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from conformance.asking.events import Cell
from conformance.report.model import Column, Row, Table
from conformance.text import printable

T = TypeVar("T")
Key = TypeVar("Key")


def grouped(items: Iterable[T], key: Callable[[T], Key]) -> dict[Key, list[T]]:
    """The items by their key, in the order in which the keys come first."""
    groups: dict[Key, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def table_of(texts: Iterable[str], numbers: Iterable[str | Column], rows: Sequence[Row]) -> Table:
    """A table with columns of texts, then of numbers, or of what a column of its own says."""
    columns = (column if isinstance(column, Column) else Column(column) for column in numbers)
    return Table((*(Column(text, number=False) for text in texts), *columns), rows)


def command_line(command: Sequence[str]) -> str:
    """The command that was given, as a shell takes it; nothing where it is not known."""
    return quoted("gradconf", *command) if command else ""


def replay_command(cell: Cell, modes: Iterable[str] = (), command: Sequence[str] = ()) -> str:
    """The command that runs a cell again; several modes of one case and target in one.

    `command` is that of the run: where it named a corpus or an interpreter, so does the replay.
    """
    target = f"{cell.target}:{','.join(modes or (cell.mode,))}"
    return quoted("gradconf", "run", target, cell.case, *_same(command, "--corpus", "--python"))


def show_command(cell: Cell, command: Sequence[str] = ()) -> str:
    """The command that prints a cell's case, in its mode, as a script that runs by itself."""
    mode = () if cell.mode == "eager" else ("--mode", cell.mode)
    words = ("gradconf", "show", cell.case, "--as-python", *mode)
    return quoted(*words, *_same(command, "--corpus"))


def report_command(record: str, command: Sequence[str] = ()) -> str:
    """The command that shows everything that a run recorded."""
    words = ("gradconf", "report", record or "RECORD")
    return quoted(*words, *_same(command, "--corpus"), "--format", "text")


def quoted(*words: object) -> str:
    """Words as a shell takes them."""
    return " ".join(shlex.quote(printable(word)) for word in words)


def _same(command: Sequence[str], *options: str) -> Iterator[str]:
    """The options of a command, among these, with their values."""
    words = [str(word) for word in command]
    for word, value in zip(words, [*words[1:], ""], strict=False):
        name, equals, joined = word.partition("=")
        if name in options and (joined or value):
            yield from (name, joined if equals else value)


def surroundings(about: Mapping[str, Any] | None) -> str:
    """`Python 3.11.7, numpy 2.4.6, Linux x86_64`, from what a worker says of itself."""
    parts = {"Python ": "python", "numpy ": "numpy", "": "platform"}
    known = {lead: (about or {}).get(key) for lead, key in parts.items()}
    return ", ".join(f"{lead}{value}".strip() for lead, value in known.items() if value)
