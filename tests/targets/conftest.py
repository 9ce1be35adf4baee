"""Machines for these tests: folders of invented interpreters, a cache, and packages of no size."""

from __future__ import annotations

import json
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.targets import interpreters

VERSION = "2.20.0"
"""A release that every Python of this project fits, and that needs no pins."""


@pytest.fixture
def fake_python() -> Callable[..., Path]:
    """Writes a program that answers as an interpreter of a version does."""

    def write(path: Path, version: str, kind: str = "cpython") -> Path:
        numbers = [int(part) for part in version.split(".")]
        answer = json.dumps([kind, numbers, str(path)])
        return script(path, f"echo '{answer}'")

    return write


def script(path: Path, body: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without interpreters: its `bin` is PATH, its `pyenv` is pyenv's folder."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    monkeypatch.setenv("UV_PYTHON_INSTALL_DIR", str(tmp_path / "uv"))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "none"))
    return tmp_path


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of environments, in a cache of the test's own."""
    monkeypatch.setenv("GRADCONF_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "environments"


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only packages that uv sees: a TensorFlow without contents; no network is used."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for name in ("tensorflow-cpu", "tensorflow"):
        write_wheel(folder, name, VERSION, requires="numpy")
    write_wheel(folder, "numpy", "2.4.6")
    running = interpreters.ask(sys.executable)
    monkeypatch.setattr(interpreters, "installed", lambda: [running])
    monkeypatch.setenv("UV_FIND_LINKS", str(folder))
    monkeypatch.setenv("UV_NO_INDEX", "1")
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv_cache"))
    return folder


def write_wheel(folder: Path, name: str, version: str, requires: str = "") -> None:
    stem = f"{name.replace('-', '_')}-{version}"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    files = {
        "METADATA": metadata + (f"Requires-Dist: {requires}\n" if requires else ""),
        "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files["RECORD"] = "".join(f"{stem}.dist-info/{file},,\n" for file in (*files, "RECORD"))
    with zipfile.ZipFile(folder / f"{stem}-py3-none-any.whl", "w") as wheel:
        for file, text in files.items():
            wheel.writestr(f"{stem}.dist-info/{file}", text)
