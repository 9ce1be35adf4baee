"""The profile of a run: in which modes it asks which cases."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace

from conformance.asking.events import Cell
from conformance.corpus.language.case import DERIVATIVE, Case
from conformance.targets.specification import Target

PROFILES = ("default", "full")


def asked_by(
    profile: str, corpus: Iterable[Case], targets: Sequence[Target]
) -> Callable[[Cell], bool]:
    """What tells whether a run with this profile asks these targets for a cell of the corpus.

    `full` asks for all. `default` asks a target that has the mode eager for rows of tables in that
    mode alone, but for the row of each operation with the shortest program, the quickest to
    compile, which it asks for in every mode.
    """
    rows, known = set[str](), set[str]()
    for case in sorted(corpus, key=lambda case: len(case.run)) if profile == "default" else ():
        if case.operation in known:
            rows.add(case.id)
        elif case.operation:
            known.add(case.operation)
    eager = {target.label for target in targets if "eager" in target.modes}

    def asked(cell: Cell) -> bool:
        everywhere = cell.case not in rows or cell.target not in eager
        return everywhere or cell.mode in ("eager", DERIVATIVE)

    return asked


def left_out(cells: Collection[Cell]) -> set[Cell]:
    """What a whole run did not ask for though it asked for it eagerly: its profile left that out.

    `cells` are all that it asked for.
    """
    modes: dict[str, set[str]] = {}
    for cell in cells:
        modes.setdefault(cell.target, set()).add(cell.mode)
    eager = (cell for cell in cells if cell.mode == "eager")
    every = {replace(cell, mode=mode) for cell in eager for mode in modes[cell.target]}
    return every.difference(cells)
