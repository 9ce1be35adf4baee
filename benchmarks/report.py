"""Reports: `gradconf report` of the largest record in reports/, in each format.

    python benchmarks/report.py [--rounds 3]

Each is printed in seconds for as many cells as the record has, beside the budget for them.
"""

from __future__ import annotations

import argparse
import gzip
import statistics
import subprocess
import sys
import time
from pathlib import Path

BUDGET = 2.0
CELLS = 5_000
"""The budget is that of a record with this number of cells."""
FORMATS = ("text", "markdown", "html", "json", "junit", "github")
RECORDS = Path(__file__).parent.parent / "reports"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    cells, record = max((cells_of(path), path) for path in RECORDS.glob("*.jsonl.gz"))
    budget = BUDGET * cells / CELLS
    for name in FORMATS:
        command = [sys.executable, "-m", "conformance.cli", "report", str(record)]
        taken = statistics.median(seconds([*command, "--format", name]) for _ in range(rounds))
        print(
            f"gradconf report --format {name}, {cells} cells: {taken:.2f} s (budget {budget:.2f})"
        )


def cells_of(path: Path) -> int:
    with gzip.open(path, "rt", encoding="utf-8") as record:
        return sum(line.startswith('{"case"') for line in record)


def seconds(command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
