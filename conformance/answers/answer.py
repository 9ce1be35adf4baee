"""What a target answered: a value for each name, typed and checked, before anyone judges it.

An answer is made by `wire`, which distrusts what it reads; who holds one need not check it again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from conformance.answers.literals import Array
from conformance.corpus.language.literals import PYTHON_TYPES, Family, Kind, family, kind_of

ENDING = "(the case's end)"
"""The name under which the error that ended a case stands beside the observed ones."""

ENDED = re.compile(r"ended (?:by signal (?P<signal>\w+)|with exit code (?P<code>\d+))")

Outcome: TypeAlias = Literal[
    "answered", "crash", "timeout", "adapter_error", "unsupported", "not_applicable", "not_run"
]


@dataclass(frozen=True, slots=True, eq=False)
class Tensor:
    """A tensor, a NumPy array (`numpy`) or a Python scalar: its elements and its dtype's name.

    A Python scalar has no dtype, but a type: `Python float`. A bfloat16 is held as float32, a
    string as Python str. Two are equal if they are of one kind and all their bits are.
    """

    array: Array
    dtype: str
    numpy: bool = False

    @property
    def kind(self) -> Kind:
        """What it is called on the wire."""
        return kind_of(self.dtype, self.numpy)

    @property
    def family(self) -> Family:
        """The family of the dtype, or of the dtype that holds the Python scalar."""
        return family(PYTHON_TYPES.get(self.dtype, self.dtype))

    @property
    def _type(self) -> tuple[str, bool, tuple[int, ...]]:
        return self.dtype, self.numpy, self.array.shape

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tensor):
            return NotImplemented
        same_type = self._type == other._type
        if self.array.dtype == object:
            return same_type and bool(np.all(self.array == other.array))
        return same_type and self.array.tobytes() == other.array.tobytes()

    __hash__ = None  # type: ignore[assignment]  # an array is not hashable either


@dataclass(frozen=True, slots=True)
class NoneValue:
    """None: unconnected, where it is a gradient."""

    kind: ClassVar = "none"


@dataclass(frozen=True, slots=True)
class Slices:
    """A tf.IndexedSlices: rows at indices of a tensor of a shape that it may not know."""

    kind: ClassVar = "indexed_slices"
    values: Tensor
    indices: Tensor
    dense_shape: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class Structure:
    """A list, a tuple, or a dict, whose `keys` name the items."""

    kind: Literal["list", "tuple", "dict"]
    items: tuple[Value, ...]
    keys: tuple[str, ...] = ()

    @property
    def named(self) -> dict[int | str, Value]:
        """The items by their keys, or by position."""
        return dict(zip(self.keys or range(len(self.items)), self.items, strict=True))


@dataclass(frozen=True, slots=True)
class Composite:
    """A ragged or a sparse tensor, as the dict of its parts under TensorFlow's names for them."""

    kind: Literal["ragged", "sparse"]
    parts: Structure


@dataclass(frozen=True, slots=True)
class VariableName:
    """A variable, known by its name."""

    kind: ClassVar = "variable"
    name: str


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception: its class, the names of the class and its bases, and where it arose.

    `phase` is setup, define, trace or run; `step` names what the raising statement binds, where
    that is known. `line` is that of the program's text, in a reply alone.
    """

    kind: ClassVar = "error"
    type: str
    bases: tuple[str, ...]
    message: str
    phase: str = ""
    step: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class NotReached:
    """An earlier statement ended the case."""

    kind: ClassVar = "not_reached"


@dataclass(frozen=True, slots=True)
class NotObserved:
    """The mode lost the value: neither None nor a pass.

    `raised` is the class of the exception that reading the tensor raised, where it did.
    """

    kind: ClassVar = "not_observed"
    raised: str = ""


@dataclass(frozen=True, slots=True)
class Other:
    """An object of a class that no case speaks of."""

    kind: ClassVar = "other"
    type: str


Value: TypeAlias = (
    "Tensor | NoneValue | Slices | Structure | Composite | VariableName | Raised | NotReached"
    " | NotObserved | Other"
)


def item_of(value: Value | None, key: int | str) -> Value | None:
    """The item of a structure at a position or under a key; None where there is none."""
    return value.named.get(key) if isinstance(value, Structure) else None


@dataclass(frozen=True, slots=True)
class Estimate:
    """The derivative by one source, and how far one of its elements may be off."""

    value: Tensor
    error: float


@dataclass(frozen=True, slots=True)
class Derivative:
    """A derivative of a target's own forward, by each source; or the `fault` that left none.

    It was computed in `dtype`, whose `rounding` of the forward may show in each element.
    """

    dtype: str = ""
    rounding: float = 0.0
    sources: Mapping[str, Estimate] = field(default_factory=dict)
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back from one cell: a value for each observed name, or why there is none.

    `error` is the exception that ended the program before its end. `detail` says why there is no
    answer. `warnings` are what the framework's loggers said. A target that was asked for
    derivatives answers `derivatives` alone. How long it took makes no other answer of it.
    """

    outcome: Outcome
    observations: Mapping[str, Value] = field(default_factory=dict)
    error: Raised | None = None
    warnings: tuple[str, ...] = ()
    detail: str = ""
    seconds: float = field(default=0.0, compare=False)
    derivatives: Mapping[str, Derivative] = field(default_factory=dict)

    @property
    def end(self) -> str:
        """How the process ended that should have answered: `crash SIGSEGV`, `exit 3`, `timeout`.

        What it last said does not count: it depends on what it did before.
        """
        if self.outcome != "crash":
            return "timeout" if self.outcome == "timeout" else ""
        how = ENDED.match(self.detail)
        if how and how["code"]:
            return f"exit {how['code']}"
        return f"crash {how['signal']}" if how else "crash"

    def observed(self, name: str) -> Value:
        """What it says under a name, or at the case's end."""
        if name == ENDING:
            return self.error or NoneValue()
        return self.observations.get(name, NotObserved())
