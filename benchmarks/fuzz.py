"""A campaign's throughput: the share of its time that targets work, and its programs per second.

    python benchmarks/fuzz.py [--examples 200]

A target works where its process runs a program; drawing, rewriting, lowering, the protocol and
comparing are what else takes time. The share is a ratio within one run. Compiled modes take longer
for each program than eager execution does, so more is due of them.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys

BUDGETS = {"tensorflow:eager": 0.30, "tensorflow:eager,graph,xla": 0.60}
TOLD = re.compile(r"(\d+ programs?) of seed .*?, ([\d.]+) each second, (\d+)% of the time")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--examples", type=int, default=200)
    examples = parser.parse_args().examples
    for target, budget in BUDGETS.items():
        words = ["fuzz", target, f"--examples={examples}"]
        command = [sys.executable, "-m", "conformance.cli", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        told = TOLD.search(done.stdout)
        if told is None:
            raise SystemExit(f"{' '.join(command)}: {done.stdout}{done.stderr}")
        programs, rate, share = told.groups()
        print(f"{target}: {programs}, {rate} each second")
        print(f"ratio {int(share) / 100:.2f} (budget: at least {budget})", flush=True)


if __name__ == "__main__":
    main()
