"""Hostile caches: what they remember is read, or made again, and never a traceback."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from conformance.corpus.index import cache_file, summaries
from conformance.corpus.kept import cases_of
from conformance.targets.environments import MARKER, cached
from tests.cases import UNCONNECTED, make_corpus

from .documents import UNHURRIED, bounded, changed, spoiled

NOBODY = 65534
MARKED = {
    "format": 1,
    "version": "2.21.0",
    "interpreter": [sys.executable, [3, 12, 1]],
    "requirements": ["tensorflow==2.21.0"],
}


def spoiled_or_changed(document: Any) -> st.SearchStrategy[bytes]:
    """The text of a document, spoiled, or that of the document changed."""
    text = changed(document).map(lambda found: json.dumps(found).encode())
    return spoiled(json.dumps(document).encode()) | text


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GRADCONF_CACHE", str(tmp_path / "cache"))
    return make_corpus(tmp_path, unconnected__other=UNCONNECTED)


@UNHURRIED
@given(data=st.data())
def test_a_spoiled_index_is_read_or_made_again(corpus: Path, data: st.DataObject) -> None:
    cache_file().unlink(missing_ok=True)
    summaries(corpus)
    spoilt = data.draw(spoiled_or_changed(json.loads(cache_file().read_bytes())))
    cache_file().write_bytes(spoilt)
    with bounded():
        found = summaries(corpus)
    for summary in found:
        for text in (summary.id, summary.title, summary.file, *summary.tags):
            assert text.isprintable()


@UNHURRIED
@given(data=st.data())
def test_spoiled_cases_are_taken_or_read_again(corpus: Path, data: st.DataObject) -> None:
    file = corpus / "basics" / "squares.yaml"
    due = cases_of(file, corpus)
    (place,) = (cache_file().parent / "cases").iterdir()
    key, body = place.read_bytes()[:32], place.read_bytes()[64:]
    spoilt = data.draw(spoiled(body))
    place.write_bytes(key + hashlib.sha256(spoilt).digest() + spoilt)
    with bounded():
        found = cases_of(file, corpus)
    assert all(type(case) is type(due[0]) for case in found)
    place.unlink(missing_ok=True)


@UNHURRIED
@given(marker=spoiled_or_changed(MARKED))
@example(marker=json.dumps({**MARKED, "version": "2.21.0\n"}).encode())
@example(marker=json.dumps({**MARKED, "interpreter": ["", [1e999, 0, 0]]}).encode())
def test_a_spoiled_marker_is_an_environments_or_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, marker: bytes
) -> None:
    monkeypatch.setenv("GRADCONF_CACHE", str(tmp_path))
    python = tmp_path / "environments" / "one" / "bin" / "python"
    if not python.exists():
        python.parent.mkdir(parents=True)
        python.symlink_to(sys.executable)
    (python.parent.parent / MARKER).write_bytes(marker)
    with bounded():
        found = cached()
    for one in found:
        assert one.python == str(python)
        assert one.version.isprintable()
        assert all(isinstance(number, int) for number in one.interpreter.version)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file to somebody else")
def test_what_belongs_to_somebody_else_is_not_believed(corpus: Path, tmp_path: Path) -> None:
    true = summaries(corpus)
    forged = json.loads(cache_file().read_bytes())
    for rows in forged.values():
        rows[0][1] = "forged"
    cache_file().write_text(json.dumps(forged))
    assert "forged" in {summary.title for summary in summaries(corpus)}
    os.chown(cache_file(), NOBODY, NOBODY)
    assert summaries(corpus) == true
    folder = tmp_path / "cache" / "environments" / "one"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").symlink_to(sys.executable)
    (folder / MARKER).write_text(json.dumps(MARKED))
    assert len(cached()) == 1
    os.chown(folder, NOBODY, NOBODY)
    assert cached() == []
