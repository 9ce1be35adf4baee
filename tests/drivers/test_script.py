"""`show --as-python`: every script runs on TensorFlow alone and finds what the run found."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import pytest

from conformance.answers.answer import Answer, Raised
from conformance.answers.compare import difference_of
from conformance.answers.wire import value_of
from conformance.asking.ask import ORACLE, ask
from conformance.asking.events import Answered
from conformance.asking.record import read_record
from conformance.corpus.language.case import Case
from conformance.corpus.language.lowering import lower
from conformance.corpus.moves import ids_of_today
from conformance.drivers import INSIDE
from conformance.drivers.script import script_of
from conformance.targets.specification import parse_target
from tests.cases import whole_corpus
from tests.hostile.auditing import Auditor

ROOT = Path(__file__).parent.parent.parent
DRIVER = f"""
import json, os, runpy, sys
sys.path.insert(0, {str(INSIDE.parent)!r})
import tensorflow
from inside.observation import Observer, observe_error
for path in sys.argv[1:]:
    if os.fork():
        os.wait()
        continue
    try:
        observed = runpy.run_path(path)["observed"]
        found = {{name: Observer().observe(value) for name, value in observed.items()}}, None
    except Exception as error:
        found = {{}}, observe_error(error, "run", None)
    with open(path + ".json", "w") as file:
        json.dump(found, file)
    sys.stdout.flush()
    os._exit(0)
"""
IN_FRESH_PROCESSES = 12

Found = tuple[dict, "dict | None"]
"""What a script observed, and the error that ended it."""


def run_in_fresh_processes(scripts: list[Path], folder: Path) -> list[Found]:
    """What scripts find, each in a process that has imported TensorFlow and nothing of ours."""
    driver = folder / "driver.py"
    driver.write_text(DRIVER)
    words = [sys.executable, "-I", "-W", "ignore", str(driver), *map(str, scripts)]
    done = subprocess.run(words, capture_output=True, text=True, cwd=folder, timeout=500)
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(Path(f"{script}.json").read_text()) for script in scripts]


@pytest.fixture(scope="module")
def answers() -> dict[tuple[str, str], Answer]:
    """What a run finds on the installed TensorFlow, by case and mode: that of reports/, if any."""
    shared = [case for case in whole_corpus() if not case.isolated]
    hashes = {(case.id, mode): lower(case).hash for case in shared for mode in ("eager", "graph")}
    record = ROOT / "reports" / f"tensorflow-{installed()}.jsonl.gz"
    events = (
        [event for event in recorded(record) if event.cell.target != ORACLE.label]
        if record.exists()
        else ask(shared, [parse_target("tensorflow:eager,graph")])
    )
    return {
        (event.cell.case, event.cell.mode): event.answer
        for event in events
        if isinstance(event, Answered)
        and event.answer.outcome in ("answered", "crash")
        and event.program == hashes.get((event.cell.case, event.cell.mode))
    }


def recorded(record: Path) -> Sequence[Answered]:
    """The answers of a record, under the ids that its cases have today."""
    return read_record(record, ids_of_today(whole_corpus())).answers


def installed() -> str:
    """The version of the TensorFlow that scripts are run with."""
    for name in ("tensorflow", "tensorflow-cpu"):
        with contextlib.suppress(metadata.PackageNotFoundError):
            return metadata.version(name)
    return ""


def written(case: Case, mode: str, folder: Path) -> Path:
    path = folder / f"{case.id.replace('/', '__')}__{mode}.py"
    path.write_text(script_of(case, lower(case), mode))
    return path


def assert_same(case: Case, mode: str, answer: Answer, found: Found) -> int:
    """The script's observations are the run's; how many names that were.

    Of an error the class counts: its message tells of stack frames.
    """
    observations, error = found
    if answer.error:
        raised = value_of(error) if error else None
        assert isinstance(raised, Raised), case.id
        assert raised.type == answer.error.type, (case.id, mode)
        return 1
    values = {name: value_of(observation) for name, observation in observations.items()}
    assert values.keys() == answer.observations.keys(), (case.id, mode, error)
    differing = difference_of(answer, replace(answer, observations=values))
    assert differing is None, (case.id, mode, differing)
    return len(values)


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    ("mode", "step"),
    [
        *(("eager", 11), ("graph", 25)),
        *(pytest.param(*all, marks=pytest.mark.slow) for all in (("eager", 2), ("graph", 8))),
    ],
)
def test_scripts_find_what_the_run_found_and_reach_nothing_outside(
    answers: dict[tuple[str, str], Answer], auditor: Auditor, mode: str, step: int
) -> None:
    """AutoGraph writes the code that it makes to a file; that alone is excepted.

    Of a program that ended its process nothing can be compared.
    """
    compared = facts = 0
    for case in whole_corpus()[::step]:
        answer = answers.get((case.id, mode))
        if mode in case.not_applicable or case.isolated or (answer and answer.end):
            continue
        reply = auditor.run_script(case.id, script_of(case, lower(case, mode), mode))
        assert (reply["events"], reply["internals"]) == ([], []), (case.id, reply)
        if answer:
            compared += 1
            facts += assert_same(case, mode, answer, (reply["observations"], reply["error"]))
    assert facts > compared > 500 / step


@pytest.mark.tensorflow
def test_scripts_run_in_fresh_processes(
    answers: dict[tuple[str, str], Answer], tmp_path: Path
) -> None:
    found = {id for (id, mode), answer in answers.items() if mode == "eager" and not answer.end}
    cases = [case for case in whole_corpus() if case.id in found]
    chosen = cases[:: len(cases) // IN_FRESH_PROCESSES]
    scripts = [written(case, "eager", tmp_path) for case in chosen]
    for case, found in zip(chosen, run_in_fresh_processes(scripts, tmp_path), strict=True):
        assert assert_same(case, "eager", answers[case.id, "eager"], found)


def test_a_script_is_the_text_that_ran() -> None:
    for case in whole_corpus()[:20]:
        assert lower(case).source.rstrip() in script_of(case, lower(case))


def test_a_script_imports_tensorflow_and_numpy_at_most() -> None:
    for case in whole_corpus():
        for mode in ("eager", "graph", "xla"):
            text = script_of(case, lower(case), mode)
            imports = {line for line in text.splitlines() if line.startswith(("import", "from"))}
            known = {"import tensorflow as tf", "import numpy as np"}
            assert imports <= known | {"import gc", "import weakref"}, case.id
            compile(text, case.id, "exec")
