"""Finding the processes of a run by a mark in their environment, which every child inherits."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

MARK = "GRADCONF_TEST_MARK"


def marked(mark: str) -> list[int]:
    """The living processes that were started with this mark."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError):  # another user's, or it ended meanwhile
            if folder.name.isdigit() and wanted in folder.joinpath("environ").read_bytes():
                found.append(int(folder.name))
    return [process for process in found if process != os.getpid()]


def left(mark: str, seconds: float = 60.0) -> list[int]:
    """The marked processes that are still there when every one had time to end."""
    deadline = time.monotonic() + seconds
    while (found := marked(mark)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return found


def parent_of(process: int) -> int | None:
    """The parent of a process; None where it has ended."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
    except OSError:
        return None
    return int(stat.rpartition(")")[2].split()[1])


def keepers_of(mark: str, host: int) -> list[int]:
    """The processes that a host started."""
    return [process for process in marked(mark) if parent_of(process) == host]


def workers_of(mark: str, host: int) -> list[int]:
    """The processes that answer cells: the second of its namespace, or a keeper's child."""
    keepers = keepers_of(mark, host)
    numbers = {process: numbers_of(process) for process in marked(mark)}
    apart = [process for process, found in numbers.items() if found[1:] == [2]]
    return apart or [p for p in numbers if len(numbers[p]) == 1 and parent_of(p) in keepers]


def numbers_of(process: int) -> list[int]:
    """The number of a process in each of its namespaces, the outermost first."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines():
            if line.startswith("NSpid:"):
                return [int(number) for number in line.split()[1:]]
    return []
