"""What a confined program reaches: runs statements in a worker, and prints what came of each.

python -m tests.drivers.trying '{"target": "...", "limits": {...}, "statements": [...]}'
"""

from __future__ import annotations

import json
import sys
from textwrap import indent

from conformance.asking.session import Session, WorkerCrashed
from conformance.drivers import Limits
from conformance.targets.specification import parse_target

PROGRAM = """
def case():
    import os, socket, tempfile, time
    try:
{statement}
    except BaseException as error:
        found = type(error).__name__
    return {{'found': found}}
"""


def tried(target: str, limits: dict, statements: list[str]) -> dict:
    """What a worker says of itself, and what each statement binds to `found`, or raises."""
    session = Session(parse_target(target), Limits(**limits))
    about = session.start()
    found = []
    for statement in statements:
        source = PROGRAM.format(statement=indent(statement, " " * 8))
        request = {"cell": 1, "name": "a/b/c", "source": source, "parameters": [], "convert": False}
        request |= {"mode": "eager", "observe": ["found"], "isolated": True}
        try:
            reply = session.ask(request, 30.0)
            found.append(reply["observations"]["found"].get("value", ""))
        except WorkerCrashed as crash:
            found.append(str(crash))
            session.start()
    session.close()
    return {"confined": about["confined"], "found": found}


if __name__ == "__main__":
    print(json.dumps(tried(**json.loads(sys.argv[1]))))
