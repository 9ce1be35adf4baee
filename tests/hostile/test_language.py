"""The language against hostile programs: what it admits reaches nothing outside."""

from __future__ import annotations

import ast
import json
import os
import re
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.corpus.language.case import MODES
from conformance.corpus.language.document import CaseFileError
from conformance.corpus.language.loader import load_text
from conformance.corpus.language.lowering import lower
from conformance.drivers.script import script_of
from tests.hostile.auditing import Auditor
from tests.hostile.programs import entries

EXAMPLES = int(os.environ.get("GRADCONF_HOSTILE_EXAMPLES", "2000"))
CALLED = "def case():\n    {}\n    return {{'g': g}}\n"
SCRIPT = CALLED + "\n\nobserved = case()\n"
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
def test_the_counter_counts(auditor: Auditor, statement: str) -> None:
    for reply in (
        auditor.ask(CALLED.format(statement), []),
        auditor.run_script("reaching", SCRIPT.format(statement)),
    ):
        assert reply["events"], reply


@pytest.mark.parametrize("statement", HOLDING.values(), ids=HOLDING)
def test_the_search_finds(auditor: Auditor, statement: str) -> None:
    assert auditor.ask(CALLED.format(statement), [])["internals"]
    assert auditor.run_script("holding", SCRIPT.format(statement))["internals"]


def test_an_innocent_program_is_not_counted(auditor: Auditor) -> None:
    source = (
        "x = tf.constant(3.0)\n\n\ndef case(x):\n    g = [x * x, len, float]\n    return {'g': g}\n"
    )
    reply = auditor.ask(source, ["x"])
    assert (reply["outcome"], reply["events"], reply["internals"]) == ("answered", [], [])


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(entry=entries())
def check(auditor: Auditor, seen: Counter[str], entry: str) -> None:
    try:
        (case,) = load_text(entry)
    except CaseFileError:
        seen["refused"] += 1
        return
    lowered = lower(case)
    reply = auditor.ask(lowered.source, list(lowered.parameters))
    seen[reply["outcome"]] += 1
    assert (reply["events"], reply["internals"]) == ([], []), lowered.source


def test_no_admitted_program_reaches_outside(auditor: Auditor) -> None:
    seen: Counter[str] = Counter()
    check(auditor, seen)
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
