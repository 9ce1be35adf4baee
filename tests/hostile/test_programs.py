"""The program as a whole against hostile files: exit code 2, no traceback, no trace."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cases import SQUARE, UNCONNECTED, make_corpus
from tests.conftest import Program

MARK = "escaped"
CALL = f"__import__('os').system('touch {MARK}')"
NESTED = "[" * 5_000 + "]" * 5_000
CASE_FILES = {
    "a tag that makes an object": f'x: !!python/object/apply:os.system ["touch {MARK}"]\n',
    "a tag in a case": SQUARE.replace("x: 3.0", f'x: !!python/object/apply:os.system ["{MARK}"]'),
    "a program that imports": SQUARE.replace("g = t.gradient(y, x)", f"g = {CALL}"),
    "a program that opens": SQUARE.replace("y = x * x", f'y = open("{MARK}", "w")'),
    "a formula that calls": SQUARE.replace("g: 6.0", f'g: {{formula: "{CALL}"}}'),
    "a name that is a path": SQUARE.replace("  square:", f"  ../../{MARK}:"),
    "a title that a terminal obeys": SQUARE.replace("The square has", '"\\e[31m" #'),
    "no UTF-8": SQUARE.encode() + b"\xff",
    "depth": f"introduction: {NESTED}\n",
    "aliases": "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n",
}
HEADER = {"record": 1, "asked": [{"target": "tape", "modes": ["eager"]}], "command": []}
CELL = {
    **{"case": "basics/squares/square", "target": "tape", "mode": "eager", "program": "x"},
    **{"expectation": "x", "outcome": "answered", "seconds": 0.1},
}
RECORDS = {
    "a pickle": b"\x80\x04\x95cposix\nsystem\n(S'touch escaped'\ntR.",
    "a header of another kind": {**HEADER, "asked": 5},
    "a command that is none": {**HEADER, "command": [{"rm": 1}]},
    "depth": f'{{"record": 1, "asked": {NESTED}}}\n'.encode(),
    "a number with too many digits": b'{"record": ' + b"9" * 5_000 + b"}\n",
    "an answer of nobody": (HEADER, {**CELL, "target": "../../escaped"}),
    "an outcome that is a list": (HEADER, {**CELL, "outcome": ["\x1b[31m" * 500]}),
    "seconds that are no time": (HEADER, {**CELL, "seconds": float("nan")}),
    "seconds beyond any time": (HEADER, {**CELL, "seconds": 10**400}),
    "warnings that are a text": (HEADER, {**CELL, "warnings": "abc"}),
}
PEAK = """
import re, sys
from conformance.cli import main
code = main(sys.argv[1:])
print(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1])
sys.exit(code)
"""
"""Prints the peak of the process alone: getrusage counts that of its parent before the exec too."""


@pytest.fixture(autouse=True)
def nothing_is_executed(tmp_path: Path):
    yield
    assert not list(tmp_path.parent.rglob(MARK))


def check_refused(done: subprocess.CompletedProcess[str]) -> None:
    lines = done.stderr.splitlines()
    assert done.returncode == 2, done.stdout + done.stderr
    assert lines[-1] == "usage"
    assert lines[:-1]
    for line in lines[:-1]:
        assert line.startswith("gradconf: ")
        assert line.isprintable()
        assert len(line) < 1_000
    assert "Traceback" not in done.stderr + done.stdout


@pytest.mark.parametrize("text", CASE_FILES.values(), ids=CASE_FILES.keys())
def test_a_hostile_case_file_is_refused(
    gradconf: Program, tmp_path: Path, text: str | bytes
) -> None:
    path = tmp_path / "cases" / "a" / "b.yaml"
    path.parent.mkdir(parents=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    done = gradconf("run", "reference", "--corpus", "cases", "--output", "run.jsonl")
    check_refused(done)
    assert "cases/a/b.yaml:" in done.stderr
    assert [entry.name for entry in tmp_path.iterdir()] == ["cases"]


def record_bytes(record: object) -> bytes:
    if isinstance(record, bytes):
        return record
    lines = record if isinstance(record, tuple) else (record,)
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


@pytest.mark.parametrize("record", RECORDS.values(), ids=RECORDS.keys())
def test_a_hostile_record_is_refused(gradconf: Program, tmp_path: Path, record: object) -> None:
    (tmp_path / "run.jsonl").write_bytes(record_bytes(record))
    check_refused(gradconf("report", "run.jsonl", "--corpus", str(make_corpus(tmp_path))))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_record_that_grows_without_end_is_refused_in_little_memory(tmp_path: Path) -> None:
    gigabyte = gzip.compress(b"\0" * (1 << 24)) * 64
    (tmp_path / "run.jsonl.gz").write_bytes(gigabyte)
    words = [sys.executable, "-c", PEAK, "report", "run.jsonl.gz"]
    done = subprocess.run(
        words, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    check_refused(done)
    assert int(done.stdout) < 500 * 1024, "kilobytes"


def test_a_run_writes_only_where_it_is_told(gradconf: Program, tmp_path: Path) -> None:
    target = tmp_path / "tape.py"
    target.write_text(
        "import reference_impl\n"
        f"__version__ = __name__ = '../../{MARK}\\x1b[31m'\n"
        "def __getattr__(name):\n    return getattr(reference_impl, name)\n"
    )
    corpus = make_corpus(tmp_path, unconnected__other=UNCONNECTED)
    work = tmp_path / "work"
    work.mkdir()
    cache = tmp_path / "cache"
    words = ("--corpus", str(corpus), "--output", "work/r.jsonl", "--baseline", "work/known.yaml")
    done = gradconf("run", str(target), *words, "--update-baseline", GRADCONF_CACHE=str(cache))
    assert done.returncode == 0, done.stdout + done.stderr
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", done.stdout + done.stderr)
    assert sorted(entry.name for entry in work.iterdir()) == ["known.yaml", "r.jsonl"]
    left = {entry.name for entry in tmp_path.iterdir()} - {"__pycache__"}
    assert left <= {"tape.py", "cases", "work", "cache"}
