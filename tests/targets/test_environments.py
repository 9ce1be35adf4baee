"""Environments are made once, by one run at a time, whole or not at all, and found without uv."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conformance.targets import environments, interpreters
from conformance.targets.environments import MARKER, cached, provisioned, pruned
from conformance.targets.releases import distribution
from conformance.targets.specification import TargetError, parse_target

from .conftest import VERSION, script, write_wheel

TARGET = parse_target(f"tensorflow=={VERSION}")


@pytest.fixture
def said() -> list[str]:
    return []


def refuse(*_: object, **__: object) -> None:
    raise AssertionError("nothing may be started here")


def test_a_target_gets_an_interpreter_of_its_own(
    cache: Path, wheels: Path, said: list[str]
) -> None:
    target = provisioned(TARGET, said.append)
    assert target.python is not None
    assert Path(target.python).is_relative_to(cache)
    assert (target.label, target.modes) == (TARGET.label, TARGET.modes)
    assert interpreters.packages_of(target.python)[distribution()] == VERSION
    (line,) = said
    assert f"tensorflow {VERSION}: installing it for CPython 3." in line


def test_the_cache_lists_what_it_holds(cache: Path, wheels: Path) -> None:
    assert cached() == []
    target = provisioned(TARGET, print)
    (made,) = cached()
    assert made.python == target.python
    assert made.version == VERSION
    assert made.interpreter.version == sys.version_info[:3]
    assert made.requirements == (f"{distribution()}=={VERSION}",)
    held = {distribution(): VERSION, "numpy": "2.4.6"}
    assert interpreters.packages_of(made.python) == held


def test_pruning_keeps_the_newest_release_of_each_framework(
    cache: Path, wheels: Path, said: list[str]
) -> None:
    for name, version in (("mygrad", "2.4.0"), ("mygrad", "2.5.0"), ("tensorflow", VERSION)):
        write_wheel(wheels, name, version)
        provisioned(parse_target(f"{name}=={version}"), said.append)
    assert "once: 60 MB" in said[0]  # what it takes is told first
    assert [(old.framework, old.version) for old in pruned()] == [("mygrad", "2.4.0")]
    held = [("mygrad", "2.5.0"), ("tensorflow", VERSION)]
    assert [(one.framework, one.version) for one in cached()] == held
    assert len(list(cache.iterdir())) == 2


def test_what_is_cached_is_listed_from_old_to_new(
    cache: Path, wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for version in ("2.100.0", "2.22.0", "2.22.0rc0"):
        write_wheel(wheels, distribution(), version)
        provisioned(parse_target(f"tensorflow=={version}"), print)
    assert [one.version for one in cached()] == ["2.22.0rc0", "2.22.0", "2.100.0"]


def test_an_environment_is_found_again_without_starting_anything(
    cache: Path, wheels: Path, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = provisioned(TARGET, print)
    monkeypatch.setattr(subprocess, "Popen", refuse)
    monkeypatch.setattr(interpreters, "uv_program", refuse)
    monkeypatch.setattr(interpreters, "installed", refuse)
    assert provisioned(TARGET, said.append) == first
    assert said == []


@pytest.mark.parametrize("text", ["tensorflow", "reference", "my_tape"])
def test_a_target_without_a_version_is_left_alone(
    text: str, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subprocess, "Popen", refuse)
    target = parse_target(text)
    assert provisioned(target, refuse) is target


@pytest.mark.parametrize(
    "marker",
    [
        *(None, "", "null", "[]", "{}", '{"format": 99}', '{"format": 1, "version": "2.20.0"}'),
        *('{"format": ' * 100_000, '{"format": 1, "version": 2.2, "interpreter": ["", [3, 9, 1]]}'),
    ],
)
def test_a_folder_without_a_good_marker_is_made_anew(
    marker: str | None, cache: Path, wheels: Path, said: list[str]
) -> None:
    target = provisioned(TARGET, print)
    (folder,) = cache.iterdir()
    (folder / "half").touch()
    (folder / MARKER).unlink()
    if marker is not None:
        (folder / MARKER).write_text(marker)
    assert cached() == []
    assert provisioned(TARGET, said.append) == target
    assert "installing" in said[0]
    assert not (folder / "half").exists()
    assert len(cached()) == 1


def test_an_environment_that_lost_its_interpreter_is_made_anew(
    cache: Path, wheels: Path, said: list[str]
) -> None:
    target = provisioned(TARGET, print)
    assert target.python is not None
    Path(target.python).unlink()
    Path(target.python).symlink_to(cache / "uninstalled")
    assert cached() == []
    assert provisioned(TARGET, said.append) == target
    assert len(said) == 1


def test_an_environment_for_other_pins_is_not_taken(
    cache: Path, wheels: Path, said: list[str]
) -> None:
    first = provisioned(TARGET, print)
    (marker,) = cache.glob(f"*/{MARKER}")
    content = json.loads(marker.read_text())
    content["requirements"].append("numpy<2")
    marker.write_text(json.dumps(content))
    marker.parent.rename(cache / "of-another-day")
    second = provisioned(TARGET, said.append)
    assert second == first
    assert len(said) == 1
    assert len(cached()) == 2


def test_a_failed_install_leaves_nothing_and_says_what_uv_said(
    cache: Path, wheels: Path, said: list[str]
) -> None:
    with pytest.raises(TargetError) as caught:
        provisioned(parse_target("tensorflow==2.20.9"), said.append)
    first, *rest = str(caught.value).splitlines()
    assert "tensorflow 2.20.9 cannot be installed for CPython 3." in first
    assert f"(uv pip install {distribution()}==2.20.9):" in first
    assert f"{distribution()}==2.20.9" in " ".join(rest)
    assert len(rest) <= interpreters.LAST_LINES
    assert list(cache.iterdir()) == []


@pytest.mark.parametrize("step", ["venv", "pip"])
def test_an_interrupted_install_leaves_nothing(
    step: str, cache: Path, wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = environments.call_uv

    def interrupted(words: list[str], *more: Any) -> None:
        call(words, *more)
        if words[0] == step:
            raise KeyboardInterrupt

    monkeypatch.setattr(environments, "call_uv", interrupted)
    with pytest.raises(KeyboardInterrupt):
        provisioned(TARGET, print)
    assert list(cache.iterdir()) == []


SLOW_RUN = f"""
import sys, time
from conformance.targets import environments, interpreters
from conformance.targets.specification import parse_target

call = environments.call_uv

def slow(words, *more):
    time.sleep(1)
    call(words, *more)

def say(line):
    print(line, flush=True)

environments.call_uv = slow
interpreters.installed = lambda: [interpreters.ask(sys.executable)]
say(environments.provisioned(parse_target("tensorflow=={VERSION}"), say).python)
"""


def slow_run() -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", SLOW_RUN], stdout=subprocess.PIPE, text=True)


def test_one_of_two_runs_makes_an_environment_and_the_other_waits(
    cache: Path, wheels: Path
) -> None:
    with slow_run() as one, slow_run() as other:
        outputs = sorted([one.communicate(timeout=60)[0], other.communicate(timeout=60)[0]])
    made, waited = (output.splitlines() for output in outputs)
    assert f"tensorflow {VERSION}: installing it" in made[0]
    assert waited[0] == f"tensorflow {VERSION}: waiting for a run that installs it"
    assert made[1:] == waited[1:] == [cached()[0].python]
    assert len(list(cache.iterdir())) == 1


def test_a_run_that_was_killed_holds_nobody_up(cache: Path, wheels: Path, said: list[str]) -> None:
    with slow_run() as killed:
        assert killed.stdout is not None
        assert "installing" in killed.stdout.readline()
        killed.kill()
    provisioned(TARGET, said.append)
    assert ["installing" in line for line in said] == [True]
    assert len(list(cache.iterdir())) == 1


def test_without_uv_it_says_what_to_install(
    cache: Path, wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "uv", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(TargetError, match="is not installed: pip install uv"):
        provisioned(TARGET, print)
    assert list(cache.iterdir()) == []


def test_uv_on_path_serves_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uv", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    own = script(tmp_path / "uv", "exit 0")
    assert interpreters.uv_program() == str(own)


@pytest.mark.parametrize("body", ["echo no room >&2; exit 2", "seq 100; echo no room; exit 1"])
def test_the_end_of_what_uv_says_is_kept(
    body: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = script(tmp_path / "uv", body)
    monkeypatch.setattr(interpreters, "uv_program", lambda: str(own))
    with pytest.raises(interpreters.InstallerError) as caught:
        interpreters.call_uv(["venv"], tmp_path)
    assert str(caught.value).splitlines()[-1] == "no room"
    assert len(str(caught.value).splitlines()) <= interpreters.LAST_LINES


def test_what_is_fetched_is_told_as_it_is(
    tmp_path: Path, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    body = "echo Resolved 2 packages; echo 'Downloading one (1.5GiB)' >&2; echo ' Downloaded one'"
    own = script(tmp_path / "uv", body)
    monkeypatch.setattr(interpreters, "uv_program", lambda: str(own))
    interpreters.call_uv(["pip"], tmp_path, said.append)
    assert said == ["Downloading one (1.5GiB)", "Downloaded one"]


def test_an_installer_that_cannot_be_started_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interpreters, "uv_program", lambda: str(tmp_path))
    with pytest.raises(interpreters.InstallerError, match="cannot be started: Permission denied"):
        interpreters.call_uv(["venv"], tmp_path)


def test_settings_that_mislead_uv_are_left_out(
    cache: Path, wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "x"\nrequires-python = ">=4"\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "active"))
    monkeypatch.setenv("UV_SYSTEM_PYTHON", "1")
    monkeypatch.setenv("UV_PYTHON", "3.1")
    assert provisioned(TARGET, print).python == cached()[0].python


def test_a_cache_that_cannot_be_written_is_named(
    tmp_path: Path, wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("GRADCONF_CACHE", str(tmp_path / "file"))
    with pytest.raises(TargetError, match=r"Not a directory: set GRADCONF_CACHE to a folder"):
        provisioned(TARGET, print)
    assert cached() == []


def test_the_cache_may_be_named_from_where_one_stands(
    tmp_path: Path, wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GRADCONF_CACHE", "here")
    target = provisioned(TARGET, print)
    assert target.python is not None
    assert Path(target.python).is_relative_to(tmp_path / "here" / "environments")


def test_an_interpreter_that_is_named_is_kept(cache: Path) -> None:
    target = parse_target("tensorflow", sys.executable)
    assert provisioned(target, refuse).python == sys.executable


def test_an_interpreter_may_be_named_as_on_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = script(tmp_path / "python3.77", "exit 0")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert provisioned(parse_target("tensorflow", "python3.77"), refuse).python == str(own)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("none", "none does not exist: write the path of an interpreter"),
        ("text", "text cannot be executed: write the path of an interpreter"),
        ("folder", "folder is a folder: write its interpreter, as "),
    ],
)
def test_an_interpreter_that_is_none_is_refused_early(name: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "text").touch()
    (tmp_path / "folder").mkdir()
    with pytest.raises(TargetError, match=rf"--python .*{said}"):
        provisioned(parse_target("tensorflow", str(tmp_path / name)), refuse)


@pytest.mark.parametrize(
    ("packages", "said"),
    [
        ('{"tensorflow": "2.15.1"}', r"python holds tensorflow 2\.15\.1: leave out --python"),
        ('{"numpy": "2.4.6"}', "python holds no tensorflow: leave out --python"),
        ("hello", "python does not answer as a Python interpreter does"),
    ],
)
def test_an_interpreter_that_holds_another_version_is_refused(
    packages: str, said: str, tmp_path: Path
) -> None:
    python = script(tmp_path / "python", f"echo '{packages}'")
    with pytest.raises(TargetError, match=said):
        provisioned(parse_target("tensorflow==2.8.4", str(python)), refuse)


@pytest.mark.parametrize(
    "packages",
    ['{"tensorflow": "2.8.4"}', '{"tensorflow-cpu": "2.8.4"}', '{"tensorflow": "2.8.4+own"}'],
)
def test_an_interpreter_that_holds_the_version_is_kept(packages: str, tmp_path: Path) -> None:
    python = script(tmp_path / "python", f"echo '{packages}'")
    assert provisioned(parse_target("tensorflow==2.8.4", str(python)), refuse).python == str(python)
