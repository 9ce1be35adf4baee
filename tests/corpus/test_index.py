"""The index of cases: remembered by content, read anew when a file changes, never trusted."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from conformance.closing import UsageError
from conformance.corpus import index
from conformance.corpus.index import cache_file, summaries
from conformance.corpus.language.document import CaseFileError
from tests.cases import RUN, entry, file_of

FILE = file_of(
    square=entry(
        "The square has slope two x",
        tags="[scalar]",
        run=RUN.replace("GradientTape()", "GradientTape(persistent=True)"),
    )
)


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GRADCONF_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "cases" / "basics" / "squares.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(FILE)
    return tmp_path / "cases"


def test_a_summary_has_what_choosing_and_listing_need(corpus: Path) -> None:
    (summary,) = summaries(corpus)
    assert (summary.id, summary.area) == ("basics/squares/square", "basics")
    assert summary.title == "The square has slope two x"
    assert summary.file == "cases/basics/squares.yaml"
    assert {"scalar", "persistent", "watch"} <= {*summary.tags}


def test_a_file_that_was_read_is_not_read_again(
    corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = summaries(corpus)

    def fail(*_: object) -> None:
        raise AssertionError("a remembered file is loaded")

    monkeypatch.setattr(index, "_load", fail)
    assert summaries(corpus) == first


def test_a_changed_file_is_read_anew(corpus: Path) -> None:
    summaries(corpus)
    file = corpus / "basics" / "squares.yaml"
    file.write_text(FILE.replace("two x", "2 x"))
    assert summaries(corpus)[0].title.endswith("2 x")
    file.rename(file.with_name("others.yaml"))
    assert summaries(corpus)[0].id == "basics/others/square"


def test_a_changed_catalogue_is_read_anew(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summaries(corpus)
    (tmp_path / "catalogue").mkdir()
    monkeypatch.setattr(index, "CATALOGUE", tmp_path / "catalogue")
    loaded = []
    monkeypatch.setattr(index, "_load", lambda unknown, _: loaded.append([*unknown]) or {})
    with pytest.raises(KeyError):  # nothing is made of it here
        summaries(corpus)
    assert len(loaded) == 1


def test_a_fault_is_a_usage_error_with_its_place(corpus: Path) -> None:
    (corpus / "basics" / "squares.yaml").write_text(FILE.replace("title:", "titel:"))
    with pytest.raises(UsageError, match=r"squares\.yaml:4:5"):
        summaries(corpus)


def _rows(change: object) -> str:
    return json.dumps({key: change for key in json.loads(cache_file().read_text())})


@pytest.mark.parametrize(
    "damage",
    [
        lambda: "",
        lambda: "[]",
        lambda: "[" * 100_000,
        lambda: "\x00",
        lambda: _rows(None),
        lambda: _rows([3]),
        lambda: _rows([["id", "title", "file"]]),
        lambda: _rows([["id", "title", "file", 3, ""]]),
        lambda: _rows([["id", "title", "file", [[]], ""]]),
        lambda: _rows([["id", 3, "file", [], ""]]),
        lambda: _rows([["id", "title", "file", [], None]]),
        lambda: _rows({"a": 1}),
    ],
)
def test_a_damaged_cache_is_made_again(corpus: Path, damage) -> None:
    first = summaries(corpus)
    cache_file().write_text(damage())
    assert summaries(corpus) == first
    assert summaries(corpus) == first


def test_a_cache_that_cannot_be_written_is_done_without(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GRADCONF_CACHE", str(tmp_path / "file" / "cache"))
    assert len(summaries(corpus)) == 1


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "sparse", "nowhere"])
def test_what_is_no_file_is_a_fault_at_once(corpus: Path, kind: str) -> None:
    path = corpus / "basics" / "other.yaml"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "sparse":
        with path.open("wb") as file:
            file.truncate(1 << 40)
    else:
        path.symlink_to("/dev/zero" if kind == "device" else "/no/where")
    with pytest.raises(CaseFileError, match=r"other\.yaml:1:1 \$: cannot be read: "):
        summaries(corpus)
