"""What `gradconf list` needs of each case, remembered by the content of its file."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import TypeAlias

from conformance import __version__
from conformance.closing import UsageError
from conformance.places import cache_folder

Rows: TypeAlias = "dict[str, list[list[object]]]"


@dataclass(frozen=True)
class Summary:
    """A case without its program: enough to choose it and to list it."""

    id: str
    title: str
    file: str
    tags: tuple[str, ...]
    """What `--tag` selects by: the tags, and the features of the program."""

    @property
    def area(self) -> str:
        """The first part of the id."""
        return self.id.split("/", 1)[0]


def summaries(root: Path) -> list[Summary]:
    """The summaries of every case below `root`; raises UsageError with every fault.

    A file that was read before is not read as YAML again, as long as its content is the same.
    """
    keys = {_key(path, root): path for path in sorted(root.rglob("*.yaml"))}
    remembered = _read(cache_file())
    unknown = {key: path for key, path in keys.items() if key not in remembered}
    if unknown:
        remembered |= _load(unknown, root)
        _write(cache_file(), remembered)
    return [_summary(row) for key in keys for row in remembered[key]]


def cache_file() -> Path:
    """Where summaries are kept, for this version of the suite."""
    return cache_folder() / f"index-{__version__}.json"


def _key(path: Path, root: Path) -> str:
    name = f"{shown(path, root)}\0".encode()
    return hashlib.sha256(name + path.read_bytes()).hexdigest()


def shown(path: Path, root: Path) -> str:
    """A case file as it is shown everywhere: `cases/area/topic.yaml`."""
    return f"{root.name}/{path.relative_to(root).as_posix()}"


def _load(files: Mapping[str, Path], root: Path) -> Rows:
    # YAML is not even imported where every file is remembered.
    from conformance.corpus.cases import load_files
    from conformance.corpus.language.document import CaseFileError
    from conformance.corpus.language.features import tags_of

    try:
        cases = load_files(files.values(), root)
    except CaseFileError as error:
        raise UsageError(str(error)) from error
    by_file: dict[str, list[list[object]]] = {}
    for case in cases:
        row = list(astuple(Summary(case.id, case.title, case.file, tags_of(case))))
        by_file.setdefault(case.file, []).append(row)
    return {key: by_file[shown(path, root)] for key, path in files.items()}


def _summary(row: Sequence[object]) -> Summary:
    id, title, file, tags = row
    assert isinstance(tags, list | tuple)
    return Summary(str(id), str(title), str(file), tuple(str(tag) for tag in tags))


def _read(path: Path) -> Rows:
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _write(path: Path, content: Rows) -> None:
    """Replace the file whole; a cache that cannot be written is done without."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
            json.dump(content, file)
        os.replace(file.name, path)
    except OSError:
        return
