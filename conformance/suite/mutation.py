"""Mutation: copies of the oracle with one deliberate mistake each, made from small files."""

from __future__ import annotations

import importlib.util
import shutil
from dataclasses import dataclass
from pathlib import Path

from conformance.corpus.language.case import Place
from conformance.corpus.language.document import CaseFileError, Fault, Node, read_all, read_document
from conformance.targets.specification import Target
from conformance.text import suggest

FOLDER = Path(__file__).parent / "mutants"
ORACLE = "reference_impl"
FAMILIES = (
    (14, "accumulation"),
    (22, "output gradients"),
    (30, "broadcasting"),
    (52, "rules"),
    (63, "watching"),
    (81, "life cycle"),
    (92, "higher order"),
    (100, "unconnected"),
    (109, "slices"),
    (118, "dtypes"),
    (134, "ties and edges"),
    (150, "declared gradients"),
    (162, "structures and jacobians"),
)
"""The catalogue of mistakes by its numbers: the last one of each family."""


@dataclass(frozen=True)
class Edit:
    """One replacement in one file of the oracle; `old` must stand there exactly once."""

    file: str
    old: str
    new: str


@dataclass(frozen=True)
class Mutant:
    """A mistake, the edits that make it, and its number in the catalogue (0: not in it)."""

    name: str
    mistake: str
    edits: tuple[Edit, ...]
    node: Node
    catalogue: int = 0

    @property
    def family(self) -> str:
        """The part of the catalogue that the mistake belongs to."""
        if not self.catalogue:
            return "not in the catalogue"
        return next(family for last, family in FAMILIES if self.catalogue <= last)


CONTROL = "control"
"""The name of the copy without a mistake: it must conform before any mutant counts."""


def load_mutants(folder: Path = FOLDER) -> list[Mutant]:
    """Every mutant; raises CaseFileError with the faults of all files."""
    return read_all(sorted(folder.glob("*.yaml")), _mutant)


def _mutant(path: Path) -> Mutant:
    root = read_document(path, f"mutants/{path.name}")
    root.keys(("catalogue", "mistake", "edits"), required=("mistake", "edits"))
    edits = root.read("edits", _edits) or ()
    catalogue = root.read("catalogue", _catalogue) or 0
    found = Mutant(path.stem, root.read("mistake", Node.line) or "", edits, root, catalogue)
    root.finish()
    return found


def _catalogue(node: Node) -> int:
    last = FAMILIES[-1][0]
    if type(node.value) is int and 1 <= node.value <= last:
        return node.value
    node.fault(f"expected a number of the catalogue, 1 to {last}")
    return 0


def _edits(node: Node) -> tuple[Edit, ...]:
    if not node.items():
        node.fault("expected at least one edit: this is the oracle itself")
    return tuple(map(_edit, node.items()))


def _edit(node: Node) -> Edit:
    node.keys(("file", "old", "new"), required=("file", "old", "new"))
    given = node.mapping()
    texts = {key: given[key].value for key in ("file", "old", "new") if key in given}
    for key, value in texts.items():
        if not isinstance(value, str) or (key != "new" and not value):
            given[key].fault(f"expected text, got {given[key].kind}")
    file, old, new = (str(texts.get(key, "")) for key in ("file", "old", "new"))
    return Edit(file, old.rstrip("\n"), new.rstrip("\n"))


def control(workshop: Path) -> Target:
    """An untouched copy of the oracle: mutants are copies of it."""
    found = importlib.util.find_spec(ORACLE)  # found, not imported: the host runs no framework
    assert found is not None
    _copy(Path(str(found.origin)).parent, workshop / CONTROL)
    return _target(CONTROL, workshop / CONTROL)


def make(mutant: Mutant, workshop: Path) -> Target:
    """A copy of the workshop's control with the mutant's mistake, as a target."""
    copy = workshop / mutant.name
    texts = edited(mutant, workshop / CONTROL / ORACLE)
    _copy(workshop / CONTROL / ORACLE, copy)
    for file, text in texts.items():
        path = copy / ORACLE / file
        path.write_text(text, encoding="utf-8")
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
            compiled.unlink()
    return _target(mutant.name, copy)


def edited(mutant: Mutant, oracle: Path) -> dict[str, str]:
    """The files that a mutant changes, with its mistake in them.

    Raises CaseFileError where an edit does not apply exactly once, changes nothing, or leaves
    something that is not Python: such a mutant would be "caught" for the wrong reason.
    """
    files = [found.relative_to(oracle).as_posix() for found in oracle.rglob("*.py")]
    texts: dict[str, str] = {}
    for edit in mutant.edits:
        if edit.file not in files:
            hint = suggest(edit.file, files)
            raise _refused(mutant.node.place, edit, f"no such file of the oracle{hint}")
        text = texts.get(edit.file) or (oracle / edit.file).read_text(encoding="utf-8")
        texts[edit.file] = _applied(edit, text, mutant.node.place)
    return texts


def _applied(edit: Edit, text: str, place: Place) -> str:
    if text.count(edit.old) != 1:
        raise _refused(place, edit, f"the text to replace is there {text.count(edit.old)} times")
    if edit.new == edit.old:
        raise _refused(place, edit, "the edit changes nothing")
    changed = text.replace(edit.old, edit.new)
    try:
        compile(changed, edit.file, "exec")
    except SyntaxError as error:
        raise _refused(place, edit, f"not Python after the edit: {error}") from error
    return changed


def _refused(place: Place, edit: Edit, message: str) -> CaseFileError:
    return CaseFileError([Fault(place, f"{edit.file}: {message}")])


def _copy(source: Path, destination: Path) -> None:
    """Copy the oracle, times and compiled files included: a worker then starts faster."""
    shutil.copytree(source, destination / ORACLE)


def _target(name: str, path: Path) -> Target:
    return Target(name, ORACLE, ("eager",), path=(str(path),))
