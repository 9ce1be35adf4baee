"""README and CI say the same, and the commands that README shows exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from conformance.cli import COMMANDS, parser_of

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def commands_of(text: str) -> list[str]:
    """The lines of the shell blocks of a Markdown text, prompts and comments removed."""
    blocks = re.findall(r"```(?:console|sh|bash)\n(.*?)```", text, re.DOTALL)
    lines = [line.strip() for block in blocks for line in block.splitlines()]
    return [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]


def test_ci_runs_the_two_commands_of_the_readme() -> None:
    run = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    first, second = commands_of(README)[:2]
    assert "gradconf run" in first
    assert "pytest" in second
    assert first in run
    assert second in run


def lines_with_gradconf(file: str) -> list[str]:
    """The calls of gradconf in a file of commands, as a shell or tox would make them."""
    text = (ROOT / file).read_text(encoding="utf-8").replace("\\\n", " ")
    found = re.findall(r"(?:^|: )\s*(gradconf \S+ .+)$", text, re.MULTILINE)
    plain = [re.sub(r"\{posargs:?|[{}]", " ", line.replace("{env_tmp_dir}", ".")) for line in found]
    numbers = [line.replace('"$seed"', "202647") for line in plain]
    return [re.split(r" (?:\|\||>)", line)[0] for line in numbers]


CALLS = {
    "README.md": [c for c in commands_of(README) if c.startswith("gradconf ")],
    "tox.ini": lines_with_gradconf("tox.ini"),
    ".github/workflows/versions.yml": lines_with_gradconf(".github/workflows/versions.yml"),
}


@pytest.mark.parametrize("file", CALLS)
def test_every_call_of_gradconf_can_be_parsed(file: str) -> None:
    assert len(CALLS[file]) >= 3
    for line in CALLS[file]:
        name, *words = shlex.split(line, comments=True)[1:]
        assert name in COMMANDS, line
        parser_of(name)[0].parse_intermixed_args(words)


def test_the_readme_shows_every_command() -> None:
    shown = {line.split()[1] for line in commands_of(README) if line.startswith("gradconf ")}
    assert shown == set(COMMANDS)


def test_tox_carries_both_commands() -> None:
    tox = (ROOT / "tox.ini").read_text(encoding="utf-8")
    assert "commands = gradconf run" in tox
    assert "commands = python -m pytest -n 2" in tox
