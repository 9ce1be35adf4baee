"""What runs inside a target's process; the host only knows where it stands."""

from __future__ import annotations

from pathlib import Path

INSIDE = Path(__file__).parent / "inside"
"""The worker's folder, which an interpreter is started with."""
