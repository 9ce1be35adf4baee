"""A cluster is asked: its record is that of one machine, whatever nodes and schedulers do."""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.asking.address import parse_address
from conformance.closing import UsageError
from tests.asking.making import BROKEN, TEXT
from tests.conftest import Program
from tests.dask import CEILING, REAL, SLOW_TAPE, Dask, ended, started, wait_for

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
ENDS_NODES = """
import os
import signal
from pathlib import Path

import reference_impl as tf

class GradientTape(tf.GradientTape):
    def gradient(self, *arguments, **options):
        for folder in Path("/proc").glob("[0-9]*"):
            words = (folder / "cmdline").read_bytes().split(b"\\0")
            if b"worker" in words and int(folder.name) in parents():
                os.kill(int(folder.name), signal.SIGKILL)

def parents():
    found = [os.getpid()]
    while found[-1] > 1:
        found.append(int(Path(f"/proc/{found[-1]}/stat").read_text().rpartition(")")[2].split()[1]))
    return found

def __getattr__(name):
    return getattr(tf, name)
"""
"""Ends the node that asks it for a gradient."""
AREAS = ("control_flow", "watching", "recording", "persistence")
WORDS = ("./tape.py", "-q", *(f"--area={area}" for area in AREAS))

# ----- words -----


@pytest.mark.parametrize(
    ("word", "insecure", "address"),
    [
        ("local", False, "local"),
        ("127.0.0.1:8786", False, "tcp://127.0.0.1:8786"),
        ("tcp://127.8.0.1:8786", False, "tcp://127.8.0.1:8786"),
        ("localhost:1", False, "tcp://localhost:1"),
        ("[::1]:8786", False, "tcp://[::1]:8786"),
        ("tls://far.example:8786", False, "tls://far.example:8786"),
        ("tcp://10.0.0.5:8786", True, "tcp://10.0.0.5:8786"),
    ],
)
def test_an_address_is_this_machine_or_behind_tls(word: str, insecure: bool, address: str) -> None:
    assert parse_address(word, insecure=insecure) == address


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--cluster", "10.0.0.5:8786"), "write tls://10.0.0.5:8786, or add --insecure"),
        (("--cluster", "tcp://far.example:1"), "write tls://far.example:1, or add --insecure"),
        (("--cluster", "127.0.0.1.far.example:1"), "or add --insecure"),
        (("--cluster", "0.0.0.0:8786"), "or add --insecure"),
        (("--cluster", "here"), "write local, HOST:PORT or tls://HOST:PORT"),
        (("--cluster", "http://127.0.0.1:1"), "write local, HOST:PORT or tls://HOST:PORT"),
        (("--insecure",), "--insecure is for --cluster ADDRESS"),
        (("--cluster", "local", "--python", sys.executable), "leave out --cluster"),
    ],
)
def test_other_addresses_are_refused_in_a_line(
    gradconf: Program, words: tuple[str, ...], said: str
) -> None:
    done = gradconf("run", "reference", "--area", "basics", *words)
    assert done.returncode == 2
    first, word = done.stderr.splitlines()
    assert said in first
    assert word == "usage"


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="write local"):
        parse_address("127.0.0.1")


def test_the_extra_is_named_where_it_is_missing(
    gradconf: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    done = gradconf("run", "reference", "--area", "basics", "--cluster", "local")
    assert done.returncode == 2
    assert "pip install 'gradconf[cluster]'" in done.stderr


# ----- a real cluster -----


@pytest.fixture
def dask(tmp_path: Path) -> Iterator[Dask]:
    (tmp_path / "tape.py").write_text(SLOW_TAPE)
    with contextlib.ExitStack() as held:
        yield Dask(tmp_path / "nodes", held)


def lines_of(record: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in record.read_text().splitlines() if line.endswith("}")]


def answers_of(record: Path) -> list[str]:
    """The lines of a record that are answers, in order, without times."""
    lines = [line for line in lines_of(record) if "case" in line]
    kept = [
        {key: value for key, value in line.items() if key not in ("seconds", "sum")}
        for line in lines
    ]
    return sorted(json.dumps(line, sort_keys=True) for line in kept)


def abouts_of(record: Path) -> dict[str, Any]:
    return {line["target"]: line["about"] for line in lines_of(record) if "about" in line}


def has_answers(record: Path, count: int) -> bool:
    return record.exists() and record.read_text().count('"target":"./tape.py","mode"') >= count


def under_way(folder: Path, dask: Dask) -> tuple[Path, subprocess.Popen[str]]:
    """A run on a cluster's nodes, when it has answers, and its record."""
    record = folder / "cluster.jsonl"
    process = started(folder, "run", *WORDS, "--cluster", dask.address, "--output", str(record))
    wait_for(lambda: has_answers(record, 10))
    return record, process


@pytest.fixture(scope="module")
def of_one_machine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("one machine")
    (folder / "tape.py").write_text(SLOW_TAPE)
    record = folder / "one.jsonl"
    code, said = ended(started(folder, "run", *WORDS, "-j", "2", "--output", str(record)))
    assert code == 0, said
    assert len(answers_of(record)) > 100
    return record


class TestReal:
    pytestmark = REAL

    def test_a_node_that_dies_costs_no_cell(
        self, tmp_path: Path, dask: Dask, of_one_machine: Path
    ) -> None:
        record, process = under_way(tmp_path, dask)
        killed, *others = dask.nodes
        killed.kill()
        for other in others:  # what remains waits for the one that joins
            other.send_signal(signal.SIGSTOP)
        dask.nodes.append(dask.node())
        for other in others:
            other.kill()
        code, said = ended(process)
        assert code == 0, said
        assert answers_of(record) == answers_of(of_one_machine)
        assert abouts_of(record) == abouts_of(of_one_machine)
        header, other = lines_of(record)[0], lines_of(of_one_machine)[0]
        assert len(header["nodes"]) == 3
        different = {key for key in header if header[key] != other.get(key)}
        assert different <= {"nodes", "command", "started", "sum"}
        (joined,) = {*lines_of(record)[-1]["footer"]["nodes"]} - {*header["nodes"]}
        assert joined.startswith("tcp://127.0.0.1:")
        digest = hashlib.sha256(SLOW_TAPE.encode()).hexdigest()
        assert dask.files_of(3) == [digest]  # it was asked the rest

    def test_a_run_whose_scheduler_is_lost_is_resumed(
        self, tmp_path: Path, dask: Dask, of_one_machine: Path
    ) -> None:
        record, process = under_way(tmp_path, dask)
        dask.scheduler.send_signal(signal.SIGKILL)
        code, said = ended(process)
        assert code == 4, said
        assert "Traceback" not in said
        told = "is lost: its scheduler does not answer"
        assert " ".join(said.split()).count(told) == 1, said
        with contextlib.ExitStack() as held:
            again = Dask(tmp_path / "again", held)
            words = (*WORDS, "--cluster", again.address, "--output", str(record), "--resume")
            code, said = ended(started(tmp_path, "run", *words))
        assert code == 0, said
        assert " kept" in said
        assert answers_of(record) == answers_of(of_one_machine)

    @pytest.mark.parametrize("name", ["dies", "hangs", "cannot_be_imported"])
    def test_a_target_is_lost_as_on_one_machine(
        self, tmp_path: Path, dask: Dask, name: str
    ) -> None:
        (tmp_path / "tape.py").write_text((BROKEN / f"{name}.py").read_text())
        corpus = tmp_path / "cases" / "made"
        corpus.mkdir(parents=True)
        (corpus / "lost.yaml").write_text(TEXT)
        for record, where in (("one", ()), ("two", ("--cluster", dask.address))):
            words = ("./tape.py", "--corpus", "cases", "-q", "--timeout", "2", *where)
            code, said = ended(started(tmp_path, "run", *words, "--output", f"{record}.jsonl"))
            assert code in (1, 4, 5), said
        answers = answers_of(tmp_path / "two.jsonl")
        assert answers == answers_of(tmp_path / "one.jsonl")
        assert len(answers) >= 6

    def test_a_node_that_keeps_no_file_is_not_asked(
        self, tmp_path: Path, of_one_machine: Path
    ) -> None:
        (tmp_path / "tape.py").write_text(SLOW_TAPE)
        with contextlib.ExitStack() as held:
            dask = Dask(tmp_path / "nodes", held, nodes=0)
            dask.without_cache(0)
            dask.node()
            words = (*WORDS, "--cluster", dask.address, "--output")
            code, said = ended(started(tmp_path, "run", *words, "none.jsonl"))
            assert code == 5, said
            assert "a node cannot keep tape.py: " in " ".join(said.split())
            dask.node()
            code, said = ended(started(tmp_path, "run", *words, "one.jsonl"))
        assert code == 0, said
        assert answers_of(tmp_path / "one.jsonl") == answers_of(of_one_machine)

    def test_a_batch_that_ends_every_node_ends_the_run(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "tape.py").write_text(ENDS_NODES)
        monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", "1")
        with contextlib.ExitStack() as held:
            dask = Dask(tmp_path / "nodes", held)
            case = "recording/lifecycle/recording_resumes"
            words = ("./tape.py", case, "-q", "--no-confine", "--output=record.jsonl")
            code, said = ended(started(tmp_path, "run", *words, "--cluster", dask.address))
        assert code == 4, said
        assert "Traceback" not in said
        assert "2 different workers, but all those workers died" in " ".join(said.split())
        footer = lines_of(tmp_path / "record.jsonl")[-1]["footer"]
        assert not footer["complete"]

    def test_a_scheduler_that_nobody_started_is_told_in_a_line(self, tmp_path: Path) -> None:
        (tmp_path / "tape.py").write_text(SLOW_TAPE)
        code, said = ended(started(tmp_path, "run", *WORDS, "--cluster", "127.0.0.1:9"))
        assert code == 2, said
        assert len(said.splitlines()) == 2

    def test_every_command_of_the_page_does_what_the_page_says(self, tmp_path: Path) -> None:
        (tmp_path / "tape.py").write_text(SLOW_TAPE)
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = str(free.getsockname()[1])
        commands = re.findall(r"^\$ (gradconf|dask) (.*?)(?: +#.*)?$", PAGE, re.MULTILINE)
        assert len(commands) == 7
        with contextlib.ExitStack() as held:
            for program, rest in commands:
                words = rest.replace("8786", port).split()
                module = "dask" if program == "dask" else "conformance.cli"
                process = subprocess.Popen(
                    [sys.executable, "-m", module, *words[: -1 if words[-1] == "&" else None]],
                    cwd=tmp_path,
                    stderr=subprocess.DEVNULL,
                )
                if words[-1] == "&":
                    held.callback(process.wait)
                    held.callback(process.terminate)
                else:
                    assert process.wait(CEILING) == 0, rest
