"""A baseline's file: YAML that a person can read and review, untrusted when it is read."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import cast

from conformance.answers.mismatch import ORDER
from conformance.corpus.language.case import MODES
from conformance.corpus.language.document import (
    CaseFileError,
    Faults,
    Node,
    parse_document,
    read_document,
)
from conformance.text import did_you_mean, suggest
from conformance.verdicts.baseline import Baseline, Entry, Key
from conformance.verdicts.judge import Verdict
from conformance.verdicts.results import SHORTFALLS

FORMAT = 1
KEYS = ("baseline", "target", "lacks", "known", "asked")
ENTRY_KEYS = ("verdict", "class", "answer", "first_seen", "last_seen", "reason")
REQUIRED = ("verdict", "first_seen", "last_seen")
SEEN = re.compile(r"\d{4}-\d\d-\d\d(, version .+)?")
WIDTH = 100
HEAD = """\
# The known shortfalls of one target: gradconf run TARGET --baseline THIS_FILE fails on what is
# worse. Written by --update-baseline, which keeps the `reason` that you may add to an entry.
"""


def read_baseline(path: Path, corpus: Iterable[str]) -> Baseline:
    """The baseline of a file, held against the ids of the corpus.

    Raises CaseFileError with every fault: what is malformed, and entries that match no case.
    """
    return _baseline(read_document(path), sorted(corpus))


def write_baseline(path: Path, baseline: Baseline) -> None:
    """Replace the file whole. Raises CaseFileError where it would be too long to be read again."""
    text = text_of(baseline)
    ids = {case for case, _ in baseline.entries} | baseline.cases
    _baseline(parse_document(text, str(path)), sorted(ids))
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=path.resolve().parent, prefix=path.name, delete=False
    ) as file:
        file.write(text)
    os.chmod(file.name, 0o644)
    os.replace(file.name, path)


# ----- reading -----


def _baseline(root: Node, corpus: Sequence[str]) -> Baseline:
    faults = Faults()
    faults.keys(root, KEYS, required=KEYS)
    given = faults.mapping(root)
    if "baseline" in given and given["baseline"].value != FORMAT:
        faults.add(given["baseline"], f"a baseline of another format than {FORMAT}")
    target = faults.line(given["target"]) if "target" in given else ""
    lacks = faults.items(given["lacks"]) if "lacks" in given else []
    entries = dict(_entries(given["known"], corpus, faults)) if "known" in given else {}
    asked = set(_asked(given["asked"], faults)) if "asked" in given else set()
    names = tuple(faults.line(item) for item in lacks)
    if faults.found:
        raise CaseFileError(faults.found)
    return Baseline(target, entries, frozenset(asked | {case for case, _ in entries}), names)


def _asked(node: Node, faults: Faults) -> Iterator[str]:
    for topic, names in faults.mapping(node).items():
        yield from (f"{topic}/{faults.line(name)}" for name in faults.items(names))


def _entries(node: Node, corpus: Sequence[str], faults: Faults) -> Iterator[tuple[Key, Entry]]:
    known = set(corpus)
    for case, by_mode in faults.mapping(node).items():
        if case not in known:
            meant = did_you_mean(case, corpus, cutoff=0.4)
            message = f"no case of the corpus has this id{meant}: rename the entry or remove it"
            faults.add(by_mode.name_place, message)
        for mode, entry in faults.mapping(by_mode).items():
            if mode not in MODES:
                faults.add(entry.name_place, f"no mode named '{mode[:60]}'{suggest(mode, MODES)}")
            yield (case, mode), _entry(entry, faults)


def _entry(node: Node, faults: Faults) -> Entry:
    faults.keys(node, ENTRY_KEYS, required=REQUIRED)
    given = faults.mapping(node)

    def line(key: str) -> str:
        return faults.line(given[key]) if key in given else ""

    answer = faults.items(given["answer"]) if "answer" in given else []
    entry = Entry(
        cast("Verdict", line("verdict")),
        line("class"),
        tuple(faults.line(item) for item in answer),
        line("first_seen"),
        line("last_seen"),
        line("reason"),
    )
    for key, value, closed in (
        ("verdict", entry.verdict, SHORTFALLS),
        ("class", entry.kind, ORDER),
    ):
        if value and value not in closed:
            faults.add(given[key], f"no {key} '{value[:60]}'{suggest(value, closed)}")
    for key in ("first_seen", "last_seen"):
        if line(key) and not SEEN.fullmatch(line(key)):
            faults.add(given[key], "write a date, and the version: 2026-01-31, version 1.2")
    return entry


# ----- writing -----


def text_of(baseline: Baseline) -> str:
    """The file's text; it ends with a newline, and the same baseline gives the same text."""
    return HEAD + "\n".join(_lines(baseline)) + "\n"


def _lines(baseline: Baseline) -> Iterator[str]:
    yield f"baseline: {FORMAT}"
    yield f"target: {_quoted(baseline.target)}"
    yield from _flow("lacks", baseline.lacks, "")
    yield "known:" if baseline.entries else "known: {}"
    last = ""
    for (case, mode), entry in sorted(baseline.entries.items(), key=_place):
        if case != last:
            yield f"  {case}:"
        last = case
        yield f"    {mode}:"
        yield from (f"      {line}" for line in _entry_lines(entry))
    yield from _asked_lines(baseline)


def _place(item: tuple[Key, Entry]) -> tuple[str, int]:
    (case, mode), _ = item
    return case, MODES.index(mode)


def _entry_lines(entry: Entry) -> Iterator[str]:
    yield f"verdict: {entry.verdict}"
    if entry.kind:
        yield f"class: {_quoted(entry.kind)}"
    if entry.answer:
        yield "answer:"
        yield from (f"  - {_quoted(line)}" for line in entry.answer)
    yield f"first_seen: {_quoted(entry.first_seen)}"
    yield f"last_seen: {_quoted(entry.last_seen)}"
    if entry.reason:
        yield f"reason: {_quoted(entry.reason)}"


def _asked_lines(baseline: Baseline) -> Iterator[str]:
    yield "# Every case that the target was asked; any other one is a new case."
    yield "asked:" if baseline.cases else "asked: {}"
    topics: dict[str, list[str]] = {}
    for case in sorted(baseline.cases):
        topic, _, name = case.rpartition("/")
        topics.setdefault(topic, []).append(name)
    for topic, names in topics.items():
        yield from _flow(topic, names, "  ")


def _flow(key: str, items: Sequence[str], indent: str) -> Iterator[str]:
    """A list in brackets, over as many lines as it needs."""
    line = f"{indent}{key}: ["
    for position, item in enumerate(items):
        comma = "," if position < len(items) - 1 else "]"
        word = f"{_quoted(item)}{comma}"
        if len(line) + len(word) + 1 > WIDTH and position:
            yield line
            line = f"{indent}  "
        line += word if line.endswith("[") or not line.strip() else f" {word}"
    yield line if items else f"{line}]"


def _quoted(text: str) -> str:
    """A text as YAML reads it back: plain where that is certain, else in double quotes."""
    plain = re.fullmatch(r"[A-Za-z_][\w./ -]*[\w.)]|[A-Za-z_]", text, re.ASCII)
    words = ("null", "true", "false")
    if plain and text.lower() not in words:
        return text
    return json.dumps(text, ensure_ascii=False)
