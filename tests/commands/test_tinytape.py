"""The example is gated as its author would: by the page, by the baseline, and by the action."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.conftest import Program

ROOT = Path(__file__).parent.parent.parent
EXAMPLE = ROOT / "examples" / "tinytape"
PAGE = (ROOT / "docs" / "target.md").read_text(encoding="utf-8")
AREAS = ("persistence", "ties", "unconnected", "watching")
"""What is asked where a part of the corpus is enough; the page's own commands ask all of it."""
GATE = ("run", "./tinytape.py", *AREAS, "--baseline", "known.yaml", "-q")


def commands() -> Iterator[tuple[str, int]]:
    """The commands of the page, each with the exit code that it names."""
    for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL):
        for line in block.splitlines():
            command, _, code = line.removeprefix("$ ").partition("# exit ")
            yield command.strip(), int(code)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the example, beside the corpus."""
    for file in ("tinytape.py", "known.yaml"):
        shutil.copy(EXAMPLE / file, tmp_path)
    (tmp_path / "cases").symlink_to(ROOT / "cases")
    return tmp_path


def programs(folder: Path) -> str:
    """A PATH that leads with the `gradconf` and `pytest` of this interpreter."""
    place = folder / "bin"
    place.mkdir()
    for name, module in (("gradconf", "-m conformance.cli"), ("pytest", "-m pytest")):
        program = place / name
        program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {module} "$@"\n')
        program.chmod(0o755)
    return f"{place}{os.pathsep}{os.environ['PATH']}"


@pytest.mark.slow
def test_every_command_of_the_page_does_what_the_page_says(folder: Path) -> None:
    environment = {**os.environ, "PATH": programs(folder), "NO_COLOR": "1"}
    environment = {key: value for key, value in environment.items() if "PYTEST" not in key}
    asked = list(commands())
    assert len(asked) >= 8
    for command, code in asked:
        done = subprocess.run(
            shlex.split(command),
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=500,
        )
        assert done.returncode == code, f"{command}\n{done.stdout[-3000:]}{done.stderr[-2000:]}"


def test_the_failure_that_the_page_shows_is_the_one_that_is_told(
    folder: Path, gradconf: Program
) -> None:
    shown = PAGE.split("```text\n")[1].split("```")[0]
    done = gradconf("run", "./tinytape.py", shown.split()[1], "-q")
    for line in shown.splitlines():
        assert line.strip() in done.stdout


def test_the_entry_that_the_page_shows_is_in_the_baseline() -> None:
    shown = PAGE.split("```yaml\n")[1].split("```")[0]
    assert shown in (EXAMPLE / "known.yaml").read_text(encoding="utf-8")


BREAKING = {
    "a wrong rule": ("(ct * y, ct * x)", "(ct * y, ct * y)"),
    "a tape that answers twice": ("if self.used and not self.persistent:", "if None:"),
    "another choice at a tie": ("x.dtype.type(0.5)", "x.dtype.type(0.25)"),
    "more that it lacks": ('GRADCONF_LACKS = """', 'GRADCONF_LACKS = """\n    reduce_sum'),
}


def test_the_gate_holds(folder: Path, gradconf: Program) -> None:
    done = gradconf(*GATE)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "conforms"), done.stdout
    assert "known by the baseline known.yaml" in done.stdout


@pytest.mark.parametrize("name", BREAKING)
def test_breaking_the_tape_fails_the_gate(folder: Path, gradconf: Program, name: str) -> None:
    old, new = BREAKING[name]
    tape = folder / "tinytape.py"
    text = tape.read_text(encoding="utf-8")
    assert old in text
    tape.write_text(text.replace(old, new), encoding="utf-8")
    done = gradconf(*GATE)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (1, "falls_short")
    assert re.search(r"known by the baseline known.yaml, \d+ worse", done.stdout)


def test_the_example_is_as_small_and_as_foreign_as_it_says() -> None:
    text = (EXAMPLE / "tinytape.py").read_text(encoding="utf-8")
    imported = set(re.findall(r"^(?:import|from) (\w+)", text, re.MULTILINE))
    assert imported == {"types", "numpy"}
    assert len([line for line in text.splitlines() if line.strip()]) <= 160


# ----- the action -----


def action_steps() -> list[dict[str, object]]:
    return list(yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["runs"]["steps"])


def test_the_workflow_gives_the_action_what_it_takes() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    gate = yaml.safe_load((EXAMPLE / "gate.yml").read_text(encoding="utf-8"))
    (step,) = [step for step in gate["jobs"]["gradconf"]["steps"] if "gradconf" in step["uses"]]
    required = {name for name, given in action["inputs"].items() if given.get("required")}
    assert required <= set(step["with"]) <= set(action["inputs"])
    for given in step["with"].values():
        assert (EXAMPLE / given).is_file()


def test_no_input_is_written_into_a_script() -> None:
    for step in action_steps():
        assert "${{" not in str(step["run"])
        assert step["shell"] == "bash"


def act(folder: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """The action's second step, as GitHub's runner calls bash."""
    (_, step) = action_steps()
    script = folder / "step.sh"
    script.write_text(str(step["run"]), encoding="utf-8")
    given = {"BASELINE": "", "ARGUMENTS": "", "RECORD": "record.jsonl", **inputs}
    environment = {"PATH": programs(folder), "GITHUB_STEP_SUMMARY": str(folder / "summary.md")}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
        cwd=folder,
        env={**os.environ, **environment, **given},
        capture_output=True,
        text=True,
        timeout=500,
    )


def test_the_action_gates_reports_and_annotates(folder: Path) -> None:
    tape = folder / "tinytape.py"
    tape.write_text(
        tape.read_text().replace("(ct * y, ct * x)", "(ct * y, ct * y)"), encoding="utf-8"
    )
    done = act(
        folder,
        TARGET="./tinytape.py",
        BASELINE="known.yaml",
        ARGUMENTS="-q --area special_points --area persistence",
    )
    assert done.returncode == 1, done.stdout + done.stderr
    errors = [line for line in done.stdout.splitlines() if line.startswith("::error file=cases/")]
    assert errors
    assert all(
        re.match(r"::error file=cases/\w+/\w+\.yaml,line=\d+,title=", line) for line in errors
    )
    assert "gradconf: falls_short" in (folder / "summary.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "target", ["./none.py", "$(touch owned)", "./tinytape.py; touch owned", "`touch owned`"]
)
def test_the_action_runs_nothing_that_an_input_says(folder: Path, target: str) -> None:
    done = act(folder, TARGET=target)
    assert done.returncode in (2, 3)
    assert "no record was written" in done.stdout
    assert not (folder / "owned").exists()
