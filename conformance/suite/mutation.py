"""Mutation: copies of the oracle with one deliberate mistake each, made from small files."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from conformance.asking.worker import ORACLE_MODULE
from conformance.corpus.contract import is_unknown
from conformance.corpus.language.document import CaseFileError, Fault, Node, read_all, read_document
from conformance.corpus.language.loader import read_source
from conformance.targets.specification import Target
from conformance.text import suggest

FOLDER = Path(__file__).parent / "mutants"
KEYS = ("catalogue", "mistake", "breaks", "mode", "chance", "edits")
MODES = ("eager", "graph", "call")
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
    """A mistake, what it breaks, the edits that make it, and its number in the catalogue (0: none).

    `breaks` are sources as cases cite them: claims of the contract, or what else says that it is a
    mistake. In the mode `graph` the oracle is asked what a graph answers, and gives eager answers.
    `chance` says why other cases may catch it the next time.
    """

    name: str
    mistake: str
    breaks: tuple[str, ...]
    edits: tuple[Edit, ...]
    node: Node
    catalogue: int = 0
    mode: str = "eager"
    chance: str = ""

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


def breakers(mutants: Iterable[Mutant]) -> dict[str, tuple[str, ...]]:
    """By what is broken, the names of the mutants that break it."""
    found: dict[str, tuple[str, ...]] = {}
    for mutant in mutants:
        for source in mutant.breaks:
            found[source] = (*found.get(source, ()), mutant.name)
    return found


def _mutant(path: Path) -> Mutant:
    root = read_document(path, f"mutants/{path.name}")
    root.keys(KEYS, required=("mistake", "breaks", "edits"))
    found = Mutant(
        path.stem,
        root.read("mistake", Node.line) or "",
        root.read("breaks", _breaks) or (),
        root.read("edits", _edits) or (),
        root,
        root.read("catalogue", _catalogue) or 0,
        root.read("mode", _mode) or "eager",
        root.read("chance", Node.line) or "",
    )
    if not found.edits and found.mode == "eager":
        root.fault_of_name("expected at least one edit: this is the oracle itself")
    root.finish()
    return found


def _breaks(node: Node) -> tuple[str, ...]:
    """One source or a list of them. A fault: no source, or a claim that the contract has not."""
    children = node.value if isinstance(node.value, list) else [node]
    if not children:
        node.fault("expected at least one source, such as contract/84")
    sources = tuple(map(read_source, children))
    for child, source in zip(children, sources, strict=True):
        if is_unknown(source):
            child.fault(f"the contract has no claim '{source}' (docs/contract.md)")
    return sources


def _mode(node: Node) -> str:
    if node.value not in MODES:
        node.fault(f"expected one of {', '.join(MODES)}")
    return node.line()


def _catalogue(node: Node) -> int:
    last = FAMILIES[-1][0]
    if type(node.value) is int and 1 <= node.value <= last:
        return node.value
    node.fault(f"expected a number of the catalogue, 1 to {last}")
    return 0


def _edits(node: Node) -> tuple[Edit, ...]:
    return tuple(map(_edit, node.items()))


def _edit(node: Node) -> Edit:
    node.keys(("file", "old", "new"), required=("file", "old", "new"))
    removes = "new" in node.mapping() and node.mapping()["new"].value == ""
    file, old = (node.read(key, Node.text) or "" for key in ("file", "old"))
    new = "" if removes else node.read("new", Node.text) or ""
    return Edit(file, old.rstrip("\n"), new.rstrip("\n"))


def control(workshop: Path) -> Target:
    """An untouched copy of the oracle: mutants are copies of it."""
    found = importlib.util.find_spec(ORACLE_MODULE)  # not imported: the host runs no framework
    assert found is not None
    return _copy(Path(str(found.origin)).parent, workshop / CONTROL)


def make(mutant: Mutant, workshop: Path) -> Target:
    """A copy of the workshop's control with the mutant's mistake, as a target."""
    oracle = workshop / CONTROL / ORACLE_MODULE
    texts = edited(mutant, oracle)
    target = replace(_copy(oracle, workshop / mutant.name), modes=(mutant.mode,))
    for file, text in texts.items():
        path = workshop / mutant.name / ORACLE_MODULE / file
        path.write_text(text, encoding="utf-8")
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
            compiled.unlink()
    return target


def _copy(oracle: Path, folder: Path) -> Target:
    """A copy of the oracle, times and compiled files included: a worker then starts faster."""
    shutil.copytree(oracle, folder / ORACLE_MODULE)
    return Target(folder.name, ORACLE_MODULE, ("eager",), path=(str(folder),))


def edited(mutant: Mutant, oracle: Path) -> dict[str, str]:
    """The files that a mutant changes, with its mistake in them.

    Raises CaseFileError where an edit does not apply exactly once, changes nothing, or leaves
    something that is not Python: such a mutant would be "caught" for the wrong reason.
    """
    texts: dict[str, str] = {}
    for edit in mutant.edits:
        try:
            texts[edit.file] = _applied(edit, texts, oracle)
        except ValueError as error:
            place = mutant.node.place
            raise CaseFileError([Fault(place, f"{edit.file}: {error}")]) from error
    return texts


def _applied(edit: Edit, texts: Mapping[str, str], oracle: Path) -> str:
    """The text of the edit's file with the edit. Errors: ValueError."""
    files = [found.relative_to(oracle).as_posix() for found in oracle.rglob("*.py")]
    if edit.file not in files:
        raise ValueError(f"no such file of the oracle{suggest(edit.file, files)}")
    text = texts.get(edit.file) or (oracle / edit.file).read_text(encoding="utf-8")
    if text.count(edit.old) != 1:
        raise ValueError(f"the text to replace is there {text.count(edit.old)} times")
    if edit.new == edit.old:
        raise ValueError("the edit changes nothing")
    changed = text.replace(edit.old, edit.new)
    try:
        compile(changed, edit.file, "exec")
    except SyntaxError as error:
        raise ValueError(f"not Python after the edit: {error}") from error
    return changed
