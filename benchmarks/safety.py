"""What safety costs: confinement and checksums, each over the whole of a run.

    python benchmarks/safety.py [--rounds 3] [TARGET|CASE ...]

A run with and one without --no-confine start at the same moment, each with one worker, so that a
slow machine slows both; the ratio of the medians is printed. The checksums of a run's record are
computed once more, for their part of it.
"""

from __future__ import annotations

import argparse
import hashlib
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

BUDGET = 1.02


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("words", nargs="*", default=["tensorflow"])
    arguments = parser.parse_args()
    confined, free, sums = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(arguments.rounds):
            record, other = Path(folder) / "confined.jsonl", Path(folder) / "free.jsonl"
            with ThreadPoolExecutor() as pool:
                runs = [
                    pool.submit(seconds, [*arguments.words, "--output", str(record)]),
                    pool.submit(
                        seconds, [*arguments.words, "--output", str(other), "--no-confine"]
                    ),
                ]
            for taken, run in zip((confined, free), runs, strict=True):
                taken.append(run.result())
            sums.append(seconds_of_checksums(record))
    whole = statistics.median(confined)
    print(f"{arguments.rounds} rounds, {whole:.1f} s a run")
    print(f"confined over --no-confine: ratio {whole / statistics.median(free):.3f}")
    print(f"checksums over a run: ratio {statistics.median(sums) / whole:.5f}")
    print(f"budget of both: {BUDGET}")


def seconds(words: list[str]) -> float:
    command = [sys.executable, "-m", "conformance.cli", "run", "-q", "--jobs", "1", *words]
    started = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"the run ended with code {done.returncode}")
    return time.perf_counter() - started


def seconds_of_checksums(record: Path) -> float:
    lines = record.read_bytes().splitlines(keepends=True)
    started = time.perf_counter()
    whole = hashlib.sha256()
    for line in lines:
        zlib.crc32(line)
        whole.update(line)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
