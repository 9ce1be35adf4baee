"""A run's wall time over a bare script that executes the same lowered functions in the same modes.

    python benchmarks/wall_time.py [--rounds 3]

Both sides import TensorFlow, run cases in eager, graph and xla, and end. The bare script has no
protocol, no observations, no oracle and no judge. It has no twin of three kinds of cases, which are
left out: those with a process of their own, those that end the process, and those whose numeric
derivatives are asked. Rounds alternate, so that a slow machine slows both; the ratio of the medians
is printed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from conformance.corpus.cases import load_corpus
from conformance.corpus.language.derivative import forwards_of
from conformance.corpus.language.lowering import lower
from conformance.drivers import INSIDE
from conformance.files import data_folder
from conformance.targets.specification import DEFAULT_MODES
from conformance.verdicts.departure_file import read_folder

BUDGET = 1.15
BARE = """
import json, linecache, os, sys
sys.path.insert(0, sys.argv[2])
import numpy as np
import tensorflow as tf
from inside import modes

with open(sys.argv[1]) as file:
    programs = json.load(file)
for name, source, parameters, convert, mode in programs:
    file = f"<case {name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    namespace = {"tf": tf, "np": np, "alive": modes.alive, "__name__": "case"}
    try:
        exec(compile(source, file, "exec"), namespace)
        inputs = [namespace[parameter] for parameter in parameters]
        if mode == "eager":
            namespace["case"](*inputs)
        else:
            case = namespace["case"]
            if convert:
                case = tf.autograph.to_graph(case)
            options = {"jit_compile": True} if mode == "xla" else {}
            modes.call_in_graph(tf, case, inputs, **options)
    except Exception:
        pass
os._exit(0)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    cases = with_a_twin(load_corpus())
    with tempfile.TemporaryDirectory() as folder:
        bare = bare_command(cases, Path(folder))
        ids = [case.id for case in cases]
        suite = [sys.executable, "-m", "conformance.cli", "run", "--quiet", "--jobs=1", *ids]
        times: dict[str, list[float]] = {"bare": [], "suite": []}
        for _ in range(rounds):
            times["bare"].append(seconds(bare, folder))
            times["suite"].append(seconds(suite, folder))
    medians = {name: statistics.median(found) for name, found in times.items()}
    ratio = medians["suite"] / medians["bare"]
    print(f"{len(cases)} cases in {len(DEFAULT_MODES['tensorflow'])} modes, {rounds} rounds")
    print(f"bare script {medians['bare']:.2f} s, gradconf run {medians['suite']:.2f} s")
    print(f"ratio {ratio:.2f} (budget {BUDGET})")


def with_a_twin(corpus: list) -> list:
    lists = read_folder(data_folder("deviations"), corpus)
    ended = {name for known in lists for one in known.entries if one.ends for name in one.cases}
    return [
        case
        for case in corpus
        if not case.isolated and case.id not in ended and not forwards_of(case)
    ]


def bare_command(cases: list, folder: Path) -> list[str]:
    programs = []
    for case in cases:
        lowered = lower(case)
        for mode in DEFAULT_MODES["tensorflow"]:
            if mode not in case.not_applicable:
                row = (case.id, lowered.source, lowered.parameters, lowered.convert, mode)
                programs.append(row)
    (folder / "programs.json").write_text(json.dumps(programs))
    (folder / "bare.py").write_text(BARE)
    script = [sys.executable, str(folder / "bare.py"), str(folder / "programs.json")]
    return [*script, str(INSIDE.parent)]


def seconds(command: list[str], folder: str) -> float:
    started = time.perf_counter()
    subprocess.run(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
    )
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
