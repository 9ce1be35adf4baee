"""What every builder says alike: the commands to see a cell again, and what a worker said."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from conformance.asking.events import Cell
from conformance.text import printable


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
    return quoted(
        *("gradconf", "report", record or "RECORD"),
        *_same(command, "--corpus"),
        *("--format", "text"),
    )


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


def surroundings(about: Mapping[str, Any]) -> str:
    """`Python 3.11.7, numpy 2.4.6, Linux x86_64`, from what a worker says of itself."""
    named = {"Python": "python", "numpy": "numpy", "": "platform"}
    return ", ".join(
        f"{name} {about[key]}".strip() for name, key in named.items() if about.get(key)
    )
