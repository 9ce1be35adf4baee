"""What commands say beside their reports."""

from __future__ import annotations

import sys

from conformance.closing import EXIT_CODES, Word


def say(line: str) -> None:
    """Tell of what takes long, where no report is disturbed."""
    print(line, file=sys.stderr)


def ended(why: str, word: Word) -> int:
    """Say why nothing runs, and the closing word; its exit code."""
    print(why, word, sep="\n")
    return EXIT_CODES[word]
