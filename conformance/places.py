"""Where the suite's own files are, and where it keeps what it can make again."""

from __future__ import annotations

import os
from pathlib import Path


def data_folder(name: str) -> Path:
    """The folder of `cases`, `deviations` or `docs`: inside an installed wheel, or at the root."""
    package = Path(__file__).parent
    installed = package / "data" / name
    return installed if installed.is_dir() else package.parent / name


def cache_folder() -> Path:
    """GRADCONF_CACHE, or gradconf in the user's cache folder."""
    own = os.environ.get("GRADCONF_CACHE")
    if own:
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gradconf"
