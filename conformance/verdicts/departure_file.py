"""A list of departures as a YAML file: untrusted when it is read, and written so that it diffs."""

from __future__ import annotations

import math
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np
import yaml

from conformance.answers.answer import ENDING
from conformance.answers.literals import array_of, flatten
from conformance.answers.text import steady
from conformance.answers.text import text_of as told
from conformance.answers.values import Tensor
from conformance.answers.wire import json_of
from conformance.closing import UsageError
from conformance.corpus.language.case import (
    MODES,
    Case,
    Expectation,
    ExpectedAnyOf,
    ExpectedCalls,
    ExpectedError,
    ExpectedNone,
    ExpectedRaised,
    ExpectedSeen,
    ExpectedSlices,
    ExpectedStructure,
    ExpectedTensor,
    ExpectedWatched,
    Nested,
    Scalar,
)
from conformance.corpus.language.document import (
    CaseFileError,
    Faults,
    Node,
    core_scalar,
    parse_document,
    read_document,
)
from conformance.corpus.language.expectations import ORACLE, parse_expectation
from conformance.corpus.language.literals import PYTHON_TYPES
from conformance.places import data_folder
from conformance.targets.versions import is_between
from conformance.text import clean, did_you_mean, suggest
from conformance.verdicts.departures import WARNING, Departure, Departures, Kind

KEYS = ("introduction", "target", "lacks", "departures", "asked")
TEXTS = ("since", "until", "kind", "right", "reason", "link", "first_seen", "last_seen")
SEEN = re.compile(r"\d{4}-\d\d-\d\d(, version .+)?")
WIDTH = 96
TEXT = "tag:yaml.org,2002:str"
LARGEST_LITERAL = 64
"""A tensor of more elements stands as raw data."""
NARROW = {"float32": np.float32, "bfloat16": np.float32, "float16": np.float16}
INTRODUCTION = (
    "What this target is known to fail: gradconf run TARGET --baseline THIS_FILE fails on what is "
    "worse. --update-baseline writes it, and keeps the reason that you add to an entry."
)
OLD_FORM = "baseline"
"""The key that marked a baseline of the old form, which kept printed text."""


def read_departures(path: Path, cases: Sequence[Case] | None = None) -> Departures:
    """The departures that a file lists, held against the corpus of these cases where it is given.

    Raises CaseFileError with every fault: what is malformed, and entries that match no case.
    """
    return _departures(read_document(path), cases)


def read_folder(folder: Path, cases: Sequence[Case] | None = None) -> list[Departures]:
    """The lists of a folder, held against the corpus; raises CaseFileError with every fault."""
    found, faults = [], []
    for path in sorted(folder.glob("*.yaml")):
        try:
            root = read_document(path, f"{folder.name}/{path.name}")
            found.append(_departures(root, cases))
        except CaseFileError as error:
            faults += error.faults
    if faults:
        raise CaseFileError(faults)
    return found


def lent(word: str, label: str, cases: Sequence[Case] | None = None) -> Departures:
    """The list that a word names, `tensorflow` or a file, for the target of another label.

    Errors: UsageError for a word that names none, CaseFileError as read_departures.
    """
    named = {path.stem: path for path in data_folder("deviations").glob("*.yaml")}
    path = named.get(word, Path(word))
    if not path.is_file():
        raise UsageError(f"'{clean(word)}' is no file, and no list of ours{suggest(word, named)}")
    shown_as = f"deviations/{path.name}" if word in named else None
    return _departures(read_document(path, shown_as), cases).lent_to(label)


def write_departures(path: Path, departures: Departures) -> None:
    """Replace the file whole. Raises CaseFileError where it could not be read again."""
    text = text_of(departures)
    _departures(parse_document(text, str(path)), None)
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=path.resolve().parent, prefix=path.name, delete=False
    ) as file:
        file.write(text)
    os.chmod(file.name, 0o644)
    os.replace(file.name, path)


# ----- reading -----


def _departures(root: Node, cases: Sequence[Case] | None) -> Departures:
    faults = Faults()
    given = faults.mapping(root)
    if OLD_FORM in given:
        again = f"gradconf run TARGET --baseline {root.place.file} --update-baseline"
        message = f"a baseline of the old form: move the file away and write it anew by {again}"
        faults.add(given[OLD_FORM].name_place, message)
        raise CaseFileError(faults.found)
    faults.keys(root, KEYS, required=("introduction", "target", "departures"))
    target = faults.line(given["target"]) if "target" in given else ""
    introduction = faults.text(given["introduction"]) if "introduction" in given else ""
    entries = faults.mapping(given["departures"]) if "departures" in given else {}
    found = [_departure(name, node, cases, faults) for name, node in entries.items()]
    lacks = _lines(given, "lacks", faults)
    asked = set(_asked(given["asked"], faults)) if "asked" in given else set()
    if faults.found:
        raise CaseFileError(faults.found)
    file = root.place.file
    return Departures(target, tuple(found), introduction, lacks, frozenset(asked), file)


def _lines(given: Mapping[str, Node], key: str, faults: Faults) -> tuple[str, ...]:
    items = faults.items(given[key]) if key in given else []
    return tuple(faults.line(item) for item in items)


def _asked(node: Node, faults: Faults) -> Iterator[str]:
    for topic, names in faults.mapping(node).items():
        yield from (f"{topic}/{faults.line(name)}" for name in faults.items(names))


def _departure(name: str, node: Node, cases: Sequence[Case] | None, faults: Faults) -> Departure:
    faults.keys(
        node, ("cases", "modes", "answer", "ends", *TEXTS), required=("cases", "modes", "kind")
    )
    given = faults.mapping(node)
    texts = {key: faults.text(given[key]).strip() for key in TEXTS if key in given}
    undefined = "answer" in given and given["answer"].value == "undefined"
    answers = faults.mapping(given["answer"]) if "answer" in given and not undefined else {}
    answer = {
        observed: parse_expectation(item, {}, faults, departure=True)
        for observed, item in answers.items()
    }
    ends = ""
    if "ends" in given:
        end = _end(given["ends"], faults)
        answer |= {} if isinstance(end, str) else {ENDING: end}
        ends = end if isinstance(end, str) else ""
    kind = cast("Kind", texts.pop("kind", ""))
    departure = Departure(
        name=name,
        cases=_lines(given, "cases", faults),
        modes=_lines(given, "modes", faults),
        kind=kind,
        place=node.place,
        answer=answer,
        ends=ends,
        undefined=undefined,
        **texts,
    )
    _check(departure, given, faults)
    if cases is not None:
        _check_against(departure, node, cases, faults)
    return departure


def _end(node: Node, faults: Faults) -> str | Expectation:
    """`timeout`, `crash`, `crash SIGSEGV`, `exit 3`, or the error that ended the program."""
    if node.value in ("timeout", "crash"):
        return str(node.value)
    given = faults.mapping(node)
    if "raised" in given:
        return parse_expectation(node, {}, faults, departure=True)
    if set(given) == {"crash"}:
        return f"crash {faults.line(given['crash'])}"
    if set(given) == {"exit"} and isinstance(given["exit"].value, int):
        return f"exit {given['exit'].value}"
    faults.add(node, "ends is timeout, {crash: SIGSEGV}, {exit: 3}, or {raised: ..., message: ...}")
    return ""


def _check(departure: Departure, given: Mapping[str, Node], faults: Faults) -> None:
    """What is wrong with an entry by itself."""
    kinds = get_args(Kind)
    if departure.kind and departure.kind not in kinds:
        shown = f"no kind '{departure.kind[:60]}'{suggest(departure.kind, kinds)}"
        faults.add(given["kind"], shown)
    for node in faults.items(given["modes"]) if "modes" in given else []:
        if node.value not in MODES:
            faults.add(node, f"no mode named '{node.value}'{suggest(str(node.value), MODES)}")
    if not (departure.cases and departure.modes):
        faults.add(departure.place, "names no mode or no case")
    if departure.kind != "known":
        missing = [key for key in ("right", "reason", "link") if key not in given]
        if missing:
            faults.add(departure.place, f"missing {', '.join(missing)}")
    says = "answer" in given or "ends" in given
    if departure.undefined and departure.kind != "bug":
        faults.add(departure.place, "an undefined answer is a bug")
    elif not says and departure.kind != "unsupported":
        faults.add(departure.place, "does not say what the target answers")
    for key in ("first_seen", "last_seen"):
        if key in given and not SEEN.fullmatch(getattr(departure, key)):
            faults.add(given[key], "write a date, and the version: 2026-01-31, version 1.2")
    first, last = departure.since or "0", departure.until or "999999"
    try:
        if not is_between(first, first, last):
            faults.add(departure.place, f"since {first} is after until {last}")
    except ValueError as error:
        faults.add(departure.place, str(error))


def _check_against(departure: Departure, node: Node, cases: Sequence[Case], faults: Faults) -> None:
    """What is wrong with an entry beside the corpus."""
    by_id = {case.id: case for case in cases}
    names = departure.answer.keys() - {ENDING, WARNING}
    for pattern in departure.cases:
        exact = by_id.get(pattern)
        matched = [exact] if exact else [c for c in cases if fnmatchcase(c.id, pattern)]
        if not matched:
            near = did_you_mean(pattern, by_id, cutoff=0.4)
            faults.add(node.name_place, f"{pattern} matches no case of the corpus{near}")
        for case in matched:
            for name in sorted(names - set(case.observed)):
                faults.add(node.name_place, f"{case.id} does not observe '{name}'")


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
        style = '"' if other else None
        return self.represent_scalar(TEXT, data, style=style)


class _InLine(dict[str, object]):
    """A mapping that stands in one line."""


_Dumper.add_representer(_InLine, _Dumper.in_line)
_Dumper.add_representer(list, _Dumper.listed)
_Dumper.add_representer(str, _Dumper.text)


def text_of(departures: Departures) -> str:
    """The file's text; the same list gives the same text."""
    content: dict[str, object] = {
        "introduction": departures.introduction or INTRODUCTION,
        "target": departures.target,
    }
    if departures.lacks:
        content["lacks"] = list(departures.lacks)
    content["departures"] = {entry.name: _written(entry) for entry in departures.entries}
    if departures.asked:
        topics: dict[str, list[str]] = {}
        for case_id in sorted(departures.asked):
            topic, _, name = case_id.rpartition("/")
            topics.setdefault(topic, []).append(name)
        content["asked"] = topics
    return str(yaml.dump(content, Dumper=_Dumper, width=WIDTH, allow_unicode=True, sort_keys=False))


def _written(entry: Departure) -> dict[str, object]:
    written: dict[str, object] = {"cases": list(entry.cases), "modes": list(entry.modes)}
    answer = {name: _plain(expected) for name, expected in entry.answer.items() if name != ENDING}
    ending = entry.answer.get(ENDING)
    how, _, which = entry.ends.partition(" ")
    if entry.undefined:
        written["answer"] = "undefined"
    elif answer or not (entry.ends or ending or entry.kind == "unsupported"):
        written["answer"] = answer
    if entry.ends:
        end = int(which) if how == "exit" else which
        written["ends"] = _InLine({how: end}) if which else how
    elif ending:
        written["ends"] = _plain(ending)
    return written | {key: getattr(entry, key) for key in TEXTS if getattr(entry, key)}


def _plain(expected: Expectation) -> object:
    """An expectation as YAML has it."""
    if isinstance(expected, ExpectedNone):
        return None
    if isinstance(expected, ExpectedTensor):
        return _tensor(expected)
    if isinstance(expected, ExpectedStructure):
        items = [_inside(item) for item in expected.items]
        named = _InLine(zip(expected.keys, items, strict=False))
        return _InLine({expected.kind: named if expected.kind == "dict" else items})
    if isinstance(expected, ExpectedSlices):
        parts = {"values": _tensor(expected.values), "indices": _tensor(expected.indices)}
        shape = expected.dense_shape
        known = {} if shape is None else {"dense_shape": list(shape)}
        return _InLine(indexed_slices=_InLine(parts | known))
    if isinstance(expected, ExpectedRaised):
        if not expected.type.isidentifier():
            return _inside(expected)
        return _InLine(raised=expected.type, message=steady(expected.message))
    if isinstance(expected, ExpectedError):
        texts = {"error": expected.type, "message": expected.message, "at": expected.at}
        return _InLine({key: text for key, text in texts.items() if text})
    if isinstance(expected, ExpectedAnyOf):
        return _InLine(any_of=list(map(_plain, expected.options)))
    if isinstance(expected, ExpectedCalls):
        return _InLine(calls=expected.count)
    if isinstance(expected, ExpectedWatched):
        return _InLine(watched=list(expected.names))
    return _InLine(seen=expected.text) if isinstance(expected, ExpectedSeen) else ORACLE


def _inside(expected: Expectation) -> object:
    """An expectation inside a structure, where an error is no more than its text."""
    if isinstance(expected, ExpectedRaised):
        return _InLine(seen=told(expected))
    return _plain(expected)


def _tensor(expected: ExpectedTensor) -> object:
    """A literal; raw data where it is long, or where YAML has no text for an element."""
    leaves, shape = flatten(expected.value)
    dtype = expected.dtype
    if dtype in PYTHON_TYPES:
        return _InLine(python=_scalar(leaves[0], dtype), type=dtype.removeprefix("Python "))
    if dtype and (len(leaves) > LARGEST_LITERAL or not all(map(_has_text, leaves))):
        tensor = json_of(Tensor(array_of(expected.value, dtype, expected.shape), dtype))
        return _InLine({key: tensor[key] for key in ("data", "dtype", "shape")})
    value = _nested(expected.value, dtype)
    other_shape = expected.shape is not None and expected.shape != shape
    options: dict[str, object] = {"dtype": dtype, "within": expected.within}
    options["shape"] = list(expected.shape or ()) if other_shape else None
    given = {key: option for key, option in options.items() if option is not None}
    return _InLine({"value": value, **given}) if given else value


def _has_text(leaf: Scalar) -> bool:
    if isinstance(leaf, complex):
        return math.isfinite(leaf.real) and math.isfinite(leaf.imag)
    return not isinstance(leaf, str) or leaf.isprintable()


def _nested(value: Nested, dtype: str | None) -> object:
    if isinstance(value, tuple):
        return [_nested(item, dtype) for item in value]
    return _scalar(value, dtype)


def _scalar(leaf: Scalar, dtype: str | None) -> object:
    """An element; of a narrow float the shortest number that rounds to it."""
    if isinstance(leaf, complex):
        return str(leaf).strip("()")
    if isinstance(leaf, float) and dtype in NARROW:
        return float(str(NARROW[dtype](leaf)))
    return leaf
