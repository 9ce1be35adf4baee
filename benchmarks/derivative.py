"""What the derivatives cost in a run: the seconds of workers for them, over those for all cells.

    python benchmarks/derivative.py [gradconf-run.jsonl]

The record of a default run says how long each cell took in its worker.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from conformance.asking.record import read_record
from conformance.corpus.language.case import DERIVATIVE

BUDGET = 0.30


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("record", nargs="?", default="gradconf-run.jsonl")
    record = read_record(Path(parser.parse_args().record))
    seconds: Counter[bool] = Counter()
    for answered in record.answers:
        if answered.cell.target in record.asked:
            seconds[answered.cell.mode == DERIVATIVE] += answered.answer.seconds
    derivatives, cells = seconds[True], seconds[False]
    print(f"cells {cells:.1f} s, derivatives {derivatives:.1f} s")
    print(f"ratio {derivatives / cells:.2f} (budget {BUDGET})")


if __name__ == "__main__":
    main()
