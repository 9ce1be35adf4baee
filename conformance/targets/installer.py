"""Find and call uv, the program that makes environments."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from conformance.targets.specification import TargetError

IGNORED = (
    *("VIRTUAL_ENV", "UV_PYTHON", "UV_PYTHON_PREFERENCE", "UV_SYSTEM_PYTHON"),
    *("UV_MANAGED_PYTHON", "UV_NO_MANAGED_PYTHON", "UV_PROJECT", "UV_TARGET", "UV_PREFIX"),
)
"""Settings of uv that would make it use another interpreter than the one it is given.

Where packages come from (index, proxy, certificates, offline) stays the user's choice.
"""
LAST_LINES = 8


class InstallerError(Exception):
    """uv ran and refused; the message is the end of what it said."""


def uv_program() -> str:
    """The path of uv; raises TargetError where it is not installed."""
    try:
        from uv import find_uv_bin

        return find_uv_bin()
    except (ImportError, FileNotFoundError):
        found = shutil.which("uv")
    if found is None:
        raise TargetError("uv, which makes environments, is not installed: pip install uv")
    return found


def neutral_environment() -> dict[str, str]:
    """The environment variables for uv and interpreters: none of IGNORED, and no downloads."""
    kept = {name: value for name, value in os.environ.items() if name not in IGNORED}
    return {**kept, "UV_PYTHON_DOWNLOADS": "never", "UV_NO_PROGRESS": "1", "NO_COLOR": "1"}


def call_uv(words: Sequence[str], folder: Path) -> None:
    """Run uv in a folder that is not the user's project; raises InstallerError where it fails."""
    command = [uv_program(), "--quiet", *words]
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=neutral_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
    except OSError as error:
        raise InstallerError(f"{command[0]} cannot be started: {error.strerror}") from error
    if done.returncode:
        lines = [line.rstrip() for line in done.stdout.splitlines() if line.strip()]
        raise InstallerError("\n".join(lines[-LAST_LINES:]) or f"exit code {done.returncode}")
