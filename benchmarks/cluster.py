"""A cluster's throughput: cells per second with 1, 2 and 3 nodes of one thread, on this machine.

    python benchmarks/cluster.py [TARGET|CASE|OPTION ...]

Each run is one of `gradconf run WORDS --cluster`; before them is one without a cluster, with one
worker. The host's seconds are those of the processor in the process that lowers, judges and
records; bytes are those of requests and of records, which hold what was replied.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from conformance.asking.worker import Job, request_of
from conformance.corpus.cases import load_corpus

AREAS = ("special_points", "targets_and_sources", "jacobian", "control_flow", "higher_order")
WORDS = ("tensorflow:eager,graph", *(f"--area={area}" for area in AREAS))
NODES = (1, 2, 3)


def main() -> None:
    words = sys.argv[1:] or WORDS
    print(f"{os.cpu_count()} cores; gradconf run {' '.join(words)}")
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as held:
        record = Path(folder) / "record.jsonl"
        tell("one machine, one worker", record, [*words, "-j", "1"])
        file = Path(folder) / "scheduler.json"
        start(held, folder, "scheduler", "--host=127.0.0.1", "--port=0", f"--scheduler-file={file}")
        while not (file.exists() and file.read_text().endswith("}")):
            time.sleep(0.1)
        address = json.loads(file.read_text())["address"]
        for nodes in NODES:
            start(held, folder, "worker", address, "--nthreads=1", "--no-nanny")
            time.sleep(5)  # until it has joined
            tell(f"{nodes} of one thread", record, [*words, "--cluster", address])
        tell_bytes(record)


def start(held: contextlib.ExitStack, folder: str, *words: str) -> None:
    command = [sys.executable, "-m", "dask", *words, "--no-dashboard"]
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    held.callback(process.wait)
    held.callback(process.kill)


def tell(name: str, record: Path, words: Sequence[str]) -> None:
    command = [sys.executable, "-m", "conformance.cli", "run", "-q", *words, f"--output={record}"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise SystemExit(f"the run ended with code {process.returncode}")
    footer = json.loads(record.read_text().splitlines()[-1])["footer"]
    cells, seconds = footer["cells"], footer["seconds"]
    told = f"{name}: {cells} cells in {seconds:.1f} s, {cells / seconds:.1f} cells/s"
    if "--cluster" in words:
        host = used.ru_utime + used.ru_stime
        told += f"; the host's processor {host:.1f} s, {1000 * host / cells:.1f} ms a cell"
    print(told, flush=True)


def tell_bytes(record: Path) -> None:
    lines = [line for line in record.read_text().splitlines() if line.startswith('{"case"')]
    cells = {(cell["case"], cell["mode"]) for cell in map(json.loads, lines)}
    cases = {case.id: case for case in load_corpus()}
    requests = [len(json.dumps(request_of(Job(cases[case], mode)))) for case, mode in cells]
    print(
        f"bytes a cell: {sum(requests) / len(requests):.0f} asked,"
        f" {sum(map(len, lines)) / len(lines):.0f} recorded"
    )


if __name__ == "__main__":
    main()
