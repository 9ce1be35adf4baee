"""`show --as-python`: every script runs on TensorFlow alone and finds what the run found."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.answers.answer import Answer
from conformance.answers.compare import compare, expectation_of
from conformance.answers.tolerances import bounds_for
from conformance.asking.ask import ask
from conformance.asking.events import Answered
from conformance.corpus.cases import load_corpus
from conformance.corpus.language.case import Case
from conformance.corpus.language.lowering import lower
from conformance.drivers import INSIDE
from conformance.drivers.script import script_of
from conformance.targets.specification import parse_target

DRIVER = f"""
import json, os, runpy, sys
sys.path.insert(0, {str(INSIDE.parent)!r})
from inside.observation import observe, observe_error
found = {{}}
for path in sys.argv[2:]:
    try:
        observed = runpy.run_path(path)["observed"]
        found[path] = {{name: observe(value) for name, value in observed.items()}}
    except Exception as error:
        found[path] = {{"(raised)": observe_error(error, "run", None)}}
with open(sys.argv[1], "w") as file:
    json.dump(found, file)
sys.stdout.flush()
os._exit(0)
"""
IN_FRESH_PROCESSES = 10


def run_scripts(scripts: list[Path], folder: Path) -> dict[str, dict]:
    """What scripts observe, in one process of their own that knows nothing of the project."""
    driver, found = folder / "driver.py", folder / "found.json"
    driver.write_text(DRIVER)
    words = [sys.executable, "-I", str(driver), str(found), *map(str, scripts)]
    done = subprocess.run(words, capture_output=True, text=True, cwd=folder, timeout=500)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(found.read_text())


@pytest.fixture(scope="module")
def answers() -> dict[tuple[str, str], Answer]:
    """What the run itself finds, by case and mode."""
    shared = [case for case in load_corpus() if not case.isolated]
    events = ask(shared, [parse_target("tensorflow:eager,graph")])
    return {
        (event.cell.case, event.cell.mode): event.answer
        for event in events
        if isinstance(event, Answered) and event.answer.outcome == "answered"
    }


def written(case: Case, mode: str, folder: Path) -> Path:
    path = folder / f"{case.id.replace('/', '__')}__{mode}.py"
    path.write_text(script_of(case, lower(case), mode))
    return path


def assert_same(case: Case, mode: str, answer: Answer, found: dict) -> int:
    """The script's observations are the run's; how many facts that were."""
    bounds = bounds_for(mode, 6)
    if answer.error is not None:
        expected = expectation_of(answer.error)
        comparison = compare(expected, found["(raised)"], bounds, name="(raised)")
        assert not comparison.mismatches, (case.id, mode, comparison.mismatches)
        return comparison.compared
    assert set(found) == set(answer.observations), (case.id, mode, found.get("(raised)"))
    compared = 0
    for name, observation in answer.observations.items():
        if observation["kind"] == "other":
            assert found[name] == observation
            compared += 1
            continue
        comparison = compare(expectation_of(observation), found[name], bounds, name=name)
        assert not comparison.mismatches, (case.id, mode, comparison.mismatches)
        compared += comparison.compared
    return compared


@pytest.mark.tensorflow
@pytest.mark.parametrize("mode", ["eager", "graph"])
def test_every_script_finds_what_the_run_found(
    answers: dict[tuple[str, str], Answer], tmp_path: Path, mode: str
) -> None:
    cases = [case for case in load_corpus() if (case.id, mode) in answers]
    scripts = {str(written(case, mode, tmp_path)): case for case in cases}
    found = run_scripts([Path(path) for path in scripts], tmp_path)
    facts = sum(
        assert_same(case, mode, answers[case.id, mode], found[path])
        for path, case in scripts.items()
    )
    assert facts > len(cases) > 30


@pytest.mark.tensorflow
def test_scripts_run_in_fresh_processes(
    answers: dict[tuple[str, str], Answer], tmp_path: Path
) -> None:
    cases = [case for case in load_corpus() if (case.id, "eager") in answers]
    step = max(1, len(cases) // IN_FRESH_PROCESSES)
    for case in cases[::step][:IN_FRESH_PROCESSES]:
        path = written(case, "eager", tmp_path)
        found = run_scripts([path], tmp_path)[str(path)]
        assert assert_same(case, "eager", answers[case.id, "eager"], found)


def test_a_script_is_the_text_that_ran() -> None:
    for case in load_corpus()[:20]:
        assert lower(case).source.rstrip() in script_of(case, lower(case))


def test_a_script_imports_tensorflow_and_numpy_at_most() -> None:
    for case in load_corpus():
        for mode in ("eager", "graph", "xla"):
            text = script_of(case, lower(case), mode)
            imports = {line for line in text.splitlines() if line.startswith(("import", "from"))}
            known = {"import tensorflow as tf", "import numpy as np"}
            assert imports <= known | {"import gc", "import weakref"}, case.id
            compile(text, case.id, "exec")
