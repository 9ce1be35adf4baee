"""Which tables ask each operation of the catalogue, and why the others do not."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from conformance.corpus.catalogue import FOLDER, Operation, one_of
from conformance.corpus.language.case import Case
from conformance.corpus.language.document import Node, read_document
from conformance.corpus.language.literals import COMPLEXES, shape_of

GAPS = FOLDER.with_name("gaps.yaml")
DTYPES = ("float16", "bfloat16", "float32", "float64", *COMPLEXES)
FORMS = {
    "derivative_of_": "gradient",
    "bfloat16_of_": "gradient",
    "derivative_twice_of_": "second",
    "third_order_of_": "third",
    "third_order_of_the_cube_of_": "third",
    "broadcast_": "broadcasting",
    "tangent_of_": "tangent",
    "jacobian_of_": "jacobian",
}
"""The tables, by what the names of their cases begin with; a gradient is also one of its dtype."""
EDGE = "_at_"
ELEMENTWISE = ("binary", "special")
"""The families whose arguments are broadcast where their shapes differ."""
EVERY = "every"
KINDS = ("gradient", "second", "third", *DTYPES, "edges", "broadcasting", "tangent", "jacobian")
Gaps = Mapping[str, Mapping[str, str]]
"""Reasons by the kind of a table, or every one, and by operation or family."""


def tables_of(
    cases: Iterable[Case], operations: Mapping[str, Operation]
) -> dict[str, Counter[str]]:
    """How many cases each operation has in each kind of table.

    A row says its operation. A case that is written by hand names it, as one of its family.
    """
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for case in cases:
        area, family, name = case.id.split("/")
        begin = max((form for form in FORMS if name.startswith(form)), key=len, default="")
        if area != "operations" or not (begin or EDGE in name):
            continue
        named = case.operation or _named(name[len(begin) :], family, operations)
        kind = FORMS.get(begin, "edges")
        shapes = {shape_of(given.value) for given in case.inputs}
        found[named].update([kind])
        if kind in ("gradient", "second"):
            found[named].update({given.dtype for given in case.inputs} & {*DTYPES})
        if kind == "gradient" and family in ELEMENTWISE and len(shapes) > 1:
            found[named].update(["broadcasting"])
    return found


def _named(text: str, family: str, operations: Mapping[str, Operation]) -> str:
    """The operation of a family with the longest name that a text begins with."""
    names = (one.name for one in operations.values() if one.family == family)
    return max((name for name in names if text.startswith(name)), key=len, default="")


def gaps_of(
    operation: Operation, tables: Mapping[str, int], gaps: Gaps
) -> Iterator[tuple[str, str]]:
    """The kinds of tables in which an operation has no case, each with the reason, if there is one.

    The catalogue says some reasons; the others stand in `gaps.yaml`.
    """
    for kind in KINDS:
        if not tables.get(kind):
            said = {**gaps.get(kind, {}), **gaps.get(EVERY, {})}
            reason = _derived(operation, kind) or said.get(operation.name)
            yield kind, reason or said.get(operation.family, "")


def _derived(operation: Operation, kind: str) -> str:
    """Why the catalogue has an operation in no table of a kind, if it says so."""
    inputs = [item for variant in operation.variants for item in variant.inputs]
    if kind in DTYPES and kind not in operation.dtypes:
        return "it does not take the dtype"
    if operation.surrogate:
        return f"its gradient is by design no derivative: {operation.surrogate}"
    if not any(item.connected for item in inputs):
        return "its gradient is None"
    if kind in ("second", "third") and operation.second != "exists":
        return f"the catalogue says of its second derivative: {operation.second}"
    if kind == "edges" and not operation.edges:
        return "it is smooth wherever it is defined"
    if kind == "broadcasting" and all(len(one.inputs) < 2 for one in operation.variants):
        return "it has one argument"
    return ""


def read_gaps(operations: Mapping[str, Operation], file: Path = GAPS) -> Gaps:
    """The reasons that are written down; raises CaseFileError."""
    root = read_document(file, file.name)
    root.keys(("introduction", "gaps"), required=("introduction", "gaps"))
    known = (*operations, *{one.family: None for one in operations.values()})

    def reasons(node: Node) -> dict[str, str]:
        return {
            one_of(known, name): reason
            for reason, names in node.mapping().items()
            for name in names.items()
        }

    kinds = root.read("gaps", Node.mapping) or {}
    for kind, node in kinds.items():
        if kind not in (EVERY, *KINDS):
            node.fault_of_name(f"no kind of table '{kind}'")
    found = {kind: reasons(node) for kind, node in kinds.items()}
    root.finish()
    return found


def needless(
    operations: Mapping[str, Operation], tables: Mapping[str, Mapping[str, int]], gaps: Gaps
) -> Iterator[str]:
    """What `gaps.yaml` gives a reason for, though it has cases or a reason already."""
    open_gaps = {
        (kind, name)
        for one in operations.values()
        for kind, reason in gaps_of(one, tables.get(one.name, {}), {})
        if not reason
        for name in (one.name, one.family)
    }
    open_gaps |= {(EVERY, name) for _, name in open_gaps}
    for kind, reasons in gaps.items():
        yield from (f"{kind}: {name}" for name in reasons if (kind, name) not in open_gaps)
