"""A list of departures as a YAML file: untrusted when it is read, and written so that it diffs."""

from __future__ import annotations

import fnmatch
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np
import yaml

from conformance.answers.answer import ENDING, Tensor
from conformance.answers.literals import array_of, flatten
from conformance.answers.text import steady
from conformance.answers.text import text_of as line_of
from conformance.answers.wire import json_of
from conformance.closing import UsageError
from conformance.corpus.language import case as language
from conformance.corpus.language.case import MODES, Case, Expectation, ExpectedTensor, Nested
from conformance.corpus.language.document import (
    Limits,
    Node,
    core_scalar,
    parse_document,
    read_all,
    read_document,
)
from conformance.corpus.language.expectations import WORDS, parse_expectation
from conformance.corpus.language.literals import PYTHON_TYPES
from conformance.corpus.moves import ids_of_today, names_of_today
from conformance.files import data_folder, write_whole
from conformance.targets.releases import is_between, version_key
from conformance.text import clean, did_you_mean, suggest
from conformance.verdicts.departures import WARNING, Departure, Departures, Kind

KEYS = ("introduction", "target", "newest", "lacks", "departures", "asked")
TEXTS = ("since", "until", "kind", "right", "reason", "link", "first_seen", "last_seen")
SEEN = re.compile(r"\d{4}-\d\d-\d\d(, version .+)?")
WIDTH = 96
TEXT = "tag:yaml.org,2002:str"
LIMITS = Limits(bytes=16_000_000, values=500_000)
"""A target that fails all cells has a line of 400 bytes for each, and tensors stand whole."""
LARGEST_LITERAL = 64
"""A tensor of more elements stands as raw data."""
HELD_AS = {"float32": np.float32, "bfloat16": np.float32, "float16": np.float16}
INTRODUCTION = (
    "What this target is known to fail: gradconf run TARGET --baseline THIS_FILE fails on what is "
    "worse. --update-baseline writes it, and keeps the reason that you add to an entry."
)
CAUSES = "causes"
"""The folder beside our lists: a file for each says what its departures have in common."""
OLD_FORM = "baseline"
"""The key that marked a baseline of the old form, which kept printed text."""


def read_departures(
    path: Path, cases: Sequence[Case] | None = None, shown_as: str | None = None
) -> Departures:
    """The departures that a file lists, held against the corpus of these cases where it is given.

    Raises CaseFileError with every fault: what is malformed, and entries that match no case.
    """
    return _departures(read_document(path, shown_as, LIMITS), cases)


def read_folder(folder: Path, cases: Sequence[Case] | None = None) -> list[Departures]:
    """The lists of a folder, held against the corpus; raises CaseFileError with every fault."""
    files = _lists(folder).values()
    return read_all(files, lambda file: read_departures(file, cases, f"{folder.name}/{file.name}"))


def _lists(folder: Path) -> dict[str, Path]:
    """The lists of a folder by their names."""
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def lent(word: str, label: str, cases: Sequence[Case] | None = None) -> Departures:
    """The list that a word names, `tensorflow` or a file, for the target of another label.

    Errors: UsageError for a word that names none, CaseFileError as read_departures.
    """
    named = _lists(data_folder("deviations"))
    path = named.get(word, Path(word))
    if not path.is_file():
        raise UsageError(f"'{clean(word)}' is no file, and no list of ours{suggest(word, named)}")
    shown_as = f"deviations/{path.name}" if word in named else None
    return read_departures(path, cases, shown_as).lent_to(label)


def write_departures(path: Path, departures: Departures) -> None:
    """Replace the file whole. Raises CaseFileError where it could not be read again."""
    text = text_of(departures)
    _departures(parse_document(text, str(path), LIMITS), None)
    write_whole(path, text)


# ----- reading -----


def _departures(root: Node, cases: Sequence[Case] | None) -> Departures:
    given = root.mapping()
    if OLD_FORM in given:
        again = f"gradconf run TARGET --baseline {root.place.file} --update-baseline"
        message = f"a baseline of the old form: move the file away and write it anew by {again}"
        given[OLD_FORM].fault_of_name(message)
        root.finish()
    root.keys(KEYS, required=("introduction", "target", "departures"))
    corpus = {case.id: case for case in cases or ()}
    moved = ids_of_today(corpus.values())
    target, entries = root.read("target", Node.line), root.read("departures", Node.mapping) or {}
    found = Departures(
        target or "",
        tuple(_entry(name, node, corpus) for name, node in entries.items()),
        root.read("introduction", Node.text) or "",
        root.read("lacks", Node.lines) or (),
        frozenset(moved.get(id, id) for id in root.read("asked", _asked) or ()),
        root.place.file,
        root.read("newest", _version) or "",
    )
    root.finish()
    return found


def _version(node: Node) -> str:
    version = node.line()
    try:
        version_key(version)
    except ValueError as error:
        node.fault(str(error))
    return version


def _asked(node: Node) -> tuple[str, ...]:
    topics = node.mapping().items()
    return tuple(f"{topic}/{name}" for topic, names in topics for name in names.lines())


def _entry(name: str, node: Node, corpus: Mapping[str, Case]) -> Departure:
    """An entry, held against the corpus where it is known."""
    keys = ("cases", "modes", "answer", "ends", *TEXTS)
    node.keys(keys, required=("cases", "modes", "kind"))
    given = node.mapping()
    texts = {key: given[key].text().strip() for key in TEXTS if key in given}
    undefined = "answer" in given and given["answer"].value == "undefined"
    answer = {} if undefined else node.read("answer", _answer) or {}
    ends = node.read("ends", _end) or ""
    departure = Departure(
        name=name,
        cases=tuple(names_of_today(node.read("cases", Node.lines) or (), corpus)),
        modes=node.read("modes", Node.lines) or (),
        kind=cast("Kind", texts.pop("kind", "")),
        place=node.place,
        answer=answer if isinstance(ends, str) else {**answer, ENDING: ends},
        ends=ends if isinstance(ends, str) else "",
        undefined=undefined,
        **texts,
    )
    for key, message in _faults(departure, given):
        given.get(key, node).fault(message)
    for message in _unknown(departure, corpus) if corpus else ():
        node.fault_of_name(message)
    return departure


def _unknown(departure: Departure, corpus: Mapping[str, Case]) -> Iterator[str]:
    """What the corpus does not know."""
    names = sorted(departure.answer.keys() - {ENDING, WARNING})
    for pattern in departure.cases:
        ids = [pattern] if pattern in corpus else fnmatch.filter(corpus, pattern)
        if not ids:
            near = did_you_mean(pattern, corpus, cutoff=0.4)
            yield f"{pattern} matches no case of the corpus{near}"
        for case_id in ids:
            for name in names:
                if name not in corpus[case_id].observed:
                    yield f"{case_id} does not observe '{name}'"


def _answer(node: Node) -> dict[str, Expectation]:
    named = node.mapping().items()
    return {name: parse_expectation(item, {}, departure=True) for name, item in named}


def _end(node: Node) -> str | Expectation:
    """`timeout`, `crash`, `crash SIGSEGV`, `exit 3`, or the error that ended the program."""
    if node.value in ("timeout", "crash"):
        return str(node.value)
    given = node.mapping()
    if "raised" in given or "error" in given:
        return parse_expectation(node, {}, departure=True)
    if set(given) == {"crash"}:
        return f"crash {given['crash'].line()}"
    if set(given) == {"exit"} and isinstance(given["exit"].value, int):
        return f"exit {given['exit'].value}"
    node.fault("ends is timeout, {crash: SIGSEGV}, {exit: 3}, or {error: ..., message: ...}")
    return ""


def _faults(departure: Departure, given: Mapping[str, Node]) -> Iterator[tuple[str, str]]:
    """What is wrong with an entry by itself, and under which key."""
    kind, since, until = departure.kind, departure.since or "0", departure.until or "999999"
    if kind and kind not in get_args(Kind):
        yield "kind", f"no kind '{kind[:60]}'{suggest(kind, get_args(Kind))}"
    for mode in departure.modes:
        if mode not in MODES:
            yield "modes", f"no mode named '{mode[:60]}'{suggest(mode, MODES)}"
    if not (departure.cases and departure.modes):
        yield "", "names no mode or no case"
    missing = [key for key in ("right", "reason", "link") if key not in given]
    if missing and kind != "known":
        yield "", f"missing {', '.join(missing)}"
    if departure.undefined and kind != "bug":
        yield "answer", "an undefined answer is a bug"
    says = departure.undefined or departure.answer or departure.ends
    if not says and not (kind == "known" and "answer" in given):
        yield "", "does not say what the target answers"
    for key in ("first_seen", "last_seen"):
        if key in given and not SEEN.fullmatch(getattr(departure, key)):
            yield key, "write a date, and the version: 2026-01-31, version 1.2"
    try:
        if not is_between(since, since, until):
            yield "", f"since {since} is after until {until}"
    except ValueError as error:
        yield "", str(error)


# ----- writing -----


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """Writes lists, and mappings marked as _InLine, in one line; texts so that they stay texts."""

    def ignore_aliases(self, data: object) -> bool:
        return True

    def in_line(self, data: _InLine) -> Any:
        return self.represent_mapping("tag:yaml.org,2002:map", data.items(), flow_style=True)

    def listed(self, data: list[object]) -> Any:
        return self.represent_sequence("tag:yaml.org,2002:seq", data, flow_style=True)

    def text(self, data: str) -> Any:
        other = self.resolve(yaml.ScalarNode, data, (True, False)) != TEXT
        other = other or core_scalar(data) != data or not data.isprintable() or "'" in data
        return self.represent_scalar(TEXT, data, style='"' if other else None)


class _InLine(dict[str, object]):
    """A mapping that stands in one line."""


_Dumper.add_representer(_InLine, _Dumper.in_line)
_Dumper.add_representer(list, _Dumper.listed)
_Dumper.add_representer(str, _Dumper.text)


def text_of(departures: Departures) -> str:
    """The file's text; the same list gives the same text."""
    topics: dict[str, list[str]] = {}
    for case_id in sorted(departures.asked):
        topic, _, name = case_id.rpartition("/")
        topics.setdefault(topic, []).append(name)
    content = {
        "introduction": departures.introduction or INTRODUCTION,
        "target": departures.target,
        "newest": departures.newest,
        "lacks": list(departures.lacks),
        "departures": {entry.name: _written(entry) for entry in departures.entries},
        "asked": topics,
    }
    kept = {key: content[key] for key in KEYS if content[key] or key == "departures"}
    return str(yaml.dump(kept, Dumper=_Dumper, width=WIDTH, allow_unicode=True, sort_keys=False))


def _written(entry: Departure) -> dict[str, object]:
    written: dict[str, object] = {"cases": list(entry.cases), "modes": list(entry.modes)}
    answer = {name: _plain(expected) for name, expected in entry.answer.items() if name != ENDING}
    ending = entry.answer.get(ENDING)
    how, _, which = entry.ends.partition(" ")
    if entry.undefined:
        written["answer"] = "undefined"
    elif answer or not (entry.ends or ending):
        written["answer"] = answer
    if entry.ends:
        end = int(which) if how == "exit" else which
        written["ends"] = _InLine({how: end}) if which else how
    elif ending:
        written["ends"] = _plain(ending)
    return written | {key: getattr(entry, key) for key in TEXTS if getattr(entry, key)}


def _plain(expected: Expectation) -> object:
    """An expectation as YAML has it."""
    match expected:
        case language.ExpectedNone():
            return None
        case language.ExpectedTensor():
            return _tensor(expected)
        case language.ExpectedStructure("dict", items, keys):
            return _InLine(dict=_InLine(zip(keys, map(_inside, items), strict=True)))
        case language.ExpectedStructure(kind, items):
            return _InLine({kind: list(map(_inside, items))})
        case language.ExpectedSlices(values, indices, shape):
            parts = _InLine(values=_tensor(values), indices=_tensor(indices))
            known = {} if shape is None else {"dense_shape": list(shape)}
            return _InLine(indexed_slices=_InLine(parts | known))
        case language.ExpectedRaised(kind, message) if kind.isidentifier():
            return _InLine(raised=kind, message=steady(message))
        case language.ExpectedError(kind, message, at):
            texts = {"error": kind, "message": message, "at": at}
            return _InLine({key: text for key, text in texts.items() if text})
        case language.ExpectedAnyOf(options):
            return _InLine(any_of=list(map(_plain, options)))
        case language.ExpectedCalls(count):
            return _InLine(calls=count)
        case language.ExpectedWatched(names):
            return _InLine(watched=list(names))
        case language.ExpectedOracle() | language.ExpectedDerivative() | language.ExpectedSurvey():
            return next(word for word, meant in WORDS.items() if meant == expected)
    return _InLine(seen=line_of(expected))


def _inside(expected: Expectation) -> object:
    """An expectation inside a structure, where an error is no more than its text."""
    is_error = isinstance(expected, language.ExpectedRaised)
    return _InLine(seen=line_of(expected)) if is_error else _plain(expected)


def _tensor(expected: ExpectedTensor) -> object:
    """A literal; raw data where it is long, or where YAML has no text for an element."""
    leaves, shape = flatten(expected.value)
    dtype = expected.dtype
    if dtype in PYTHON_TYPES:
        return _InLine(python=_nested(leaves[0], dtype), type=dtype.removeprefix("Python "))
    if dtype and (len(leaves) > LARGEST_LITERAL or not all(map(_has_text, leaves))):
        tensor = json_of(Tensor(array_of(expected.value, dtype, expected.shape), dtype))
        raw = {key: tensor[key] for key in ("data", "dtype", "shape")}
        return _InLine(raw | ({"numpy": True} if expected.numpy else {}))
    value = _nested(expected.value, dtype)
    options = {
        "dtype": dtype,
        "within": expected.within,
        "shape": None if expected.shape in (None, shape) else list(expected.shape or ()),
        "cancels": _InLine(asdict(expected.cancels)) if expected.cancels else None,
        "dense": expected.dense or None,
        "numpy": expected.numpy or None,
    }
    given = {key: option for key, option in options.items() if option is not None}
    return _InLine({"value": value, **given}) if given else value


def _has_text(leaf: Nested) -> bool:
    if isinstance(leaf, complex):
        return math.isfinite(leaf.real) and math.isfinite(leaf.imag)
    return not isinstance(leaf, str) or leaf.isprintable()


def _nested(value: Nested, dtype: str | None) -> object:
    """Elements as YAML has them; of a narrow float the shortest number that rounds to it."""
    if isinstance(value, tuple):
        return [_nested(item, dtype) for item in value]
    if isinstance(value, complex):
        return str(value).strip("()")
    if isinstance(value, float) and dtype in HELD_AS:
        return float(str(HELD_AS[dtype](value)))
    return value
