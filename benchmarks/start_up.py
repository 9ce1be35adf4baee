"""Start-up: `gradconf --help`, and `gradconf list` of 1,000 cases once it has seen them.

    python benchmarks/start_up.py [--rounds 5]

Each is printed in seconds and as a ratio over starting the interpreter with nothing to do.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CASES = 1_000
PER_FILE = 20
ENTRY = """  case_{number}:
    title: The square has slope two x, number {number}
    source: contract/s1
    inputs: {{x: [1.0, {number}.0]}}
    run: |
      with tf.GradientTape() as t:
          t.watch(x)
          y = x * x
      g = t.gradient(y, x)
    expect: {{g: [2.0, {twice}.0]}}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        make_corpus(Path(folder) / "cases")
        environment = {**os.environ, "XDG_CACHE_HOME": f"{folder}/cache"}
        python = [sys.executable, "-c", "pass"]
        program = [sys.executable, "-m", "conformance.cli"]
        listing = [*program, "list", "--corpus", f"{folder}/cases"]
        seconds(listing, environment)  # the first listing reads every file
        nothing = median(python, environment, rounds)
        for name, command, budget in (
            ("gradconf --help", [*program, "--help"], 0.15),
            (f"gradconf list, {CASES} cases, warm", listing, 0.4),
        ):
            taken = median(command, environment, rounds)
            print(
                f"{name}: {taken:.3f} s (budget {budget}), {taken / nothing:.1f} x an empty start"
            )


def make_corpus(folder: Path) -> None:
    area = folder / "scale"
    area.mkdir(parents=True)
    for start in range(0, CASES, PER_FILE):
        entries = [ENTRY.format(number=n, twice=2 * n) for n in range(start, start + PER_FILE)]
        text = "introduction: Made for a measurement.\ncases:\n" + "\n".join(entries)
        (area / f"part_{start}.yaml").write_text(text)


def median(command: list[str], environment: dict[str, str], rounds: int) -> float:
    return statistics.median(seconds(command, environment) for _ in range(rounds))


def seconds(command: list[str], environment: dict[str, str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
