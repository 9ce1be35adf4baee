"""`each:` entries: one entry with axes becomes one case for every combination."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from conformance.corpus.language.document import Hole, Node, YamlValue, shortened
from conformance.corpus.rows import rows
from conformance.text import suggest

MAX_EXPANSION = 2_000
MAX_FILLED = 20_000
PROGRAMS = ("setup", "run")
_HOLE = re.compile(r"\$\{([^{}\n]*)\}")


ROW = {"operation": "operation", "op": "operation", "family": "family"}
"""What the keys of a row say of its case."""


def expand(name: str, node: Node) -> Iterator[tuple[str, Node, Mapping[str, str]]]:
    """One entry as it is, or one for each combination of its axes: its name, itself, what it is of.

    A combination is of an operation and a family where one of its axes asks the catalogue, and of
    the operation that a row of a list calls its `op`.
    """
    if not isinstance(node.value, dict) or "each" not in node.value:
        yield name, node, {}
        return
    given = node.value["each"]
    axes = {axis: _values(values) for axis, values in given.mapping().items()}
    count = math.prod(map(len, axes.values())) if axes else 0
    if not 1 <= count <= MAX_EXPANSION:
        given.fault_of_name(f"{count} combinations: between 1 and {MAX_EXPANSION:,}")
        return
    entry = {key: child for key, child in node.value.items() if key != "each"}
    names: set[str] = set()
    unused = set(axes)
    for combination in itertools.product(*axes.values()):
        filler = _Filler(dict(zip(axes, combination, strict=True)))
        full_name = filler.name(name, node)
        if full_name in names:
            message = f"two combinations are named '{shortened(full_name)}': put every axis in"
            node.fault_of_name(f"{message} the name")
            return
        names.add(full_name)
        row = {ROW[key]: text for value in combination for key, text in _texts(value) if key in ROW}
        yield full_name, node.holding(filler.mapping(entry, node)), row
        unused -= filler.used
    for axis in sorted(unused):
        values = given.mapping()[axis]
        values.fault_of_name(f"the axis '{shortened(axis)}' is never used: remove it")


def _texts(value: Node) -> Iterator[tuple[str, str]]:
    """The keys of a row with a text, and the texts."""
    row = value.value if isinstance(value.value, dict) else {}
    return ((key, node.value) for key, node in row.items() if isinstance(node.value, str))


def _is_query(axis: Node) -> bool:
    return isinstance(axis.value, dict)


def _values(axis: Node) -> list[Node]:
    """The values of an axis: those of its list, or what its query finds in the catalogue."""
    if not _is_query(axis):
        return axis.items()
    axis.keys(("operations",), required=("operations",))
    return axis.read("operations", rows) or []


@dataclass
class _Filler:
    """Fills an entry's holes with one combination."""

    chosen: Mapping[str, Node]
    used: set[str] = field(default_factory=set)

    def mapping(self, entry: Mapping[str, Node], node: Node) -> dict[str, Node]:
        """An entry's keys and values filled; a program's holes are filled as Python writes."""
        filled: dict[str, Node] = {}
        for key, child in entry.items():
            name = self.name(key, child)
            if name in filled:
                child.fault_of_name(f"a second '{shortened(name)}' when filled")
            filled[name] = self.node(child, in_program=key in PROGRAMS)
        node.spend(len(filled))
        return filled

    def name(self, text: str, node: Node) -> str:
        """A key or a case's name filled."""
        if "${" not in text:
            return text
        value = self.text(text, node).value
        if isinstance(value, dict | list):
            value = self._word(node.holding(value), node, in_program=False)
        return as_text(value)

    def node(self, node: Node, *, in_program: bool = False) -> Node:
        """A value filled, with everything inside it."""
        if isinstance(node.value, dict):
            return node.holding(self.mapping(node.value, node))
        if isinstance(node.value, list):
            node.spend(len(node.value))
            return node.holding([self.node(child) for child in node.value])
        if isinstance(node.value, str) and "${" in node.value:
            return self.text(node.value, node, in_program=in_program)
        return node

    def text(self, text: str, node: Node, *, in_program: bool = False) -> Node:
        """The text with its holes filled; a text that is one hole becomes the axis's value."""
        whole = _HOLE.fullmatch(text)
        if whole:
            return replace(self._chosen(whole[1], node), key=node.key)
        pieces: list[str] = []
        holes: list[Hole] = []
        written, length = 0, 0
        for hole in _HOLE.finditer(text):
            word = self._word(self._chosen(hole[1], node), node, in_program)
            before = text[written : hole.start()]
            start = length + len(before)
            holes.append(Hole(start, start + len(word), hole.start(), hole.end()))
            pieces += [before, word]
            written, length = hole.end(), start + len(word)
            if length > MAX_FILLED:
                node.fault(f"longer than {MAX_FILLED:,} characters when filled")
                return node.holding("")
        if "${" in _HOLE.sub("", text):
            node.fault("a ${ without its }")
        filled = "".join([*pieces, text[written:]])
        node.spend(1 + len(filled) // 10)
        return replace(node, value=filled, written=text, holes=tuple(holes))

    def _chosen(self, dotted: str, node: Node) -> Node:
        axis, *keys = dotted.split(".")
        found = self.chosen.get(axis)
        self.used.add(axis)
        if found is None:
            near = suggest(axis, self.chosen)
            node.fault(f"no axis named '{shortened(axis)}'{near}")
            return node.holding(dotted or "unknown")
        for key in keys:
            inner = found.value.get(key) if isinstance(found.value, dict) else None
            if inner is None:
                near = suggest(key, found.value if isinstance(found.value, dict) else ())
                node.fault(f"the axis '{shortened(axis)}' has no '{shortened(key)}'{near}")
                return node.holding(dotted)
            found = inner
        return found

    def _word(self, chosen: Node, node: Node, in_program: bool) -> str:
        value = chosen.value
        if isinstance(value, dict) and value:  # an axis of mappings is named by its first value
            return self._word(next(iter(value.values())), node, in_program)
        if isinstance(value, list | dict):
            kind = "an empty mapping" if isinstance(value, dict) else "a list"
            node.fault(f"{kind} cannot stand inside a text")
            return ""
        return as_python(value) if in_program else as_text(value)


def as_text(value: YamlValue) -> str:
    """A scalar as a name or a sentence writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    return "none" if value is None else str(value)


def as_python(value: YamlValue) -> str:
    """A scalar as a program writes it: a text stands as it is."""
    if isinstance(value, float) and not math.isfinite(value):
        return f"float('{value}')"
    return str(value)
