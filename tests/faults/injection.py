"""Injects faults into runs at random moments, and checks what is left of each run.

    python -m tests.faults.injection --faults 60 --seed 1

The last line has the figures; the exit code is 1 unless all but the first are zero.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.faults.checks import CHECKS, Ended, cells_in, lines_in
from tests.faults.processes import MARK, keepers_of, left, marked, workers_of

TARGET = Path(__file__).parent.parent / "broken" / "unhurried.py"
CASES = Path(__file__).parent.parent.parent / "cases"
TOPICS = ("watching/*", "registry/no_gradient")
PART = ("watching", "registry/no_gradient/only_path")
"""The last one has a process of its own, so that workers end and start within a run."""
RECORD = "run.jsonl"
AT_ONCE = 2
PATIENCE = 120.0
"""Seconds after which a run hangs, on a machine that is busy with other things."""
BRIEF = 4.0
"""Seconds for a cell where a fault makes one wait."""


@dataclass
class Run:
    """A run of the program, while it goes; `reader` is its only one where a fault closes it."""

    host: subprocess.Popen[bytes]
    record: Path
    mark: str
    random: random.Random
    reader: int
    words: list[str]

    def keepers(self) -> list[int]:
        """The processes that the host started."""
        return keepers_of(self.mark, self.host.pid)

    def workers(self) -> list[int]:
        """The processes that answer cells."""
        return workers_of(self.mark, self.host.pid)

    def signal(self, processes: list[int], number: int) -> None:
        """Send a signal to one of these processes, if there is any."""
        with contextlib.suppress(ProcessLookupError):
            if processes:
                os.kill(self.random.choice(processes), number)


@dataclass(frozen=True)
class Fault:
    """A fault, and the exit codes that it may lead to; 0 where it came too late to matter."""

    name: str
    inject: Callable[[Run], None]
    codes: frozenset[int]
    timeout: float = PATIENCE
    closes: str = ""


def to_worker(number: int) -> Callable[[Run], None]:
    return lambda run: run.signal(run.workers(), number)


def to_keeper(number: int) -> Callable[[Run], None]:
    return lambda run: run.signal(run.keepers(), number)


def to_host(number: int) -> Callable[[Run], None]:
    return lambda run: run.host.send_signal(number)


def pause_worker(run: Run) -> None:
    """Stop a worker for longer than a cell may take; one that was starting may then go on."""
    for worker in run.workers()[:1]:
        os.kill(worker, signal.SIGSTOP)
        time.sleep(BRIEF + 1.0)
        with contextlib.suppress(ProcessLookupError):
            os.kill(worker, signal.SIGCONT)


def pause_host(run: Run) -> None:
    """Stop the host for longer than a cell may take: the answers come meanwhile."""
    run.host.send_signal(signal.SIGSTOP)
    time.sleep(BRIEF + 0.5)
    run.host.send_signal(signal.SIGCONT)


def stop_reading(run: Run) -> None:
    os.close(run.reader)


def fill_disk(run: Run) -> None:
    """Leave the host a few bytes more, which end within one of the next lines."""
    room = run.record.stat().st_size + run.random.randrange(4_000)
    with contextlib.suppress(ProcessLookupError):
        resource.prlimit(run.host.pid, resource.RLIMIT_FSIZE, (room, room))


def remove_folder(run: Run) -> None:
    shutil.rmtree(run.record.parent)


def interrupt_again_and_again(run: Run) -> None:
    """Press Ctrl-C a few times, as an impatient person does."""
    for _ in range(run.random.randint(2, 6)):
        run.host.send_signal(signal.SIGINT)
        time.sleep(run.random.uniform(0.0, 0.2))


def start_another(run: Run) -> None:
    """Start the same run once more, onto the same record: it is refused, and changes nothing."""
    done = subprocess.run(run.words, capture_output=True, text=True, check=False)
    refused = f"process {run.host.pid} is writing it" in done.stderr
    assert run.host.poll() is not None or (done.returncode == 2 and refused), done.stderr


SURVIVED, LOST_ONE = frozenset({0}), frozenset({0, 1, 4})
INTERRUPTED, UNTRUSTWORTHY = frozenset({0, 130}), frozenset({0, 4})
FAULTS = (
    Fault("worker SIGKILL", to_worker(signal.SIGKILL), LOST_ONE),
    Fault("host SIGKILL", to_host(signal.SIGKILL), frozenset({0, -signal.SIGKILL})),
    Fault("disk full", fill_disk, UNTRUSTWORTHY),
    Fault("host SIGTERM", to_host(signal.SIGTERM), INTERRUPTED),
    Fault("worker SIGSEGV", to_worker(signal.SIGSEGV), LOST_ONE),
    Fault("worker SIGTERM", to_worker(signal.SIGTERM), LOST_ONE),
    Fault("worker SIGSTOP", pause_worker, LOST_ONE, timeout=BRIEF),
    Fault("keeper SIGKILL", to_keeper(signal.SIGKILL), LOST_ONE),
    Fault("keeper SIGTERM", to_keeper(signal.SIGTERM), LOST_ONE),
    Fault("host SIGINT", to_host(signal.SIGINT), INTERRUPTED),
    Fault("host stopped and continued", pause_host, SURVIVED, timeout=BRIEF),
    Fault("stdout closed", stop_reading, SURVIVED, closes="stdout"),
    Fault("stderr closed", stop_reading, SURVIVED, closes="stderr"),
    Fault("host SIGINT burst", interrupt_again_and_again, INTERRUPTED),
    Fault("two runs at once", start_another, SURVIVED),
    Fault("folder removed", remove_folder, UNTRUSTWORTHY),
)
NONE = Fault("none", lambda run: None, SURVIVED)


def injected(fault: Fault, seed: str, place: Path) -> Ended:
    """A run that meets a fault at a moment that the seed chooses."""
    chance = random.Random(seed)
    lines = lines_in(place / "whole" / RECORD)
    base = place / seed
    base.mkdir()
    with started(fault, base, place / "cases", chance) as run:
        wait_for_moment(run, chance, len(lines))
        before = frozenset(cells_in(run.record))
        fault.inject(run)
        with contextlib.suppress(subprocess.TimeoutExpired):
            run.host.wait(PATIENCE)
        said = {name: (base / name).read_text() for name in ("stdout", "stderr")}
        outlived = left(run.mark)
        resumed = None
        if run.record.exists():
            kept = run.record.with_name(f"before-{run.record.name}")
            shutil.copy(run.record, kept)
            resumed, run.record = run.record, kept
            words = [*run.words, "--resume"]
            again = subprocess.run(words, capture_output=True, text=True, check=False)
        return Ended(
            f"{fault.name}, seed {seed}",
            -1 if run.host.returncode is None else run.host.returncode,
            run.record,
            place / "cases",
            None if fault.closes == "stdout" else said["stdout"],
            said["stderr"],
            fault.codes,
            frozenset(cells_in(place / "whole" / RECORD)),
            before,
            outlived,
            resumed,
            again.returncode if resumed else 0,
        )


@contextlib.contextmanager
def started(fault: Fault, base: Path, corpus: Path, chance: random.Random) -> Iterator[Run]:
    """A run in a folder of its own; whatever is left of it at the end is killed."""
    record = base / "out" / chance.choice([RECORD, f"{RECORD}.gz"])
    record.parent.mkdir()
    mark = uuid.uuid4().hex
    words = [sys.executable, "-m", "conformance.cli", "run", str(TARGET), *PART]
    words += ["--corpus", str(corpus), "--output", str(record)]
    words += ["--timeout", str(fault.timeout), "-j", chance.choice("12")]
    reader, writer = os.pipe()
    with (base / "stdout").open("wb") as stdout, (base / "stderr").open("wb") as stderr:
        streams = {"stdout": stdout, "stderr": stderr} | {fault.closes: writer}
        host = subprocess.Popen(
            words,
            stdout=streams["stdout"],
            stderr=streams["stderr"],
            env={**os.environ, MARK: mark} | {"LEAVES_A_DAEMON": "1"},
        )
    os.close(writer)
    try:
        yield Run(host, record, mark, chance, reader, words)
    finally:
        for process in marked(mark):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        host.wait()
        if not fault.closes:
            os.close(reader)


def wait_for_moment(run: Run, chance: random.Random, lines: int) -> None:
    """Until the record has some number of lines; now and then while the workers start."""
    at_start = chance.random() < 0.2
    wanted = 1 if at_start else chance.randint(1, max(lines, 1))
    while run.host.poll() is None and len(lines_in(run.record)) < wanted:
        time.sleep(0.01)
    time.sleep(chance.uniform(0.0, 1.0 if at_start else 0.02))


def findings(run: Ended) -> dict[str, list[str]]:
    """What each check says against a run."""
    return {what: check(run) for what, check in CHECKS.items()}


def figures(kinds: Counter[str], found: Counter[str]) -> str:
    """`faults injected: 28 (worker SIGKILL 2, ...), cells lost: 0, ...`."""
    by_kind = ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items()))
    counts = ", ".join(f"{what}: {found[what]}" for what in CHECKS)
    return f"faults injected: {kinds.total()} ({by_kind}), {counts}"


def main(words: list[str] | None = None) -> int:
    """Inject, say what was found, and end with the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--faults", type=int, default=len(FAULTS))
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(words)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
    kinds: Counter[str] = Counter()
    found: Counter[str] = Counter()
    chosen = [FAULTS[number % len(FAULTS)] for number in range(arguments.faults)]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(AT_ONCE) as pool:
        place = Path(folder)
        prepare(place)
        runs = [
            pool.submit(injected, fault, f"{arguments.seed}-{number}", place)
            for number, fault in enumerate(chosen)
        ]
        for fault, run in zip(chosen, runs, strict=True):
            kinds[fault.name] += 1
            for what, said in findings(run.result()).items():
                found[what] += len(said)
                for line in said:
                    print(f"{run.result().fault}: {what}: {line}")
    print(figures(kinds, found))
    return 1 if found.total() else 0


def prepare(place: Path) -> None:
    """A small corpus, and the record of a run of it that meets no fault."""
    for topic in TOPICS:
        for file in CASES.glob(f"{topic}.yaml"):
            (place / "cases" / file.parent.name).mkdir(parents=True, exist_ok=True)
            shutil.copy(file, place / "cases" / file.parent.name)
    with started(NONE, place, place / "cases", random.Random(0)) as run:
        if run.host.wait(PATIENCE):
            raise SystemExit(f"a run without faults ends with code {run.host.returncode}")
        (place / "whole").mkdir()
        (place / "whole" / RECORD).write_bytes(b"\n".join([*lines_in(run.record), b""]))


if __name__ == "__main__":
    sys.exit(main())
