"""A hostile interpreter: whatever its worker says of itself, the run ends with its word."""

from __future__ import annotations

import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from conformance.asking.ask import ORACLE
from conformance.asking.session import Session
from conformance.closing import EXIT_CODES
from conformance.report import FORMATS
from tests.cases import make_corpus
from tests.conftest import Program

from .documents import deep
from .test_records import FORBIDDEN

ANSWERS = """#!{python} -SE
import os, sys
channel, beside = int(sys.argv[2]), os.path.dirname(__file__)
with open(beside + "/replies.jsonl", "rb") as file:
    for reply in file:
        os.read(channel, 1 << 20)
        os.write(channel, reply)
os.read(channel, 1 << 20)
"""
"""An interpreter that starts no worker, and answers each request by the next line of a file."""
REPLY = {"cell": 1, "observations": {}, "error": None, "warnings": [], "seconds": 0.25}


@cache
def honest() -> dict[str, Any]:
    """What an honest worker says of itself."""
    session = Session(ORACLE)
    try:
        return {**session.start(), "forks": True}
    finally:
        session.close()


@pytest.fixture
def python(tmp_path: Path) -> Path:
    make_corpus(tmp_path)
    path = tmp_path / "python"
    path.write_text(ANSWERS.format(python=sys.executable))
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    "value", [5, "\x1b[31m\n::error::x", [5], [[]], {"\r": "\x9b"}, deep(90)], ids=type
)
@pytest.mark.parametrize("spared", [("lacks",), ()])
def test_what_a_worker_says_of_itself_is_not_believed(
    gradconf: Program, python: Path, value: object, spared: tuple[str, ...]
) -> None:
    kept = ("ready", "protocol", *spared)
    about = {key: said if key in kept else value for key, said in honest().items()}
    replies = "".join(json.dumps(reply) + "\n" for reply in (about, REPLY, REPLY))
    (python.parent / "replies.jsonl").write_text(replies)
    words = ("run", "tensorflow:eager", "--python", str(python), "--corpus", "cases", "-j1")
    done = gradconf(*words, "--output", "r.jsonl")
    assert EXIT_CODES.get(done.stdout.splitlines()[-1]) == done.returncode
    for format in FORMATS["run"]:
        told = gradconf("report", "r.jsonl", "--corpus", "cases", "--format", format)
        assert told.returncode == done.returncode
        assert not FORBIDDEN.search(told.stdout + done.stdout + done.stderr)
