"""Interpreters are found where people keep them, and believed only when they answer."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.targets import interpreters
from conformance.targets.interpreters import Interpreter, ask, installed, interpreter_for
from conformance.targets.interpreters import packages_of as packages
from conformance.targets.releases import release
from conformance.targets.specification import TargetError

from .conftest import script

Write = Callable[..., Path]


def versions() -> list[str]:
    return [str(one).removeprefix("CPython ") for one in installed()]


def test_the_running_interpreter_answers() -> None:
    running = ask(sys.executable)
    assert running is not None
    assert running.version == sys.version_info[:3]
    assert Path(running.path).is_file()


def test_interpreters_on_path_are_found(machine: Path, fake_python: Write) -> None:
    fake_python(machine / "bin" / "python3.10", "3.10.13")
    fake_python(machine / "bin" / "python3", "3.12.1")
    assert sorted(versions()) == ["3.10.13", "3.12.1"]


def test_later_folders_of_path_are_searched_too(
    machine: Path, fake_python: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_python(machine / "bin" / "python3.9", "3.9.2")
    fake_python(machine / "more" / "python3.9", "3.9.18")
    monkeypatch.setenv("PATH", f"{machine / 'bin'}:{machine / 'no'}:{machine / 'more'}")
    assert versions() == ["3.9.2", "3.9.18"]


def test_interpreters_of_pyenv_are_found(machine: Path, fake_python: Write) -> None:
    for version in ("3.9.18", "3.13.0"):
        fake_python(machine / "pyenv" / "versions" / version / "bin" / "python3", version)
    (machine / "pyenv" / "versions" / "2.7.18" / "bin").mkdir(parents=True)
    assert sorted(versions()) == ["3.13.0", "3.9.18"]


def test_interpreters_of_uv_are_found(
    machine: Path, fake_python: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = fake_python(machine / "kept" / "python", "3.11.9")
    listed = json.dumps([{"path": str(kept)}, {"path": None}])
    uv = script(machine / "uv_program", f"echo '{listed}'")
    monkeypatch.setattr(interpreters, "uv_program", lambda: str(uv))
    assert versions() == ["3.11.9"]


@pytest.mark.parametrize("said", ["", "{}", '["a", null]', '[{"other": 1}]', "no json"])
def test_what_uv_should_not_say_is_passed_over(
    machine: Path, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    uv = script(machine / "uv_program", f"echo '{said}'")
    monkeypatch.setattr(interpreters, "uv_program", lambda: str(uv))
    assert installed() == []


def test_the_name_of_an_interpreter_is_not_trusted(machine: Path, fake_python: Write) -> None:
    fake_python(machine / "bin" / "python3.9", "3.13.0")
    assert versions() == ["3.13.0"]


def test_other_programs_of_python_are_not_started(machine: Path) -> None:
    for name in ("python3-config", "python3.11-config", "python", "python2.7", "python3.11t"):
        script(machine / "bin" / name, f": > {machine / 'started'}")
    assert installed() == []
    assert not (machine / "started").exists()


def test_one_interpreter_under_many_names_is_found_once(machine: Path, fake_python: Write) -> None:
    real = fake_python(machine / "opt" / "python3.10", "3.10.13")
    for name in ("python3", "python3.10"):
        (machine / "bin" / name).symlink_to(real)
    assert installed() == [Interpreter(str(real), (3, 10, 13))]


@pytest.mark.parametrize(
    "body",
    [
        "echo 'pyenv: python3.9: command not found' >&2; exit 127",
        'echo \'["cpython", [3, 9, 18], "/python"]\'; exit 1',
        "echo Python 3.9.18",
        "echo '[1, 2]'",
        'echo \'["cpython", [3, 9], "/python"]\'',
        "echo '[\"cpython\", [3, 9, 18], null]'",
        "kill -9 $$",
        "",
    ],
)
def test_a_shim_that_refuses_is_passed_over(tmp_path: Path, body: str) -> None:
    assert ask(str(script(tmp_path / "python3.9", body))) is None


@pytest.mark.parametrize("kind", ["pypy", "cpythont", "cpythond", "graalpy"])
def test_builds_that_no_wheel_fits_are_passed_over(
    tmp_path: Path, fake_python: Write, kind: str
) -> None:
    assert ask(str(fake_python(tmp_path / "python3", "3.13.0", kind))) is None


def test_what_is_no_program_is_passed_over(tmp_path: Path) -> None:
    text = tmp_path / "python3"
    text.write_text("no program")
    text.chmod(0o755)
    assert ask(str(text)) is None
    assert ask(str(tmp_path)) is None
    assert ask(str(tmp_path / "none")) is None


def test_a_shim_that_hangs_is_ended_with_all_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interpreters, "TIMEOUT", 0.3)
    shim = script(tmp_path / "python3.9", "/bin/sleep 61.375 & wait; echo late")
    assert ask(str(shim)) is None
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    assert "sleep 61.375" not in running.stdout


def test_the_newest_interpreter_that_fits_is_taken(machine: Path, fake_python: Write) -> None:
    for version in ("3.9.18", "3.10.4", "3.10.13", "3.11.7"):
        fake_python(machine / "pyenv" / "versions" / version / "bin" / "python3", version)
    assert interpreter_for(release("2.8.4")).version == (3, 10, 13)
    assert interpreter_for(release("2.6.5")).version == (3, 9, 18)
    assert interpreter_for(release("2.21.0")).version == (3, 11, 7)


def test_where_none_fits_it_says_what_is_needed_found_and_to_do(
    machine: Path, fake_python: Write
) -> None:
    fake_python(machine / "bin" / "python3", "3.12.1")
    fake_python(machine / "bin" / "python3.9", "3.11.7")
    with pytest.raises(TargetError) as caught:
        interpreter_for(release("2.8.4"))
    assert str(caught.value) == (
        "tensorflow 2.8.4 needs CPython 3.9 or 3.10; found 3.11.7, 3.12.1: install one "
        "(uv python install 3.10), or name an environment that holds it with --python PATH"
    )


@pytest.mark.parametrize(
    ("version", "needed"),
    [("2.5.3", "3.9;"), ("2.12.1", "3.9, 3.10 or 3.11;"), ("2.21.0", "3.10, 3.11, 3.12 or 3.13;")],
)
def test_where_there_is_none_at_all(machine: Path, version: str, needed: str) -> None:
    with pytest.raises(TargetError, match="found none: install one") as caught:
        interpreter_for(release(version))
    assert f"needs CPython {needed}" in str(caught.value)


def test_an_environment_says_what_it_holds() -> None:
    assert "numpy" in packages(sys.executable)


@pytest.mark.parametrize("body", ["echo hello", "exit 1"])
def test_an_environment_that_does_not_answer_is_named(tmp_path: Path, body: str) -> None:
    python = script(tmp_path / "python", body)
    with pytest.raises(TargetError, match="python does not answer"):
        packages(str(python))
