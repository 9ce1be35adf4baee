"""`gradconf init`: a tape that runs, for a target of one's own to begin with."""

from __future__ import annotations

import argparse
from pathlib import Path

from conformance.closing import EXIT_CODES, UsageError
from conformance.files import data_folder
from conformance.text import clean

START = data_folder("examples") / "tinytape" / "tinytape.py"
"""The tape on NumPy that docs/target.md gates, with what it lacks declared."""
NEXT = """\
{file}: a tape on NumPy that runs, and says what it lacks: put yours in its place
  gradconf run ./{file} --baseline {known} --update-baseline
  gradconf run ./{file} --baseline {known}
The first writes down what departs today; the second is the gate: what is new fails.
docs/target.md says what a target needs, name by name."""


def init_options(parser: argparse.ArgumentParser) -> None:
    """The options of `gradconf init`."""
    parser.add_argument("file", metavar="FILE.py", type=Path, help="the file to write")


def run_init(arguments: argparse.Namespace) -> int:
    """Write a start for a target of your own: a small tape on NumPy that runs.

    A file that is there is left alone.
    """
    path: Path = arguments.file
    if path.suffix != ".py":
        raise UsageError(
            f"{clean(str(path))}: a target is a file of Python: name it {path.stem}.py"
        )
    text = START.read_text(encoding="utf-8").replace("tinytape: a", f"{path.stem}: a", 1)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise UsageError(f"{clean(str(path))}: it is there: name a new file") from error
    except OSError as error:
        raise UsageError(f"{clean(str(path))}: {error.strerror}: name a file to write") from error
    print(NEXT.format(file=clean(str(path)), known=clean(str(path.with_suffix(".yaml")))))
    print("conforms")
    return EXIT_CODES["conforms"]
