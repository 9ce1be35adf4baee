"""What of a target travels to a node: its file, or the folder in which its module is looked for."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

from conformance.targets.specification import Target, TargetError

FOLDER = "folder.json"
"""The name of a folder that travels: the texts of its Python files, by their paths in it."""


@dataclass(frozen=True)
class Baggage:
    """A file's name, and what is in it."""

    name: str
    data: bytes

    @cached_property  # each batch names it
    def digest(self) -> str:
        """What the file is kept by, and looked at before it is used."""
        return hashlib.sha256(self.data).hexdigest()


def baggage_of(target: Target) -> Baggage | None:
    """What a node needs of a target that is not installed there; None of others."""
    if target.module.endswith(".py"):
        path = Path(target.module)
        return Baggage(path.name, path.read_bytes())
    if target.path and not target.is_adapted:
        (folder,) = map(Path, target.path)
        found = sorted(folder.rglob("*.py"))
        texts = {path.relative_to(folder).as_posix(): path.read_bytes().decode() for path in found}
        return Baggage(FOLDER, json.dumps(texts).encode())
    return None


def unpack(data: bytes, folder: Path) -> None:
    """Write the files of a folder that travelled. Errors: TargetError for a path out of it."""
    for name, text in json.loads(data).items():
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts:
            raise TargetError(f"'{name}' is no file in a folder")
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
