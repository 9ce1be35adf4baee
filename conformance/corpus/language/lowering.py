"""Lowering: a case becomes one plain Python text, the same for every target and every mode."""

from __future__ import annotations

import ast
import hashlib
import json
import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

from conformance.corpus.language.call_mode import call_program
from conformance.corpus.language.case import (
    Case,
    ExpectedCalls,
    ExpectedError,
    ExpectedSurvey,
    Input,
    Nested,
)
from conformance.corpus.language.expectations import expects
from conformance.corpus.language.program import (
    RECENT,
    Step,
    blocks_of,
    bound_by,
    count_operations,
    dependencies,
    first_line,
    has_control_flow,
    names_of_framework,
    names_of_scope,
    names_read,
    statements_of,
    steps_of,
    tree_of,
    walk,
)

HASHED = 1
"""Part of every program's hash: raised where the same text is to be another program."""


@dataclass(frozen=True)
class Lowered:
    """The text that runs, and what the host needs to know of it.

    `source` makes the inputs at module level and defines `case(...)`; `run` is the case's own
    text, of which it is made; `parameters` are the inputs that `case` takes; `obstacle`
    says why the mode `call` needs expectations of its own. What most cells never ask for is
    found when it is read, and kept.
    """

    source: str
    run: str
    parameters: tuple[str, ...]
    observed: tuple[str, ...]
    obstacle: str = ""

    @cached_property
    def hash(self) -> str:
        """What identifies the program: its text (inputs included) and what is observed."""
        parts = [HASHED, self.source, self.parameters, sorted(self.observed)]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]

    @cached_property
    def convert(self) -> bool:
        """Whether AutoGraph has control flow to convert."""
        return has_control_flow(tree_of(self.source))

    @cached_property
    def operations(self) -> int:
        """How many tensor operations the case's program writes."""
        return count_operations(self.run)

    @cached_property
    def uses(self) -> frozenset[str]:
        """The names of the framework that the program uses, without the `tf.`."""
        return names_of_framework(tree_of(self.source))

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The steps of `source`, by its lines: setup's, then those of `case`."""
        *head, function = tree_of(self.source).body
        assert isinstance(function, ast.FunctionDef)
        return (*steps_of(head), *steps_of(function.body[:-1]))

    @cached_property
    def dependencies(self) -> dict[str, frozenset[str]]:
        """For each name, the labels of the steps that its value can depend on."""
        return dependencies(tree_of(self.run).body)

    def step_at(self, line: int | None) -> str | None:
        """The label of the step on a line of `source`; None where the line belongs to none."""
        covering = [step for step in self.steps if line and step.line <= line <= step.end_line]
        return covering[-1].label if covering else None


def lower(case: Case, mode: str = "eager") -> Lowered:
    """The lowered program of a case; its `source` is what every worker runs.

    The same text runs in every mode but `call`, whose functions stand in the text.

    The program's own lines are kept as they were written (the subset has one statement on a
    line), so the text and its hash do not depend on the Python that lowers.
    """
    return _lower(case, mode == "call")


@lru_cache(2 * RECENT)  # as the case is written, and for the mode call
def _lower(case: Case, call: bool) -> Lowered:
    may_fail = (ExpectedError, ExpectedSurvey)
    guarded = {name for name in case.observed if any(_expects(case, name, k) for k in may_fail)}
    run, obstacle = case.run, ""
    if call:
        tensors = [item.name for item in case.inputs if item.kind == "constant"]
        program = call_program(case.run, tensors, case.observed, sorted(guarded))
        run, obstacle = program.text, program.obstacle
    parameters = parameters_of(case)
    counted = {name for name in case.observed if _expects(case, name, ExpectedCalls)}
    head = [construction(item) for item in case.inputs]
    head += [f"calls = {dict.fromkeys(sorted(counted), 0)}"] if counted else []
    head += _edited(case.setup, counted, set()) if tree_of(case.setup).body else []
    body = _edited(run, counted, guarded)
    observed = ", ".join(f"{name!r}: {_observation(name, counted)}" for name in case.observed)
    function = [
        f"def case({', '.join(parameters)}):",
        *indented([*body, f"return {{{observed}}}"]),
    ]
    source = "\n".join([*head, "", "", *function] if head else function) + "\n"
    return Lowered(source, case.run, parameters, case.observed, obstacle)


def _expects(case: Case, name: str, kind: type) -> bool:
    return any(expects(given.get(name), kind) for given in (case.expect, *case.expect_in.values()))


def _observation(name: str, counted: set[str]) -> str:
    return f"calls[{name!r}]" if name in counted else name


def parameters_of(case: Case) -> tuple[str, ...]:
    """Constants that the program reads, and inputs that it binds anew: the same in every mode.

    Everything else (variables, modules) is closed over; a string that nothing reads would make
    XLA refuse the whole program.
    """
    tree = tree_of(case.run)
    read, own = names_read(tree), names_of_scope(tree)
    return tuple(
        item.name
        for item in case.inputs
        if (item.kind == "constant" and item.name in read) or item.name in own
    )


def _edited(text: str, counted: set[str], guarded: set[str]) -> list[str]:
    """The lines of a program, with what the lowering puts in.

    A function whose calls are expected counts them; a statement that binds a name expected to
    fail stands in a guard.
    """
    lines = text.rstrip().split("\n")
    if not (counted or guarded):
        return lines
    tree, placed = tree_of(text), [[line] for line in lines]
    for part in walk(tree) if counted else ():
        if isinstance(part, ast.FunctionDef) and part.name in counted:
            first = first_line(part.body[0]) - 1
            placed[first].insert(0, f"{_margin(lines[first])}calls[{part.name!r}] += 1")
    for statement in statements_of(tree.body):
        if blocks_of(statement) or not guarded & set(bound_by(statement)):
            continue
        first, last = first_line(statement) - 1, statement.end_lineno or 1
        inside = indented([line for place in placed[first:last] for line in place])
        placed[first:last] = [[*_guard(statement, _margin(lines[first]), inside)]] + [
            [] for _ in range(last - first - 1)
        ]
    return [line for place in placed for line in place]


def _guard(statement: ast.stmt, margin: str, inside: list[str]) -> list[str]:
    """The statement's lines in a try that binds its names to what it raised."""
    kept = " = ".join([*bound_by(statement), "raised"])
    return [f"{margin}try:", *inside, f"{margin}except Exception as raised:", f"{margin}    {kept}"]


def indented(lines: list[str]) -> list[str]:
    """The lines of a function's body."""
    return [f"    {line}" if line.strip() else "" for line in lines]


def _margin(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" "))]


def construction(item: Input, wrapped: str = "{}") -> str:
    """The line that makes an input: `x = tf.constant([1.0, 3.0])`, its value `wrapped`."""
    value = wrapped.format(_written(item.value))
    dtype = "" if item.dtype in ("float32", "string") else f", dtype=tf.{item.dtype}"
    if item.kind == "constant":
        return f"{item.name} = tf.constant({value}{dtype})"
    frozen = "" if item.trainable else ", trainable=False"
    return f'{item.name} = tf.Variable({value}{frozen}, name="{item.name}"{dtype})'


def _written(value: Nested) -> str:
    """A literal as Python text, nan and inf included."""
    if isinstance(value, tuple):
        return "[" + ", ".join(_written(item) for item in value) + "]"
    if isinstance(value, complex):  # 1-0j is no complex(1, -0.0), and nan+1j no Python
        return f"complex({_written(value.real)}, {_written(value.imag)})"
    if isinstance(value, float) and not math.isfinite(value):
        return f"float('{value}')"
    return repr(value)
