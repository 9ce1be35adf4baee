"""A mismatch: one fact that differs, with everything that a person needs to see why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

MismatchClass: TypeAlias = Literal[
    "none", "zero", "slices", "structure", "dtype", "shape", "non-finite", "value", "error",
    "warning", "calls", "watched",
]  # fmt: skip
ORDER: tuple[MismatchClass, ...] = (
    "error", "structure", "none", "slices", "calls", "watched", "dtype", "shape", "non-finite",
    "zero", "value", "warning",
)  # fmt: skip
"""The order in which classes are looked for; the later the first one is, the closer the answer."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One fact that differs.

    `path` leads into the structure (`[0]['w']`), `index` to the worst element. `bound` is the
    largest admitted difference there, `floor` the smallest relative error that is still caught
    there (None where the element is zero, or where the class has no bound).
    """

    kind: MismatchClass
    name: str
    path: str
    expected: str
    got: str
    index: tuple[int, ...] | None = None
    difference: float | None = None
    bound: float | None = None
    floor: float | None = None
    note: str = ""

    @property
    def where(self) -> str:
        """`g[0]['w'] element (1, 2)`."""
        element = f" element {self.index}" if self.index else ""
        return f"{self.name}{self.path}{element}"


def lines(mismatch: Mismatch) -> list[str]:
    """A mismatch for a person.

    value: g[0] element (3,): got 2.1e-05, expected 2e-05
      difference 1e-06, bound 3.8e-11; relative errors from 1.9e-06 are caught here
      2 of 6 elements are off; bound = 16 x eps(float32) x |expected|
    """
    text = [
        f"{mismatch.kind}: {mismatch.where}: got {mismatch.got}, expected {mismatch.expected}",
    ]
    if mismatch.difference is not None and mismatch.bound is not None:
        caught = f"any difference above {mismatch.bound:.3g} is caught here"
        if mismatch.floor is not None:
            caught = f"relative errors from {mismatch.floor:.1e} are caught here"
        text.append(
            f"  difference {mismatch.difference:.3g}, bound {mismatch.bound:.3g};"
            f" {caught if mismatch.bound else 'exact'}"
        )
    if mismatch.note:
        text.append(f"  {mismatch.note}")
    return text
