"""What runs inside a target's process; the host knows where it stands, and what limits it."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

INSIDE = Path(__file__).parent / "inside"
"""The worker's folder, which an interpreter is started with."""


@dataclass(frozen=True)
class Limits:
    """What a worker may have: nothing is held where it is not `confined`."""

    confined: bool = True
    memory: int = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    """Bytes, for all workers of a run together."""

    def shared(self, workers: int) -> Limits:
        """The part of one of so many workers."""
        return replace(self, memory=self.memory // max(1, workers))


LIMITS = Limits()
