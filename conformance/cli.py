"""The gradconf program: finds the command and gives it its words; errors become one line each."""

from __future__ import annotations

import argparse
import atexit
import gc
import importlib
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from conformance import __version__
from conformance.closing import EXIT_CODES, UsageError
from conformance.process import INTERRUPTION, give_up_output, make_lasting
from conformance.text import did_you_mean, printable, suggest

COMMANDS = {
    "run": ("run", "run cases on targets, judge them, and gate"),
    "list": ("listing", "list cases"),
    "show": ("show", "show a case, or print it as a TensorFlow script"),
    "check": ("check", "check case files, deviations and bounds"),
    "report": ("records", "show a run record as text, Markdown, JSON or JUnit"),
    "diff": ("records", "compare two run records, answer by answer"),
    "bisect": ("bisect", "find the version since which an answer is another one"),
    "coverage": ("listing", "show which claims of the contract are covered"),
    "targets": ("listing", "list what can be asked"),
    "init": ("init", "write a start for a target of your own"),
    "fuzz": ("fuzz", "draw programs that nobody wrote, and find what targets answer wrongly"),
    "mutants": ("mutants", "prove that the corpus catches wrong implementations"),
}
"""Each command's module, which has `NAME_options` and `run_NAME`, and what it is for."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; its exit code.

    Without arguments it is the whole program: it takes the process's words, streams and signals.
    With them it leaves the process as it was.
    """
    if arguments is None:
        make_lasting()
        gc.set_threshold(2_000_000, 50, 100)  # nearly all that is made is kept, and has no cycles
        atexit.register(gc.freeze)  # nor is it looked through at the end
    words = sys.argv[1:] if arguments is None else arguments
    if not words or words[0] in ("-h", "--help", "help"):
        print(_help())
        return 0 if words else EXIT_CODES["usage"]
    if words[0] in ("-V", "--version"):
        print(f"gradconf {__version__}")
        return 0
    with INTERRUPTION.heard(to_the_end=arguments is None):
        return _obeyed(words, is_program=arguments is None)


def _obeyed(words: Sequence[str], *, is_program: bool) -> int:
    try:
        parser, run = parser_of(words[0])
        given = parser.parse_intermixed_args(words[1:])
        given.command = tuple(words)
        code = run(given)
        sys.stdout.flush()
    except UsageError as error:
        return _refused(error)
    except OSError as error:  # the machine's fault, such as a full disk
        print(f"gradconf: {error}", "untrustworthy", sep="\n", file=sys.stderr)
        if is_program:
            give_up_output()
        return EXIT_CODES["untrustworthy"]
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return EXIT_CODES["interrupted"]
    return code


def parser_of(name: str) -> tuple[Parser, Callable[[argparse.Namespace], int]]:
    """The parser of a command's words, and what runs it; only its own module is imported."""
    if name not in COMMANDS:
        raise UsageError(f"no command '{name}'{suggest(name, COMMANDS)}")
    module = importlib.import_module(f"conformance.commands.{COMMANDS[name][0]}")
    run = getattr(module, f"run_{name}")
    parser = Parser(prog=f"gradconf {name}", description=run.__doc__)
    getattr(module, f"{name}_options")(parser)
    return parser, run


class Parser(argparse.ArgumentParser):
    """argparse with the nearest option named when one is misspelt, and no option shortened."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        """Say in one line what is wrong, and leave with the usage code."""
        word = message.rpartition(": ")[2].split()[0] if ": " in message else ""
        near = did_you_mean(word.split("=")[0], self._option_string_actions)
        hint = near if word.startswith("-") else ""
        raise UsageError(f"{message}{hint}; see {self.prog} --help")


def _refused(error: UsageError) -> int:
    """Say why a command ended early: a wrong usage on standard error, other ends as a report."""
    lead, stream = ("gradconf: ", sys.stderr) if error.word == "usage" else ("", sys.stdout)
    lines = [f"{lead}{printable(line)}" for line in str(error).splitlines()]
    print(*lines, error.word, sep="\n", file=stream)
    return EXIT_CODES[error.word]


def _help() -> str:
    width = max(map(len, COMMANDS))
    commands = "\n".join(f"  {name:{width}}  {about}" for name, (_, about) in COMMANDS.items())
    return (
        f"gradconf {__version__}: the conformance suite and reference oracle for gradient tapes\n\n"
        f"usage: gradconf COMMAND ...\n\n{commands}\n\n"
        "start with:  gradconf run            every case on the installed TensorFlow\n"
        "             gradconf run ./tape.py  every case on your own implementation\n"
        "             gradconf COMMAND --help"
    )


if __name__ == "__main__":
    sys.exit(main())
