"""Hostile lists of departures: read, or refused with a place for every fault."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from conformance.corpus.language.document import CaseFileError
from conformance.verdicts.departure_file import (
    read_departures,
    read_folder,
    text_of,
    write_departures,
)

from .documents import UNHURRIED, bounded, cases, changed, spoiled

DEPARTURES: dict[str, Any] = {
    "introduction": "What tape gets wrong.",
    "target": "tape.py",
    "lacks": ["nn"],
    "departures": {
        "slices_are_dense": {
            "cases": ["hostile/answers/slices", "hostile/*/scalars"],
            "modes": ["eager", "graph"],
            "since": "2.5",
            "until": "2.21",
            "answer": "undefined",
            "kind": "bug",
            "right": "gradconf",
            "reason": "it reads what is not there",
            "link": "https://example.org/1",
        },
        "errors_of_another_class": {
            "cases": ["hostile/answers/errors"],
            "modes": ["eager"],
            "since": "2.5",
            "until": "2.21.0rc1",
            "answer": {"second": {"error": "ValueError", "message": "twice"}, "first": [1.0]},
            "kind": "change",
            "right": "tape",
            "reason": "the class has changed",
            "link": "https://example.org/2",
        },
        "known": {
            "cases": ["hostile/answers/errors"],
            "modes": ["graph"],
            "answer": {
                "first": {"data": "AACAPwAAAEA=", "dtype": "float32", "shape": [2]},
                "second": {"raised": "ValueError", "message": "no"},
            },
            "ends": {"raised": "TypeError", "message": "at the end"},
            "kind": "known",
            "first_seen": "2026-01-31, version 0.3",
            "last_seen": "2026-02-28",
        },
        "dies": {
            "cases": ["hostile/answers/slices"],
            "modes": ["xla"],
            "ends": {"crash": "SIGSEGV"},
            "kind": "known",
        },
    },
    "asked": {"hostile/answers": ["slices", "errors"]},
}
HOSTILE_TEXT = (
    "!!python/object/apply:os.system [exit]",
    "&a [*a, *a]",
    "<<: {}",
    "- " * 60,
    "\x00",
)


def written(document: object, path: Path, ending: str) -> Path:
    """The document as a file (JSON is YAML), with some text at its end."""
    path.write_bytes(f"{json.dumps(document)}\n{ending}".encode("utf-8", "surrogatepass"))
    return path


def check_faults(error: CaseFileError, name: str) -> None:
    assert error.faults
    for fault in error.faults:
        assert fault.place.file.endswith(name)
        assert fault.place.line >= 1
        assert str(fault).isprintable()


endings = st.just("") | st.sampled_from(HOSTILE_TEXT)


@UNHURRIED
@given(document=changed(DEPARTURES), ending=endings)
def test_a_changed_list_is_read_or_refused(tmp_path: Path, document: Any, ending: str) -> None:
    with bounded():
        check_list(written(document, tmp_path / "tape.yaml", ending))


@UNHURRIED
@given(spoiled(yaml.safe_dump(DEPARTURES, sort_keys=False).encode()))
def test_a_spoiled_list_is_read_or_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "tape.yaml"
    path.write_bytes(data)
    with bounded():
        check_list(path)


def check_list(path: Path) -> None:
    """Faults with their places, or departures that can be written and read again."""
    try:
        (found,) = read_folder(path.parent, cases())
    except CaseFileError as error:
        check_faults(error, "tape.yaml")
        return
    for entry in found.entries:
        version = entry.since or "1"
        assert any(entry in found.covering(version, case.id, entry.modes[0]) for case in cases())
    write_departures(path, found)
    assert text_of(read_departures(path, cases())) == text_of(found)
