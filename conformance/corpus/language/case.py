"""What a case is: frozen values that the loader makes and everything else reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

Scalar: TypeAlias = "bool | int | float | complex | str"
Nested: TypeAlias = "Scalar | tuple[Nested, ...]"
"""A number, or nested tuples of numbers: what a YAML literal of a tensor says."""

MODES = ("eager", "graph", "xla", "call")
DERIVATIVE = "derivative"
"""Stands for a mode where a target is asked for the derivatives of its forward, once a case."""
INHERITED_MODE = {"xla": "graph", "call": "eager"}
"""Where a mode takes the expectations that it does not declare itself."""


class Place(NamedTuple):
    """Where a thing was written: a file, a 1-based line and column, and a $.path in the YAML."""

    file: str
    line: int
    column: int
    path: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column} {self.path}"


@dataclass(frozen=True, slots=True)
class Input:
    """A constant or a variable that a case's program reads; made fresh for each cell."""

    name: str
    kind: Literal["constant", "variable"]
    value: Nested
    dtype: str
    trainable: bool = True


@dataclass(frozen=True, slots=True)
class Cancellation:
    """Why small elements are what is left of larger terms, and the size of the largest term."""

    terms: float
    reason: str


@dataclass(frozen=True, slots=True)
class ExpectedTensor:
    """A tensor of this value; a Python scalar where `dtype` is a type such as `Python float`.

    `dtype` and `shape` are exact where given; without a dtype the oracle's dtype is taken.
    `within` narrows the bound: "exact", "element" (the bound is taken for each element instead
    of for the whole tensor) or a relative error smaller than the usual bound. A zero is exact,
    unless the tensor `cancels`. Where it is `dense`, IndexedSlices that add up to it meet it too.
    """

    value: Nested
    dtype: str | None = None
    shape: tuple[int, ...] | None = None
    within: str | float | None = None
    cancels: Cancellation | None = None
    dense: bool = False
    numpy: bool = False
    """Whether it is a NumPy array instead: a departure's answer."""


@dataclass(frozen=True, slots=True)
class ExpectedNone:
    """None: no recorded path leads from the target to the source."""


@dataclass(frozen=True, slots=True)
class ExpectedStructure:
    """A list, a tuple or a dict (then `keys` names the items) of further expectations."""

    kind: Literal["list", "tuple", "dict"]
    items: tuple[Expectation, ...]
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExpectedSlices:
    """A tf.IndexedSlices: rows `values` at `indices` of a tensor of shape `dense_shape`.

    A shape that the slices do not know is None.
    """

    values: ExpectedTensor
    indices: ExpectedTensor
    dense_shape: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class ExpectedError:
    """An exception: its class or one of its bases is `type`; `message` is a substring.

    `at` names the step (the name that the raising statement binds) where it must arise;
    without it, a step that the expected name depends on may raise instead.
    """

    type: str
    message: str = ""
    at: str | None = None


@dataclass(frozen=True, slots=True)
class ExpectedRaised:
    """An exception of exactly this class with exactly this message: a departure's answer."""

    type: str
    message: str


@dataclass(frozen=True, slots=True)
class ExpectedSeen:
    """A value that has no other form, by its text, `not reached`: a departure's answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ExpectedCalls:
    """How many times Python executed the body of a `def`."""

    count: int


@dataclass(frozen=True, slots=True)
class ExpectedWatched:
    """The names of the variables in a `watched_variables()`, in order."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExpectedAnyOf:
    """One of several answers that the documentation allows."""

    options: tuple[Expectation, ...]


@dataclass(frozen=True, slots=True)
class ExpectedOracle:
    """Whatever the oracle answers: only where every mode must agree with it."""


@dataclass(frozen=True, slots=True)
class ExpectedDerivative:
    """The derivative of the target's own forward, weighed by the upstream gradient.

    A case says no more; where it is compared, it is by an input `source` of this `dtype`, and of
    first or second `order`.
    """

    source: str = ""
    dtype: str = ""
    order: int = 1


@dataclass(frozen=True, slots=True)
class ExpectedSurvey:
    """Anything, recorded and never judged: for points where no convention is right."""


Expectation: TypeAlias = (
    "ExpectedTensor | ExpectedNone | ExpectedStructure | ExpectedSlices | ExpectedError"
    " | ExpectedRaised | ExpectedSeen | ExpectedCalls | ExpectedWatched | ExpectedAnyOf"
    " | ExpectedOracle | ExpectedDerivative | ExpectedSurvey"
)


@dataclass(frozen=True, eq=False, slots=True)
class Case:
    """One fact about gradients: inputs, a program, and what its observed names must be.

    Cases are compared and hashed by identity, so that what is derived from one can be kept.

    `id` is `<area>/<topic>/<name>`. `run` and `setup` are checked program text. `expect` holds
    the expectations of every mode, `expect_in` those that differ in a mode. `formerly` is the id
    that it had before it was moved. A row of a table is about an `operation`.
    """

    id: str
    title: str
    sources: tuple[str, ...]
    place: Place
    run: str
    run_line: int
    expect: Mapping[str, Expectation]
    inputs: tuple[Input, ...] = ()
    setup: str = ""
    setup_line: int = 0
    expect_in: Mapping[str, Mapping[str, Expectation]] = field(default_factory=dict)
    not_applicable: Mapping[str, str] = field(default_factory=dict)
    warns: str | None = None
    isolated: bool = False
    tags: tuple[str, ...] = ()
    formerly: str = ""
    operation: str = ""

    @property
    def area(self) -> str:
        """The first part of the id: the folder of the case's file."""
        return self.id.split("/", 1)[0]

    @property
    def file(self) -> str:
        """The file that declares it, as it is shown everywhere."""
        return self.place.file

    @property
    def observed(self) -> tuple[str, ...]:
        """Every name that some mode has an expectation of, in the order of declaration."""
        names = dict.fromkeys(self.expect)
        for expectations in self.expect_in.values():
            names.update(dict.fromkeys(expectations))
        return tuple(names)

    @property
    def simplest_mode(self) -> str:
        """Eager, or graph where eager execution refuses the case."""
        return "graph" if "eager" in self.not_applicable else "eager"

    def expectations_in(self, mode: str) -> dict[str, Expectation]:
        """What each observed name must be in `mode`, with inheritance applied."""
        return {**self.expect, **self.overrides_in(mode)}

    def is_survey_in(self, mode: str) -> bool:
        """Whether answers are expected in `mode`, and none that can be judged."""
        kinds = set(map(type, self.expectations_in(mode).values()))
        return kinds == {ExpectedSurvey} and not self.warns

    def overrides_in(self, mode: str) -> Mapping[str, Expectation]:
        """The expectations of `mode` that replace the general ones (and the oracle's word)."""
        inherited = INHERITED_MODE.get(mode)
        inherited_overrides = self.overrides_in(inherited) if inherited else {}
        return {**inherited_overrides, **self.expect_in.get(mode, {})}
