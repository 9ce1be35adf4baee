"""A drawn program as text that can be rewritten: its query, its calls, and what it answered."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from textwrap import indent
from typing import Any, TypeAlias

import numpy as np
import yaml

from conformance.answers.answer import Answer, Slices, Structure, Tensor, Value
from conformance.corpus.language.program import names_read, parsed, tree_of

Both: TypeAlias = "tuple[Answer, Answer]"
"""What is due of a rewritten program, and what it answered."""
PLAIN = re.compile(r"custom_gradient|pass_through|py_function|numpy_function|stop_recording|assign")
"""What has no derivative, or another one than its gradient is, or changes what it reads."""
UNDERIVED = re.compile(
    r"complex|stop_gradient|quantize|PreventGradient|round|floor|//|int32|bitcast|zero'|ZERO"
    r"|xdivy|xlogy|xlog1py|no_nan|trainable: false"
)
"""What else has a gradient by convention, or inputs with two parts."""
QUERIES = ("gradient", "jacobian", "batch_jacobian", "jvp")


@dataclass(frozen=True)
class Program:
    """A drawn program, read from the entry of its case."""

    inputs: Mapping[str, Mapping[str, Any]]
    run: str
    expect: Mapping[str, str]

    @classmethod
    def of(cls, entry: str) -> Program:
        """The program of an entry."""
        read = yaml.safe_load(entry)
        return cls(read["inputs"] or {}, read["run"].rstrip(), read["expect"])

    def entry(self, title: str = "Drawn") -> str:
        """The entry of a case that holds it."""
        names = names_read(tree_of(self.run))
        read = {name: given for name, given in self.inputs.items() if name in names}
        inputs = yaml.safe_dump(read, default_flow_style=True, width=10_000, sort_keys=False)
        expect = ", ".join(f"{name}: {due}" for name, due in self.expect.items())
        return (
            f"title: {title}\nsource: contract/s1\ninputs: {inputs.strip()}\n"
            f"run: |\n{indent(self.run, '  ')}\nexpect: {{{expect}}}"
        )

    @property
    def tree(self) -> ast.Module:
        """Its program, parsed anew."""
        return parsed(self.run)

    def rewritten(self, tree: ast.Module) -> Program | None:
        """The same with another program; None where that is the same one."""
        run = ast.unparse(tree)
        return None if run == ast.unparse(self.tree) else replace(self, run=run)


@dataclass(frozen=True)
class Relation:
    """A rewriting, and what is due of the rewritten program where the drawn one answered."""

    name: str
    sentence: str
    rewrite: Callable[[Program], Program | None]
    both: Callable[[Answer, Answer], Both] = lambda drawn, told: (drawn, told)


# ----- parts of programs -----


def calls_in(tree: ast.AST, *methods: str) -> list[ast.Call]:
    """The calls of methods."""
    found = (part for part in ast.walk(tree) if isinstance(part, ast.Call))
    return [c for c in found if isinstance(c.func, ast.Attribute) and c.func.attr in methods]


def query_of(tree: ast.Module) -> ast.Call | None:
    """The one query of a program, as `g = tape.gradient(target, sources)` at its end."""
    last = tree.body[-1]
    if len(calls_in(tree, *QUERIES)) > 1 or not isinstance(last, ast.Assign):
        return None
    if ast.unparse(last.targets[0]) != "g":
        return None
    call = last.value
    return call if isinstance(call, ast.Call) and call in calls_in(tree, "gradient") else None


def records_all(tree: ast.Module) -> bool:
    """Whether a program computes everything inside of its one tape."""
    *before, _ = tree.body
    return [type(part) for part in before] == [ast.With]


def single_query_of(tree: ast.Module) -> ast.Call | None:
    """The one query, where it has one target and no upstream gradient."""
    query = query_of(tree)
    given = query and [word.arg for word in query.keywords]
    if query is None or "output_gradients" in (given or ()):
        return None
    return query if isinstance(query.args[0], ast.Name) else None


def expression(text: str) -> ast.expr:
    """The tree of an expression."""
    (statement,) = parsed(text).body
    assert isinstance(statement, ast.Expr)
    return statement.value


def asking(change: Callable[[ast.Call], None]) -> Callable[[Program], Program | None]:
    """A rewriting of the one query of one target."""

    def rewrite(program: Program) -> Program | None:
        tree = program.tree
        query = single_query_of(tree)
        if query is None:
            return None
        change(query)
        return program.rewritten(tree)

    return rewrite


# ----- answers -----


def mapped(value: Value, change: Callable[[np.ndarray[Any, Any]], Any]) -> Value:
    """A value with the elements of its tensors changed."""
    match value:
        case Tensor():
            return replace(value, array=np.asarray(change(value.array), value.array.dtype))
        case Slices():
            values = mapped(value.values, change)
            assert isinstance(values, Tensor)
            return replace(value, values=values)
        case Structure():
            return replace(value, items=tuple(mapped(item, change) for item in value.items))
    return value


def with_observed(answer: Answer, **observed: Value) -> Answer:
    """An answer that says this of these names, and of others what it says."""
    return replace(answer, observations={**answer.observations, **observed})
