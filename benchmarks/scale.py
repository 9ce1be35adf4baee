"""Scale: is a run linear in its cells, and how much does the host keep for each of them?

    python benchmarks/scale.py [--cells 5000 10000 20000]

Makes a corpus of as many cases, runs it on the oracle as a whole process, and prints wall time and
the largest memory of the host alone (its workers are other processes). The ratios are those of the
largest corpus over the smallest one.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LINEAR = 1.2
KILOBYTES = 2.0
PER_FILE = 1_000
FILE = """\
introduction: Made for a measurement.
cases:
  square_${{n}}:
    title: The square has slope two x, number ${{n}}
    source: contract/s1
    each: {{n: [{numbers}]}}
    inputs: {{x: [1.0, 3.0]}}
    run: |
      with tf.GradientTape() as t:
          t.watch(x)
          y = ${{n}}.0 * x * x
      g = t.gradient(y, x)
    expect: {{g: {{formula: "2.0 * ${{n}}.0 * x"}}}}
"""
PROGRAM = """
import resource, sys
from conformance.cli import main
code = main(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
sys.exit(code)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, nargs="+", default=[5_000, 10_000, 20_000])
    sizes = sorted(parser.parse_args().cells)
    measured = {}
    for cells in sizes:
        with tempfile.TemporaryDirectory() as folder:
            make_corpus(Path(folder) / "cases", cells)
            measured[cells] = run(folder)
        seconds, memory = measured[cells]
        print(f"{cells} cells: {seconds:.1f} s, {1e3 * seconds / cells:.2f} ms a cell", end="")
        print(f", host {memory / 1024:.0f} MB", flush=True)
    first, last = sizes[0], sizes[-1]
    growth = (measured[last][0] / last) / (measured[first][0] / first)
    kept = (measured[last][1] - measured[first][1]) / (last - first)
    print(f"time of a cell at {last} over at {first}: ratio {growth:.2f} (budget {LINEAR})")
    print(f"host memory from {first} to {last}: {kept:.2f} KB a cell (budget {KILOBYTES})")


def make_corpus(folder: Path, cells: int) -> None:
    area = folder / "scale"
    area.mkdir(parents=True)
    for start in range(1, cells + 1, PER_FILE):
        numbers = ", ".join(map(str, range(start, min(start + PER_FILE, cells + 1))))
        (area / f"part_{start}.yaml").write_text(FILE.format(numbers=numbers))


def run(folder: str) -> tuple[float, int]:
    """Seconds, and the host's largest memory in KB."""
    words = ["run", "reference", "--quiet", "--corpus", f"{folder}/cases"]
    program = [sys.executable, "-c", PROGRAM, *words, "--output", f"{folder}/run.jsonl"]
    started = time.perf_counter()
    done = subprocess.run(program, capture_output=True, text=True, check=True)
    return time.perf_counter() - started, int(done.stderr)


if __name__ == "__main__":
    main()
