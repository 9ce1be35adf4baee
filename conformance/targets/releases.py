"""What a TensorFlow release needs: its distribution, its pins, and the CPythons with a wheel."""

from __future__ import annotations

import platform
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from conformance.targets.specification import TargetError
from conformance.targets.versions import version_key

TABLE = Path(__file__).with_name("tensorflow.yaml")


@dataclass(frozen=True)
class Release:
    """A TensorFlow release: what to install for it, and the CPythons it can be installed for."""

    version: str
    pythons: tuple[str, ...]
    pins: tuple[str, ...] = ()

    @property
    def requirements(self) -> tuple[str, ...]:
        """What an installer is asked for; a release candidate is named exactly, so it is taken."""
        return (f"{distribution()}=={self.version}", *self.pins)

    def __str__(self) -> str:
        return f"tensorflow {self.version}"


def release(version: str) -> Release:
    """What a version, written as X.Y.Z or X.Y.ZrcN, needs.

    A version that is newer than the table is taken to need what the newest one does. Raises
    TargetError for one that is older than the oldest.
    """
    asked = version_key(version).release
    rules = [rule for rule in _table() if version_key(rule["from"]).release <= asked]
    if not rules:
        oldest = _table()[0]["from"]
        raise TargetError(f"tensorflow {version} is too old: {oldest}.0 is the first to be asked")
    return Release(version, tuple(rules[-1]["python"]), tuple(rules[-1].get("pins", ())))


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
def _table() -> list[dict[str, Any]]:
    rules: list[dict[str, Any]] = yaml.safe_load(TABLE.read_text(encoding="utf-8"))
    return rules
