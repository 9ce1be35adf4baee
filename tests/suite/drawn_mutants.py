"""Which mutants of the oracle drawn programs find: those that answer one otherwise than it does.

A program counts as in a campaign: its answers differ by the comparison of `gradconf fuzz`. No
mutant is asked for more programs than it takes to find it.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from itertools import count, islice
from pathlib import Path

from conformance.answers.answer import Answer
from conformance.asking.worker import Job, Worker
from conformance.corpus.language.case import Case
from conformance.report.building import grouped
from conformance.suite.agreement import differences
from conformance.suite.campaign import Campaign
from conformance.suite.drawing import drawn
from conformance.suite.mutation import Mutant, control, load_mutants, make
from conformance.suite.mutation_run import TIMEOUT
from conformance.suite.programs import case_of
from conformance.targets.specification import Target

DUE = 0.6
"""The share of the mutants that must be found."""
BATCHES = (50, 500, 5_000, 20_000)
"""How many programs are asked of the mutants that fewer did not find."""
AT_ONCE = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Print how many mutants of each family are found; 1 where fewer than DUE are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=BATCHES[-1])
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args(arguments)
    mutants = load_mutants()
    with tempfile.TemporaryDirectory() as folder:
        programs = drawn_cases(asked.programs, asked.seed)
        found = found_by(programs, mutants, Path(folder))
    print(told(mutants, found))
    return 0 if len(found) >= DUE * len(mutants) else 1


def drawn_cases(number: int, seed: int) -> list[Case]:
    """So many different programs of what the oracle has."""
    with closing(Campaign([], [], seed)) as campaign:
        batches = (drawn(seed, batch, campaign.admits) for batch in count())
        entries: dict[str, None] = {}
        for batch in batches:
            entries |= dict.fromkeys(batch)
            if len(entries) >= number:
                return [case_of([entry])[0] for entry in islice(entries, number)]
    raise AssertionError("batches do not end")


def found_by(
    programs: Sequence[Case], mutants: Sequence[Mutant], workshop: Path
) -> dict[str, Case]:
    """The first program that each mutant answers otherwise, by the names of the mutants."""
    due = [*_answers(control(workshop), programs)]
    left, found, start = [*mutants], dict[str, Case](), 0
    for end in BATCHES:
        part, answers = programs[start:end], due[start:end]
        first = partial(_first_wrong, part, answers, workshop)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            shown = zip(left, pool.map(first, left), strict=True)
            found |= {mutant.name: case for mutant, case in shown if case is not None}
        left = [mutant for mutant in left if mutant.name not in found]
        start = end
        print(f"{len(found)} of {len(mutants)} found by {min(end, len(programs))}", flush=True)
        if end >= len(programs):
            break
    return found


def _first_wrong(
    programs: Sequence[Case], due: Sequence[Answer], workshop: Path, mutant: Mutant
) -> Case | None:
    """The first program that a mutant answers otherwise."""
    target = make(mutant, workshop)
    try:
        with closing(_answers(target, programs)) as answers:
            for case, right, answer in zip(programs, due, answers, strict=True):
                if differences(right, answer):
                    return case
    finally:
        shutil.rmtree(workshop / mutant.name)
    return None


def _answers(target: Target, programs: Sequence[Case]) -> Generator[Answer]:
    """What a target answers in eager mode. Errors: RuntimeError where it does not start."""
    with closing(Worker(target, TIMEOUT)) as worker:
        for case in programs:
            answer = worker.ask(Job(case, "eager")).answer
            if answer.outcome == "not_run":
                raise RuntimeError(f"{target.label}: {answer.detail}")
            yield answer


def told(mutants: Sequence[Mutant], found: dict[str, Case]) -> str:
    """The share that is found, by family, and the names of the others."""
    lines = []
    for family, members in grouped(mutants, lambda mutant: mutant.family).items():
        missed = sorted(mutant.name for mutant in members if mutant.name not in found)
        lines.append(f"{family}: {len(members) - len(missed)} of {len(members)}")
        lines += [f"    not found: {', '.join(missed)}"] if missed else []
    share = len(found) / len(mutants)
    return "\n".join([*lines, f"all: {len(found)} of {len(mutants)}, {share:.0%}"])


if __name__ == "__main__":
    sys.exit(main())
