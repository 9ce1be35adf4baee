"""The commands that reports print are commands that gradconf obeys."""

import json
import shlex

import pytest

from conformance.asking.events import Cell
from conformance.cli import main
from conformance.report.formats import render
from conformance.report.summary import replay_command, show_command

from .making import WRONG, results_from

CASES = """
introduction: A case whose expectation is wrong, and one that is right.
cases:
  wrong:
    title: The gradient of a square is off
    source: contract/s1
    inputs: {x: 3.0}
    run: |
      with tf.GradientTape() as t:
          t.watch(x)
          y = x * x
      g = t.gradient(y, x)
    expect: {g: 6.5}
  right:
    title: The gradient of a square is right
    source: contract/s1
    inputs: {x: 3.0}
    run: |
      with tf.GradientTape() as t:
          t.watch(x)
          y = x * x
      g = t.gradient(y, x)
    expect: {g: 6.0}
"""


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    folder = tmp_path / "my cases"
    (folder / "area").mkdir(parents=True)
    (folder / "area" / "topic.yaml").write_text(CASES, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return "my cases"


def obey(monkeypatch, words):
    monkeypatch.setattr("sys.argv", ["gradconf", *words])
    return main(words)


def test_the_commands_of_a_shortfall_work(corpus, monkeypatch, capsys):
    words = ["run", "reference", "--corpus", corpus, "-q", "--output", "record.jsonl"]
    assert obey(monkeypatch, words) == 1
    first = capsys.readouterr().out
    commands = dict(
        line.strip().split(": ", 1)
        for line in first.splitlines()
        if line.strip().startswith(("show:", "replay:"))
    )
    name, *replay = shlex.split(commands["replay"])
    assert name == "gradconf"
    assert obey(monkeypatch, [*replay, "-q"]) == 1
    again = capsys.readouterr().out
    assert "reference 0.1.0  eager      1     0     1" in again
    assert "got 6.0, expected 6.5" in again
    assert obey(monkeypatch, shlex.split(commands["show"].strip())[1:]) == 0
    assert "t.gradient(y, x)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("command", "carried"),
    [
        ((), ""),
        (("run", "tensorflow", "-q"), ""),
        (("run", "--corpus", "mine"), " --corpus mine"),
        (("run", "--corpus=my cases"), " --corpus 'my cases'"),
        (("run", "--python", "/env/python", "--corpus", "a"), " --python /env/python --corpus a"),
        (("run", "--corpus"), ""),
    ],
)
def test_a_replay_asks_the_corpus_and_the_interpreter_of_the_run(command, carried):
    cell = Cell("a/b/c", "tensorflow", "eager")
    assert replay_command(cell, command=command) == f"gradconf run tensorflow:eager a/b/c{carried}"


def test_a_script_is_of_the_mode_that_fell_short():
    assert show_command(Cell("a/b/c", "tensorflow", "eager")).endswith("--as-python")
    assert show_command(Cell("a/b/c", "tensorflow", "xla")).endswith("--as-python --mode xla")
    assert show_command(Cell("a/b/c", "tensorflow", "call")).endswith("--as-python")


def test_every_format_carries_the_same_commands():
    command = ("run", "tensorflow", "--corpus", "mine")
    results = results_from({"tensorflow": {"one": WRONG}}, modes=("graph",))
    results.command = command
    cell = json.loads(render(results, "json"))["cells"][0]
    assert cell["replay"] == "gradconf run tensorflow:graph math/sq/one --corpus mine"
    assert cell["show"] == "gradconf show math/sq/one --as-python --mode graph --corpus mine"
    for format in ("text", "markdown", "junit"):
        text = render(results, format)
        assert cell["replay"] in text
        assert cell["show"] in text
