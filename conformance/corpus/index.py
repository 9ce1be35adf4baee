"""What `gradconf list` needs of each case, remembered by the content of its file."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import TypeAlias

from conformance import __version__
from conformance.corpus.moves import contradictions
from conformance.files import cache_folder, data_folder, is_mine, read_bounded, write_whole

Remembered: TypeAlias = "dict[str, list[Summary]]"
CATALOGUE = Path(__file__).with_name("catalogue")
FEATURES = Path(__file__).parent / "language" / "features.py"
MAX_BYTES = 1_000_000
MAX_CACHE = 50_000_000


@dataclass(frozen=True)
class Summary:
    """A case without its program: enough to choose it and to list it."""

    id: str
    title: str
    file: str
    tags: tuple[str, ...]
    """What `--tag` selects by: the tags, and the features of the program."""
    formerly: str = ""
    """The id that it had before it was moved."""

    @property
    def area(self) -> str:
        """The first part of the id."""
        return self.id.split("/", 1)[0]


def summaries(folder: Path | None = None) -> list[Summary]:
    """The summaries of every case of the corpus; raises UsageError with every fault.

    A file that was read before is not read as YAML again, as long as its content is the same, that
    of the catalogue, from which tables take their rows, and what features are read off.
    """
    root = folder or data_folder("cases")
    catalogue = b"".join(path.read_bytes() for path in sorted(CATALOGUE.rglob("*.*")))
    start = hashlib.sha256(catalogue + FEATURES.read_bytes()).digest()
    keys = {_key(start, path, root): path for path in sorted(root.rglob("*.yaml"))}
    remembered = _read(cache_file())
    unknown = {key: path for key, path in keys.items() if key not in remembered}
    if unknown:
        remembered |= _load(unknown, root)
        _write(cache_file(), remembered)
    found = [summary for key in keys for summary in remembered[key]]
    if any(contradictions(found)):
        _load(keys, root)  # says where
    return found


def cache_file() -> Path:
    """Where summaries are kept, for this version of the suite."""
    return cache_folder() / f"index-{__version__}.json"


def _key(start: bytes, path: Path, root: Path) -> str:
    """What identifies a file: its name and its content, which the loader bounds."""
    try:
        content = read_bounded(path, MAX_BYTES)
    except OSError:
        content = b""  # the loader says where and why
    return hashlib.sha256(start + f"{shown(path, root)}\0".encode() + content).hexdigest()


def shown(path: Path, root: Path) -> str:
    """A case file as it is shown everywhere: `cases/area/topic.yaml`."""
    return f"{root.name}/{path.relative_to(root).as_posix()}"


def _load(files: Mapping[str, Path], root: Path) -> Remembered:
    # YAML is not even imported where every file is remembered.
    from conformance.corpus.cases import load_files
    from conformance.corpus.language.features import tags_of

    cases = load_files(files.values(), root)
    by_file: Remembered = {}
    for case in cases:
        summary = Summary(case.id, case.title, case.file, tags_of(case), case.formerly)
        by_file.setdefault(case.file, []).append(summary)
    return {key: by_file[shown(path, root)] for key, path in files.items()}


def _read(path: Path) -> Remembered:
    """What is remembered; nothing, where the file is damaged, too large or somebody else's."""
    try:
        content = json.loads(read_bounded(path, MAX_CACHE)) if is_mine(path) else {}
        return {key: [_summary(*row) for row in rows] for key, rows in content.items()}
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return {}


def _summary(id: str, title: str, file: str, tags: list[str], formerly: str) -> Summary:
    """A row of the cache, if it is what its types say. Errors: TypeError."""
    texts = [id, title, file, formerly, *(tags if isinstance(tags, list) else [None])]
    if not all(isinstance(text, str) and text.isprintable() for text in texts):
        raise TypeError(texts)
    return Summary(id, title, file, tuple(tags), formerly)


def _write(path: Path, content: Remembered) -> None:
    """Remember; a cache that cannot be written is done without."""
    rows = {key: [astuple(summary) for summary in found] for key, found in content.items()}
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, json.dumps(rows))
