"""A real cluster for tests: a scheduler and nodes as processes, and programs that ask them."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

CEILING = 120.0
HAS_DASK = importlib.util.find_spec("distributed") is not None
REAL = [
    pytest.mark.slow,
    pytest.mark.skipif(not HAS_DASK, reason="needs the extra [cluster]"),
]
"""The marks of tests that need a real cluster."""

SLOW_TAPE = """
import time

import reference_impl as tf

class GradientTape(tf.GradientTape):
    def gradient(self, *arguments, **options):
        time.sleep(0.05)
        return super().gradient(*arguments, **options)

def __getattr__(name):
    return getattr(tf, name)
"""
"""The oracle, slow enough that something can happen meanwhile."""


class Dask:
    """A scheduler and its nodes, each a process."""

    def __init__(self, folder: Path, held: contextlib.ExitStack, nodes: int = 3) -> None:
        folder.mkdir()
        self._folder, self._held = folder, held
        self._nodes = -1
        file = folder / "scheduler.json"
        self.scheduler = self._started(
            "scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file)
        )
        wait_for(file.exists)
        time.sleep(0.5)  # it may still be writing that
        self.address = json.loads(file.read_text())["address"]
        self.nodes = [self.node() for _ in range(nodes)]

    def without_cache(self, number: int) -> None:
        """Let a node that is still to be started keep nothing."""
        (self._folder / f"cache {number}").touch()

    def files_of(self, number: int, name: str = "tape.py") -> list[str]:
        """What a node keeps of targets' files of a name."""
        folder = self._folder / f"cache {number}" / "files"
        return sorted(file.parent.name for file in folder.glob(f"*/{name}"))

    def node(self) -> subprocess.Popen[bytes]:
        return self._started(
            "worker", self.address, "--nthreads", "1", "--no-nanny", "--host", "127.0.0.1"
        )

    def _started(self, *words: str) -> subprocess.Popen[bytes]:
        self._nodes += words[0] == "worker"
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", *words, "--no-dashboard"],
            cwd=self._folder,
            env={**os.environ, "GRADCONF_CACHE": str(self._folder / f"cache {self._nodes}")},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._held.callback(process.wait)
        self._held.callback(process.kill)
        return process


def wait_for(what: Callable[[], bool], seconds: float = CEILING) -> None:
    until = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.05)


def started(folder: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "conformance.cli", *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    with process:
        output, errors = process.communicate(timeout=CEILING)
    return process.returncode, output + errors
