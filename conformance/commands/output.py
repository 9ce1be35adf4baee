"""Where a command writes: the file that --output names."""

from __future__ import annotations

from pathlib import Path

from conformance.closing import UsageError


def output_path(word: str) -> Path:
    """The file that --output names, its folder made where there is none. Errors: UsageError."""
    path = Path(word)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--output {path}: no folder {path.parent}: {error.strerror}") from error
    return path
