"""The order of versions: that of packaging, and what a range from one to another covers."""

from __future__ import annotations

from packaging.version import Version


def version_key(text: str) -> Version:
    """What versions are sorted by: 2.22.0.dev1 < 2.22.0rc0 < 2.22.0 == 2.22 == 2.22.0+cpu.

    Raises ValueError for a text that cannot be ordered.
    """
    try:
        return Version(Version(text).public)
    except ValueError:
        raise ValueError(f"{text!r} is no version") from None


def is_between(since: str, version: str, until: str) -> bool:
    """Whether since <= version <= until; a version that cannot be ordered never is.

    `until` covers all that it begins: 2.21 covers 2.21.1. Before `since` come its own pre-releases:
    2.21 does not cover 2.21.0rc0. Raises ValueError for a bound that cannot be ordered.
    """
    first, last = version_key(since), version_key(until)
    try:
        asked = version_key(version)
    except ValueError:
        return False
    if asked < first or last.is_prerelease:
        return first <= asked <= last
    digits = len(last.release)
    release = (*asked.release, *[0] * digits)[:digits]
    return (asked.epoch, release) <= (last.epoch, last.release)
