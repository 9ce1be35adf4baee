"""The gradconf program: finds the command and gives it its words; errors become one line each."""

from __future__ import annotations

import argparse
import importlib
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from conformance import __version__
from conformance.closing import EXIT_CODES, UsageError
from conformance.streams import give_up_output, make_lasting
from conformance.text import did_you_mean, suggest

COMMANDS = {
    "run": "run cases on targets, judge them, and gate",
    "list": "list cases",
    "show": "show a case, or print it as a TensorFlow script",
    "check": "check case files, deviations and bounds",
    "report": "show a run record as text, Markdown, JSON or JUnit",
    "diff": "compare two run records, answer by answer",
    "bisect": "find the version since which an answer is another one",
    "coverage": "show which lines of the contract have a case",
    "targets": "list what can be asked",
    "mutants": "prove that the corpus catches wrong implementations",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; its exit code. Without arguments it is a program, and has its streams."""
    if arguments is None:
        make_lasting()
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or words[0] in ("-h", "--help", "help"):
        print(_help())
        return 0 if words else EXIT_CODES["usage"]
    if words[0] in ("-V", "--version"):
        print(f"gradconf {__version__}")
        return 0
    if words[0] not in COMMANDS:
        return _refused([f"no command '{words[0]}'{suggest(words[0], COMMANDS)}"])
    return _obey(words[0], words[1:])


def _obey(name: str, words: Sequence[str]) -> int:
    try:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        command = importlib.import_module(f"conformance.commands.{name}")
        parser = Parser(prog=f"gradconf {name}", description=command.__doc__, allow_abbrev=False)
        command.add_arguments(parser)
        code: int = command.run(parser.parse_intermixed_args(words))
        sys.stdout.flush()
    except UsageError as error:
        return _refused(str(error).splitlines())
    except OSError as error:  # the machine's fault, such as a full disk
        print(f"gradconf: {error}", "untrustworthy", sep="\n", file=sys.stderr)
        give_up_output()
        return EXIT_CODES["untrustworthy"]
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return EXIT_CODES["interrupted"]
    return code


class Parser(argparse.ArgumentParser):
    """argparse with the nearest option named when one is misspelt."""

    def error(self, message: str) -> NoReturn:
        """Say in one line what is wrong, and leave with the usage code."""
        word = message.rpartition(": ")[2].split()[0] if ": " in message else ""
        near = did_you_mean(word.split("=")[0], self._option_string_actions)
        hint = near if word.startswith("-") else ""
        raise UsageError(f"{message}{hint}; see {self.prog} --help")


def _refused(lines: Sequence[str]) -> int:
    for line in lines:
        print(f"gradconf: {line}", file=sys.stderr)
    print("usage", file=sys.stderr)
    return EXIT_CODES["usage"]


def _help() -> str:
    width = max(map(len, COMMANDS))
    commands = "\n".join(f"  {name:{width}}  {about}" for name, about in COMMANDS.items())
    return (
        f"gradconf {__version__}: the conformance suite and reference oracle for gradient tapes\n\n"
        f"usage: gradconf COMMAND ...\n\n{commands}\n\n"
        "start with:  gradconf run            every case on the installed TensorFlow\n"
        "             gradconf run ./tape.py  every case on your own implementation\n"
        "             gradconf COMMAND --help"
    )


if __name__ == "__main__":
    sys.exit(main())
