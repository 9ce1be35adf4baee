"""Control groups: what the kernel bounds of all that a worker starts, where a group can be made."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

MAX_PROCESSES = 2048
KINDS = {
    "": ("control group", "/sys/fs/cgroup", ("memory.max", "pids.max")),
    "memory": ("control group (memory)", "/sys/fs/cgroup/memory", ("memory.limit_in_bytes",)),
    "pids": ("control group (processes)", "/sys/fs/cgroup/pids", ("pids.max",)),
}
"""Of each controller (version 2 has one tree for all): what it is called, where, its bounds."""
WHOLE = (("memory.oom.group", 1), ("memory.swap.max", 0))
"""Where it is known: all end where memory runs out, and nothing is swapped out before."""
Group: TypeAlias = "tuple[str, str, str]"
"""What it is called, its folder, and the folder of the group that this process is in."""


@contextlib.contextmanager
def groups(name: str, memory: int) -> Iterator[list[Group]]:
    """New groups of this name, for as long as they are needed."""
    found = list(_made(name, memory))
    try:
        yield found
    finally:
        for _, group, _ in found:
            with contextlib.suppress(OSError):  # a keeper has removed it
                os.rmdir(group)


def _made(name: str, memory: int) -> Iterator[Group]:
    try:
        lines = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    for line in lines:
        _, kind, path = line.split(":", 2)
        called, root, bounds = KINDS.get(kind, ("", "", ()))
        own = f"{root}{path}".rstrip("/")
        # A group of version 2 that has processes bounds no groups within it: one beside it then.
        for above in (own, os.path.dirname(own)) if root else ():
            if _is_bounded(f"{above}/{name}", bounds, memory):
                yield called, f"{above}/{name}", own
                break


def _is_bounded(group: str, bounds: tuple[str, ...], memory: int) -> bool:
    """Whether a new group with these bounds could be made."""
    try:
        os.mkdir(group)
        try:
            for bound in bounds:
                _write(f"{group}/{bound}", MAX_PROCESSES if bound == "pids.max" else memory)
        except OSError:
            os.rmdir(group)
            raise
        for bound, most in (*WHOLE, ("memory.memsw.limit_in_bytes", memory)):
            with contextlib.suppress(OSError):
                _write(f"{group}/{bound}", most)
    except OSError:
        return False
    return True


def _write(file: str, number: int) -> None:
    with open(file, "r+", encoding="ascii") as bound:  # it is there, or this is no group
        bound.write(str(number))
