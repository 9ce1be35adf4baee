"""Departures: what is known to differ, each with the answer that is given instead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from conformance.corpus.language.case import Expectation, Place

Kind: TypeAlias = Literal["bug", "change", "limit", "unsupported", "convention", "known"]
"""`known` is what --update-baseline writes: nobody has judged it, and it is not strict."""


@dataclass(frozen=True)
class Departure:
    """What a target answers instead in some cases and modes, from version `since` to `until`.

    Both versions are included; "2.21" as `until` covers 2.21.1, and as `since` it does not cover
    2.21.0rc0; an empty one is no bound. `answer` is what the target gives for the names that
    depart; the other names conform. `ends` is how the process ended instead: `crash SIGSEGV`,
    `timeout` or `exit 3`. `undefined` says that the target reads memory that is not its own: any
    answer, a crash included, and even a right one, is covered. An `unsupported` departure may
    leave all three out: then any error of the departing names is covered.

    `right` says who is right, `reason` why, `link` leads to the issue; `first_seen` and
    `last_seen` are a date and the version of the target.
    """

    name: str
    target: str
    cases: tuple[str, ...]
    modes: tuple[str, ...]
    kind: Kind
    place: Place
    answer: Mapping[str, Expectation] = field(default_factory=dict)
    ends: str = ""
    undefined: bool = False
    since: str = ""
    until: str = ""
    right: str = ""
    reason: str = ""
    link: str = ""
    first_seen: str = ""
    last_seen: str = ""
