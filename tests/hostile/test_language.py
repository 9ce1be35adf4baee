"""The language against hostile programs: what it admits reaches nothing outside."""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import json
import os
import re
import selectors
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.corpus.cases import load_corpus
from conformance.corpus.language.case import MODES
from conformance.corpus.language.document import CaseFileError
from conformance.corpus.language.loader import load_text
from conformance.corpus.language.lowering import lower
from conformance.drivers.script import script_of
from tests.hostile.programs import entries

EXAMPLES = int(os.environ.get("GRADCONF_HOSTILE_EXAMPLES", "2000"))
HAS_TENSORFLOW = importlib.util.find_spec("tensorflow") is not None
TARGET = "tensorflow" if HAS_TENSORFLOW else "reference_impl"
SECONDS = 60.0
FRESH = 2_000
"""Programs after which a new process is started: what frameworks keep would make it slow."""


class Worker:
    """The audited process; it is started again where a program ends or stops it."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.asked = 0

    def ask(self, source: str, parameters: list[str], mode: str = "eager") -> dict[str, Any]:
        """What happened beneath a program; `outcome` is `lost` where the process did not answer."""
        process = self.process if self.process and self.process.poll() is None else self._started()
        request = {"cell": 1, "name": "hostile", "source": source, "parameters": parameters}
        line = self._line(process, {**request, "mode": mode, "convert": mode == "graph"}, SECONDS)
        self.asked += 1
        if not line or self.asked > FRESH:
            self.close()
        return json.loads(line) if line else {"outcome": "lost", "events": [], "internals": []}

    def _started(self) -> subprocess.Popen[bytes]:
        """A new process, which has imported its framework and run a program of nothing."""
        self.close()
        script = str(Path(__file__).with_name("audited_worker.py"))
        self.process = subprocess.Popen(
            [sys.executable, script, TARGET],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.asked = 0
        nothing = {"cell": 0, "name": "nothing", "source": "def case():\n    return {}\n"}
        request = {**nothing, "parameters": [], "mode": "eager", "convert": False}
        assert self._line(self.process, request, 10 * SECONDS), "the process does not start"
        return self.process

    def _line(
        self, process: subprocess.Popen[bytes], request: dict[str, Any], seconds: float
    ) -> bytes:
        assert process.stdin
        assert process.stdout
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(json.dumps({**request, "observe": ["g"]}).encode() + b"\n")
            process.stdin.flush()
        with selectors.DefaultSelector() as waiting:
            waiting.register(process.stdout, selectors.EVENT_READ)
            return process.stdout.readline() if waiting.select(seconds) else b""

    def close(self) -> None:
        """End the process."""
        if self.process:
            self.process.kill()
            self.process.communicate()
            self.process = None


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    started = Worker()
    yield started
    started.close()


CALLED = "def case():\n    {}\n    return {{'g': g}}\n"
REACHING = {
    "a file read": "g = open('/etc/hostname').read()",
    "a file written": "g = open('/dev/null', 'w').close()",
    "a folder read": "import os; g = os.listdir('/')",
    "a process": "import os; g = os.system('true')",
    "a process by subprocess": "import subprocess; g = subprocess.run(['true']) and 1",
    "a socket": "import socket; g = socket.socket().close()",
    "a module loaded": "import sys; sys.modules.pop('colorsys', None); import colorsys; g = 1",
    "a frame": "import sys; g = sys._getframe() and 1",
    "a code object": "g = case.__code__ and 1",
    "code run": "g = eval('1')",
    "a file read beneath a function of ours": "import linecache, shutil; g = shutil.copy and"
    " __import__('pathlib').Path('/etc/hostname').read_text()",
}
HOLDING = {
    "a module": "import os; g = [os]",
    "a frame": "import sys; g = {'a': (sys._getframe(),)}",
    "a builtin": "g = eval",
    "a generator": "g = (k for k in [1])",
    "a class of Python": "g = type",
}


@pytest.mark.parametrize("statement", REACHING.values(), ids=REACHING)
def test_the_counter_counts(worker: Worker, statement: str) -> None:
    reply = worker.ask(CALLED.format(statement), [])
    assert reply["events"], reply


@pytest.mark.parametrize("statement", HOLDING.values(), ids=HOLDING)
def test_the_search_finds(worker: Worker, statement: str) -> None:
    assert worker.ask(CALLED.format(statement), [])["internals"]


def test_an_innocent_program_is_not_counted(worker: Worker) -> None:
    source = (
        "x = tf.constant(3.0)\n\n\ndef case(x):\n    g = [x * x, len, float]\n    return {'g': g}\n"
    )
    reply = worker.ask(source, ["x"])
    assert (reply["outcome"], reply["events"], reply["internals"]) == ("answered", [], [])


@pytest.mark.tensorflow
@pytest.mark.skipif(not HAS_TENSORFLOW, reason="needs TensorFlow")
@pytest.mark.parametrize("mode", ["eager", "graph"])
def test_the_corpus_is_not_counted(worker: Worker, mode: str) -> None:
    """AutoGraph writes the code that it makes to a file; that alone is excepted."""
    for case in load_corpus()[:: 1 if mode == "eager" else 7]:
        if mode in case.not_applicable or case.isolated:
            continue
        lowered = lower(case, mode)
        reply = worker.ask(lowered.source, list(lowered.parameters), mode)
        assert (reply["events"], reply["internals"]) == ([], []), (case.id, reply)


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(entry=entries())
def check(worker: Worker, seen: Counter[str], entry: str) -> None:
    try:
        (case,) = load_text(entry)
    except CaseFileError:
        seen["refused"] += 1
        return
    lowered = lower(case)
    reply = worker.ask(lowered.source, list(lowered.parameters))
    seen[reply["outcome"]] += 1
    assert (reply["events"], reply["internals"]) == ([], []), lowered.source


def test_no_admitted_program_reaches_outside(worker: Worker) -> None:
    seen: Counter[str] = Counter()
    check(worker, seen)
    assert seen["answered"] + seen["raised"] > EXAMPLES / 20, seen
    assert seen["lost"] < EXAMPLES / 100, seen


SCRIPTS_OWN = re.compile(
    r"import (numpy as np|tensorflow as tf|gc|weakref)|tf\.random\.set_seed\(0\)|observed = .*"
    r"|case = tf\.autograph\.to_graph\(case\)|for name, value in observed\.items\(\):.*",
    re.DOTALL,
)
"""What a printed script adds to a program, beside the functions that a worker calls it by."""

TITLES = st.text(st.sampled_from("a\"'\\\N{BOM}{}#$%\u202e\U0001d552 "), min_size=1, max_size=12)


@settings(max_examples=300, deadline=None, database=None)
@given(title=TITLES, entry=entries(), mode=st.sampled_from(MODES))
def test_a_printed_script_holds_the_admitted_program_alone(
    title: str, entry: str, mode: str
) -> None:
    text = entry.replace("title: a", f"title: {json.dumps(title)}")
    try:
        (case,) = load_text(text)
    except CaseFileError:
        return
    lowered = lower(case, mode)
    docstring, *body = ast.parse(script_of(case, lowered, mode)).body
    assert isinstance(docstring, ast.Expr)
    shown = ast.literal_eval(docstring.value)
    assert case.title.replace('"""', "'''") in shown.replace('"""', "'''")
    program = list(map(ast.dump, ast.parse(lowered.source).body))
    others = [part for part in body if ast.dump(part) not in program]
    names = {part.name for part in others if isinstance(part, ast.FunctionDef)}
    assert names <= {"alive", "call_in_graph"}
    rest = [ast.unparse(part) for part in others if not isinstance(part, ast.FunctionDef)]
    assert all(map(SCRIPTS_OWN.fullmatch, rest)), rest
    assert len(body) - len(others) >= len(program)
