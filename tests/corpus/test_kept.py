"""Cases that are kept between runs: by content, never trusted, and what was read without them."""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path

import pytest

from conformance.corpus import kept
from conformance.corpus.cases import load_corpus
from conformance.corpus.index import summaries
from conformance.corpus.kept import cases_of
from conformance.corpus.language.case import Case
from conformance.corpus.language.document import CaseFileError
from conformance.corpus.language.loader import load_file
from conformance.files import data_folder
from tests.cases import entry, file_of

FILE = file_of(square=entry("The square has slope two x"), zero=entry("Nothing has none"))


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("GRADCONF_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "cases" / "basics" / "squares.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(FILE)
    kept._language.cache_clear()
    yield path
    kept._language.cache_clear()


def read(file: Path) -> list[Case]:
    return cases_of(file, file.parents[1])


@pytest.fixture
def never_read(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the file's cases, and fail from then on where one is read as YAML."""
    read(file)

    def fail(*_: object) -> None:
        raise AssertionError("read as YAML again")

    monkeypatch.setattr(kept, "load_file", fail)


def told(cases: list[Case]) -> list[str]:
    """All that cases say; nan says the same as nan."""
    return [repr([getattr(case, field.name) for field in fields(case)]) for case in cases]


@pytest.mark.usefixtures("never_read")
def test_a_file_that_was_read_is_not_read_again(file: Path) -> None:
    assert told(read(file)) == told(load_file(file, file.parents[1]))


def test_the_shipped_cases_are_kept_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: Path
) -> None:
    for path in sorted(data_folder("cases").rglob("*.yaml"))[::9]:
        first = cases_of(path, data_folder("cases"))
        with monkeypatch.context() as patch:
            patch.setattr(kept, "load_file", lambda *_: pytest.fail("read as YAML again"))
            assert told(cases_of(path, data_folder("cases"))) == told(first)


@pytest.mark.usefixtures("never_read")
@pytest.mark.parametrize(
    "change",
    [
        lambda file: file.write_text(FILE.replace("two x", "2 x")),
        lambda file: file.rename(file.with_name("others.yaml")),
    ],
    ids=["content", "name"],
)
def test_what_changed_is_read_anew(file: Path, change: Callable[[Path], object]) -> None:
    change(file)
    with pytest.raises(AssertionError, match="read as YAML again"):
        read(next(file.parent.glob("*.yaml")))


@pytest.mark.usefixtures("never_read")
def test_the_same_language_is_recognised(file: Path) -> None:
    kept._language.cache_clear()
    assert len(read(file)) == 2


@pytest.mark.usefixtures("never_read")
def test_a_changed_catalogue_or_language_is_read_with(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "corpus" / "catalogue").mkdir(parents=True)
    monkeypatch.setattr(kept, "ROOM", tmp_path / "corpus")
    kept._language.cache_clear()
    with pytest.raises(AssertionError, match="read as YAML again"):
        read(file)


def test_a_fault_is_not_kept(file: Path) -> None:
    file.write_text(FILE.replace("title:", "titel:"))
    for _ in range(2):
        with pytest.raises(CaseFileError):
            read(file)
    assert not [*file.parents[2].glob("cache/cases/*")]


class Hostile:
    """What runs code when it is unpickled."""

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, ("hostile",)


def kept_file(file: Path) -> Path:
    (found,) = file.parents[2].glob("cache/cases/*")
    return found


def signed(file: Path, body: bytes) -> bytes:
    """A body under the key that its file has."""
    return kept_file(file).read_bytes()[:32] + hashlib.sha256(body).digest() + body


@pytest.mark.usefixtures("never_read")
@pytest.mark.parametrize("what", ["cut", "changed", "hostile", "no list", "no pickle", "empty"])
def test_what_is_damaged_is_not_taken(
    file: Path, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    place = kept_file(file)
    content = place.read_bytes()
    place.write_bytes(
        {
            "cut": content[:-9],
            "changed": content[:-20] + b"\0" + content[-19:],
            "hostile": signed(file, pickle.dumps([Hostile()])),
            "no list": signed(file, pickle.dumps(1)),
            "no pickle": signed(file, b"cases"),
            "empty": b"",
        }[what]
    )
    with pytest.raises(AssertionError, match="read as YAML again"):
        read(file)
    assert not (tmp_path / "hostile").exists()


@pytest.mark.usefixtures("never_read")
def test_what_somebody_else_wrote_is_not_taken(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    with pytest.raises(AssertionError, match="read as YAML again"):
        read(file)


def test_a_cache_that_cannot_be_written_is_done_without(file: Path) -> None:
    (file.parents[2] / "cache").write_text("no folder")
    assert len(read(file)) == 2


def test_a_user_without_a_home_has_no_cache(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GRADCONF_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)

    def nowhere() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nowhere)
    assert len(read(file)) == 2
    assert len(summaries(file.parents[1])) == 2


def test_only_so_many_files_are_kept(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MAX_FILES", 3)
    for number in range(5):
        copy = file.with_name(f"squares{number}.yaml")
        copy.write_text(FILE)
        read(copy)
    assert len([*file.parents[2].glob("cache/cases/*")]) == 3


def test_the_corpus_is_the_same_from_the_cache(file: Path) -> None:
    root = file.parents[1]
    assert told(load_corpus(root)) == told(load_corpus(root))
