"""How a command ends: its closing word, the exit code of each, and the error of a wrong usage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

Word: TypeAlias = Literal[
    "conforms", "falls_short", "usage", "nothing_ran", "untrustworthy", "no_target", "interrupted"
]
EXIT_CODES: Mapping[Word, int] = {
    "conforms": 0,
    "falls_short": 1,
    "usage": 2,
    "nothing_ran": 3,
    "untrustworthy": 4,
    "no_target": 5,
    "interrupted": 130,
}


class UsageError(Exception):
    """What a user wrote cannot be obeyed; the message says what to write instead, one line each."""

    word: Word = "usage"
