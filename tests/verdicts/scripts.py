"""The scripts of the causes, asked of a framework: what each shows, and what the causes say of it.

python -m tests.verdicts.scripts asks every framework that is kept ready, or the versions named.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from conformance.commands.gating import our_causes
from conformance.corpus.language.case import MODES
from conformance.files import data_folder
from conformance.targets.environments import cached
from conformance.verdicts.causes import Cause, Causes
from conformance.verdicts.departure_file import read_folder

INSIDE = Path(__file__).parent / "scripts_inside.py"


@cache
def shipped() -> dict[str, Causes]:
    """The causes of the departures that gradconf ships, by their targets."""
    return our_causes(read_folder(data_folder("deviations")))


def disagreements(python: str, version: str, causes: Sequence[Cause]) -> Iterator[str]:
    """Each script that does not say of this version what the departures of its cause say.

    A script that may kill its process has one of its own: dying is departing.
    """
    said: dict[str, str] = {}
    for cause in causes:
        if cause.severity == "crash":
            said |= {cause.name: "departs"} | _said(python, [cause])
    said |= _said(python, [cause for cause in causes if cause.severity != "crash"])
    for cause in causes:
        due = "departs" if cause.holds(version, MODES) else "keeps"
        if said.get(cause.name) != due:
            yield f"{cause.name} on {version}: {said.get(cause.name, 'died')}, not {due}"


def _said(python: str, causes: Sequence[Cause]) -> dict[str, str]:
    given = json.dumps({cause.name: cause.script for cause in causes})
    done = subprocess.run([python, str(INSIDE)], input=given, capture_output=True, text=True)
    died = done.returncode != 0 and len(causes) == 1
    return {} if died else dict(map(json.loads, done.stdout.splitlines()))


if __name__ == "__main__":
    found = [
        fault
        for environment in cached()
        if environment.version in (sys.argv[1:] or environment.version)
        for fault in disagreements(
            environment.python, environment.version, shipped()[environment.framework].faults
        )
    ]
    print(*found, "falls_short" if found else "conforms", sep="\n")
    sys.exit(bool(found))
