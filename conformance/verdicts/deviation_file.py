"""deviations/*.yaml to deviations: read, checked, every fault of a file reported at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import cast, get_args

from conformance.corpus.language.case import Case
from conformance.corpus.language.document import CaseFileError, Fault, Faults, Node, read_document
from conformance.corpus.language.expectations import parse_expectation
from conformance.verdicts.deviations import Deviation, Kind, faults_of

KEYS = ("cases", "modes", "since", "until", "answer", "kind", "right", "reason", "link")
REQUIRED = tuple(key for key in KEYS if key != "answer")


def load_deviations(folder: Path, cases: Sequence[Case]) -> list[Deviation]:
    """Every deviation of a folder, held against the whole corpus; raises CaseFileError.

    The file's name is the target's: `tensorflow.yaml`.
    """
    found: list[Deviation] = []
    faults: list[Fault] = []
    for path in sorted(folder.glob("*.yaml")):
        try:
            found += _file(path, f"{folder.name}/{path.name}")
        except CaseFileError as error:
            faults += error.faults
    if not faults:
        faults = [fault for deviation in found for fault in _faults_against(deviation, cases)]
    if faults:
        raise CaseFileError(faults)
    return found


def _faults_against(deviation: Deviation, cases: Sequence[Case]) -> Iterable[Fault]:
    for text in faults_of([deviation], cases):
        yield Fault(deviation.place, text.removeprefix(f"{deviation.place}: "))


def _file(path: Path, shown_as: str) -> list[Deviation]:
    root = read_document(path, shown_as)
    faults = Faults()
    faults.keys(root, ("introduction", "deviations"), required=("introduction", "deviations"))
    entries = faults.mapping(faults.mapping(root).get("deviations", Node({}, root.place)))
    found = [_entry(path.stem, entry, faults) for entry in entries.values()]
    if faults.found:
        raise CaseFileError(faults.found)
    return found


def _entry(target: str, node: Node, faults: Faults) -> Deviation:
    faults.keys(node, KEYS, required=REQUIRED)
    given = faults.mapping(node)

    def text(key: str) -> str:
        return faults.text(given[key]) if key in given else ""

    def texts(key: str) -> tuple[str, ...]:
        items = faults.items(given[key]) if key in given else []
        return tuple(faults.text(item) for item in items)

    kind = text("kind")
    if kind and kind not in get_args(Kind):
        faults.add(given["kind"], f"no kind '{kind}' (known: {', '.join(get_args(Kind))})")
    undefined = "answer" in given and given["answer"].value == "undefined"
    answer = faults.mapping(given["answer"]) if "answer" in given and not undefined else {}
    return Deviation(
        target=target,
        cases=texts("cases"),
        modes=texts("modes"),
        since=text("since"),
        until=text("until"),
        answer={name: parse_expectation(item, {}, faults) for name, item in answer.items()},
        kind=cast("Kind", kind),
        who=text("right"),
        reason=text("reason"),
        link=text("link"),
        place=node.place,
        undefined=undefined,
    )
