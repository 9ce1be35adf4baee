"""What tests share: the program as a user runs it, in this process or in one of its own."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from conformance.cli import main
from conformance.process import ESCAPED
from tests.cases import read_shipped_files_once
from tests.hostile.auditing import Auditor

# The same examples on every machine, so that a red run is about the change that it tests;
# `pytest --hypothesis-profile=search` looks for new ones.
settings.register_profile("fixed", derandomize=True, database=None, deadline=None)
settings.register_profile("search", print_blob=True, deadline=None)
settings.load_profile("fixed")

# Where tests run in the background of a shell, Ctrl-C is ignored, and by what they start as well.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

pytest_plugins = ["pytester"]

Done = subprocess.CompletedProcess[str]
Program = Callable[..., Done]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests that are marked `tensorflow` where it is not installed."""
    if importlib.util.find_spec("tensorflow") is None:
        for item in items:
            if item.get_closest_marker("tensorflow"):
                item.add_marker(pytest.mark.skip(reason="needs TensorFlow"))


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tests neither fill the cache of whoever runs them, nor read all that is in it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADCONF_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def auditor() -> Iterator[Auditor]:
    """The one process in which all tests run programs beneath an audit hook."""
    auditor = Auditor()
    yield auditor
    auditor.close()


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
def gradconf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    """Runs a command in this process: in a folder of its own, without a terminal.

    The corpus is not read again, and a target has one worker where the words do not say -j: to
    start a second one costs as much as most of these runs.
    """
    read_shipped_files_once(monkeypatch)
    monkeypatch.setattr("conformance.commands.run.JOBS", 1)

    def run(*words: str, folder: Path = tmp_path, **environment: str) -> Done:
        encoding = environment.get("PYTHONIOENCODING", "utf-8")
        output, errors = (
            io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors=ESCAPED) for _ in range(2)
        )
        with (
            _placed(folder, environment),
            contextlib.redirect_stdout(output),
            contextlib.redirect_stderr(errors),
        ):
            code = main(words)
        return Done(words, code, _written(output), _written(errors))

    return run


@contextlib.contextmanager
def _placed(folder: Path, environment: dict[str, str]) -> Iterator[None]:
    """The working folder and the environment, until the command has run."""
    before = Path.cwd()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def _written(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()
