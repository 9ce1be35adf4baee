"""The order of versions, and what a TensorFlow release needs: a distribution, pins, a CPython."""

from __future__ import annotations

import platform
import sys
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import yaml
from packaging.version import Version

from conformance.targets.specification import TargetError

TABLE = Path(__file__).with_name("tensorflow.yaml")
OTHERS = Path(__file__).with_name("frameworks.yaml")
"""The same rules for each of the other frameworks."""


@lru_cache  # a run asks for a few versions, for each of its cells
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


@dataclass(frozen=True)
class Release:
    """A framework's release: what to install for it, and the CPythons it can be installed for."""

    version: str
    pythons: tuple[str, ...]
    pins: tuple[str, ...] = ()
    framework: str = "tensorflow"
    size: str = "1.6 GB"

    @property
    def requirements(self) -> tuple[str, ...]:
        """What an installer is asked for; a release candidate is named exactly, so it is taken."""
        name = distribution() if self.framework == "tensorflow" else self.framework
        return (f"{name}=={self.version}", *self.pins)

    def __str__(self) -> str:
        return f"{self.framework} {self.version}"


def release(version: str, framework: str = "tensorflow") -> Release:
    """What a version, written as X.Y.Z or X.Y.ZrcN, needs.

    A version that is newer than the table is taken to need what the newest one does. Raises
    TargetError for one that is older than the oldest.
    """
    asked = version_key(version).release
    rules = [rule for rule in _table(framework) if version_key(rule["from"]).release <= asked]
    if not rules:
        oldest = _table(framework)[0]["from"]
        raise TargetError(f"{framework} {version} is too old: {oldest}.0 is the first to be asked")
    rule = rules[-1]
    pins, size = tuple(rule.get("pins", ())), rule.get("size", Release.size)
    return Release(version, tuple(rule["python"]), pins, framework, size)


def releases_between(old: str, new: str) -> list[str]:
    """The releases from one version to another, both included, the oldest first.

    Those between are the ones that the table lists.
    """
    listed = {version for rule in _table() for version in rule["releases"]}
    inside = {one for one in listed if version_key(old) < version_key(one) < version_key(new)}
    return sorted({old, new} | inside, key=version_key)


def distribution() -> str:
    """The distribution to install: the small one without CUDA where it is published."""
    small = sys.platform == "linux" and platform.machine() == "x86_64"
    return "tensorflow-cpu" if small else "tensorflow"


@cache
def _table(framework: str = "tensorflow") -> list[dict[str, Any]]:
    file = TABLE if framework == "tensorflow" else OTHERS
    rules = yaml.safe_load(file.read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = rules if file is TABLE else rules[framework]
    return found
