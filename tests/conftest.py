"""What tests share: the program as a user runs it."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from conformance.corpus.language.case import Case
from conformance.corpus.language.loader import load_text

# The same examples on every machine, so that a red run is about the change that it tests;
# `pytest --hypothesis-profile=search` looks for new ones.
settings.register_profile("fixed", derandomize=True, database=None, deadline=None)
settings.register_profile("search", print_blob=True, deadline=None)
settings.load_profile("fixed")

# Where tests run in the background of a shell, Ctrl-C is ignored, and by what they start as well.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

Program = Callable[..., subprocess.CompletedProcess[str]]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests that are marked `tensorflow` where it is not installed."""
    if importlib.util.find_spec("tensorflow") is None:
        for item in items:
            if item.get_closest_marker("tensorflow"):
                item.add_marker(pytest.mark.skip(reason="needs TensorFlow"))


@pytest.fixture
def run_python() -> Callable[[str], str]:
    """Runs a text in a fresh interpreter; what it printed."""

    def run(text: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", text], capture_output=True, text=True, check=True
        )
        return done.stdout

    return run


@pytest.fixture
def gradconf(tmp_path: Path) -> Program:
    """Runs the gradconf program in a folder of its own, without a terminal."""

    def run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "conformance.cli", *words],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, **environment},
            timeout=500,
        )

    return run


def one_case(entry: str, name: str = "example") -> Case:
    """The case that an entry's YAML declares, indented as it stands in a file."""
    body = "\n".join(f"    {line}" for line in entry.strip("\n").splitlines())
    text = f"introduction: For a test.\ncases:\n  {name}:\n{body}\n"
    (case,) = load_text(text)
    return case
