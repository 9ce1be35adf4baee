"""README and CI say the same, and the commands that README shows exist."""

from __future__ import annotations

import importlib
import re
import shlex
from pathlib import Path

import pytest

from conformance.cli import COMMANDS, Parser

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


@pytest.mark.parametrize("line", [c for c in commands_of(README) if c.startswith("gradconf ")])
def test_a_command_of_the_readme_can_be_parsed(line: str) -> None:
    name, *words = shlex.split(line, comments=True)[1:]
    assert name in COMMANDS
    command = importlib.import_module(f"conformance.commands.{name}")
    parser = Parser(prog=name)
    command.add_arguments(parser)
    parser.parse_args(words)


def test_the_readme_shows_every_command() -> None:
    shown = {line.split()[1] for line in commands_of(README) if line.startswith("gradconf ")}
    assert shown == set(COMMANDS)


def test_tox_carries_both_commands() -> None:
    tox = (ROOT / "tox.ini").read_text(encoding="utf-8")
    assert "commands = gradconf run" in tox
    assert "commands = python -m pytest -n 2" in tox
