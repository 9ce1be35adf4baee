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
