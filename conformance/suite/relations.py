"""Metamorphic relations: rewritten in a way that has to tell, a program answers what it answered.

A relation rewrites the text of a drawn program, and says what is due of the rewritten one. Most are
about programs of one query, `g = tape.gradient(target, sources)`, outside of its tape.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from textwrap import indent
from typing import Any, TypeAlias

import numpy as np
import yaml

from conformance.answers.answer import Answer, NoneValue, Slices, Structure, Tensor, Value
from conformance.corpus.language.case import DERIVATIVE
from conformance.corpus.language.program import tree_of

Both: TypeAlias = "tuple[Answer, Answer]"
"""What is due of a rewritten program, and what it answered."""
PLAIN = re.compile(r"custom_gradient|pass_through|py_function|numpy_function|stop_recording|assign")
"""What has no derivative, or another one than its gradient is, or changes what it reads."""
UNDERIVED = re.compile(
    r"complex|stop_gradient|quantize|PreventGradient|round|floor|//|int32|bitcast|zero'"
)
"""What else has a gradient by convention, or inputs with two parts."""
QUERIES = ("gradient", "jacobian", "batch_jacobian", "jvp")


def parsed(text: str) -> ast.Module:
    """The tree of a program, which may be changed."""
    return copy.deepcopy(tree_of(text))


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
        read = {name: v for name, v in self.inputs.items() if re.search(rf"\b{name}\b", self.run)}
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


def _calls(tree: ast.AST, *methods: str) -> list[ast.Call]:
    """The calls of methods."""
    calls = (part for part in ast.walk(tree) if isinstance(part, ast.Call))
    return [c for c in calls if isinstance(c.func, ast.Attribute) and c.func.attr in methods]


def _query(tree: ast.Module) -> ast.Call | None:
    """The one query of a program, as `g = tape.gradient(target, sources)` at its end."""
    last = tree.body[-1]
    if len(_calls(tree, *QUERIES)) > 1 or not isinstance(last, ast.Assign):
        return None
    call = last.value
    return call if isinstance(call, ast.Call) and call in _calls(tree, "gradient") else None


def _single(tree: ast.Module) -> ast.Call | None:
    """The one query, where it has one target and no upstream gradient."""
    query = _query(tree)
    given = query and [word.arg for word in query.keywords]
    if query is None or "output_gradients" in (given or ()):
        return None
    return query if isinstance(query.args[0], ast.Name) else None


def _expression(text: str) -> ast.expr:
    (statement,) = parsed(text).body
    assert isinstance(statement, ast.Expr)
    return statement.value


def _asking(change: Callable[[ast.Call], None]) -> Callable[[Program], Program | None]:
    """A rewriting of the one query of one target."""

    def rewrite(program: Program) -> Program | None:
        tree = program.tree
        query = _single(tree)
        if query is None:
            return None
        change(query)
        return program.rewritten(tree)

    return rewrite


# ----- answers -----


def _mapped(value: Value, change: Callable[[np.ndarray[Any, Any]], Any]) -> Value:
    """A value with the elements of its tensors changed."""
    match value:
        case Tensor():
            return replace(value, array=np.asarray(change(value.array), value.array.dtype))
        case Slices():
            values = _mapped(value.values, change)
            assert isinstance(values, Tensor)
            return replace(value, values=values)
        case Structure():
            return replace(value, items=tuple(_mapped(item, change) for item in value.items))
    return value


def _with(answer: Answer, **observed: Value) -> Answer:
    """An answer that says this of these names, and of others what it says."""
    return replace(answer, observations={**answer.observations, **observed})


def _twice(drawn: Answer, told: Answer) -> Both:
    return _with(drawn, g=_mapped(drawn.observed("g"), lambda array: array * 2)), told


# ----- rewritings -----


def _persistent(program: Program) -> Program | None:
    tree = program.tree
    for call in _calls(tree, "GradientTape"):
        if "persistent" not in [word.arg for word in call.keywords]:
            call.keywords.append(ast.keyword("persistent", ast.Constant(True)))
    return program.rewritten(tree)


def _watched_twice(program: Program) -> Program | None:
    run = re.sub(r"^( *\w+\.watch\(\w+\))$", r"\1\n\1", program.run, flags=re.MULTILINE)
    return program.rewritten(parsed(run))


def _around(program: Program) -> Program | None:
    run = f"with tf.GradientTape() as around:\n{indent(program.run, '    ')}"
    return replace(program, run=run)


def _identity(program: Program) -> Program | None:
    """The target is bound again where it was bound, to its identity."""
    tree = program.tree
    query = _query(tree)
    if query is None or not isinstance(query.args[0], ast.Name) or PLAIN.search(program.run):
        return None
    if "nest.flatten" in program.run:
        return None  # the target may be a variable, whose identity is a tensor
    name = query.args[0].id
    run = re.sub(rf"^( *){name} = .*$", rf"\g<0>\n\1{name} = tf.identity({name})", program.run,
                 flags=re.MULTILINE)  # fmt: skip
    return program.rewritten(parsed(run))


def _stopped_constants(program: Program) -> Program | None:
    constants = [name for name, given in program.inputs.items() if "constant" in given]
    lines = [f"{name} = tf.stop_gradient({name})" for name in constants]
    return program.rewritten(parsed("\n".join([*lines, program.run])))


def _ones_given(query: ast.Call) -> None:
    ones = f"tf.ones_like({ast.unparse(query.args[0])})"
    query.keywords.append(ast.keyword("output_gradients", _expression(ones)))


def _twos_given(query: ast.Call) -> None:
    ones = f"tf.ones_like({ast.unparse(query.args[0])})"
    query.keywords.append(ast.keyword("output_gradients", _expression(f"{ones} + {ones}")))


def _listed_twice(query: ast.Call) -> None:
    query.args[0] = ast.List([query.args[0], query.args[0]])


def _nested_sources(query: ast.Call) -> None:
    query.args[1] = ast.Dict([ast.Constant("a")], [ast.List([query.args[1]])])


def _nested(drawn: Answer, told: Answer) -> Both:
    due = Structure("dict", (Structure("list", (drawn.observed("g"),)),), ("a",))
    return _with(drawn, g=due), told


def _zeros_asked(query: ast.Call) -> None:
    if "unconnected_gradients" not in [word.arg for word in query.keywords]:
        query.keywords.append(ast.keyword("unconnected_gradients", ast.Constant("zero")))


def _zeros(drawn: Answer, told: Answer) -> Both:
    return _with(drawn, g=_filled(drawn.observed("g"), told.observed("g"))), told


def _filled(drawn: Value, told: Value) -> Value:
    """What was drawn, with zeros such as those told in the place of None."""
    if isinstance(drawn, Structure) and isinstance(told, Structure):
        pairs = zip(drawn.items, told.items, strict=False)
        return replace(drawn, items=tuple(_filled(*pair) for pair in pairs))
    if isinstance(drawn, NoneValue) and isinstance(told, Tensor):
        return _mapped(told, np.zeros_like)
    return drawn


def _each_target(program: Program) -> Program | None:
    """Both targets of a query are asked for, one after the other."""
    tree = program.tree
    query = _query(tree)
    if query is None or not isinstance(query.args[0], ast.List):
        return None
    targets, sources = query.args[0].elts, ast.unparse(query.args[1])
    if len(query.keywords) or ast.unparse(targets[0]) == ast.unparse(targets[1]):
        return None
    tape = ast.unparse(query.func)
    asked = [f"g{i} = {tape}({ast.unparse(target)}, {sources})" for i, target in enumerate(targets)]
    run = "\n".join([ast.unparse(ast.Module(tree.body[:-1], [])), *asked])
    apart = replace(program, run=run, expect={"g0": "oracle", "g1": "oracle"})
    return _persistent(apart) or apart


def _added(drawn: Answer, told: Answer) -> Both:
    both = told.observed("g0"), told.observed("g1")
    if any(isinstance(value, Slices) for value in (*_leaves(both[0]), *_leaves(both[1]))):
        return told, told  # a sum of slices is their concatenation, in an order of its own
    return _only(drawn, "g"), replace(told, observations={"g": _sum(*both)})


def _only(answer: Answer, name: str) -> Answer:
    return replace(answer, observations={name: answer.observed(name)})


def _leaves(value: Value) -> Iterator[Value]:
    if isinstance(value, Structure):
        for item in value.items:
            yield from _leaves(item)
    else:
        yield value


def _sum(one: Value, other: Value) -> Value:
    """The sum of two gradients, of which None is nothing."""
    match one, other:
        case Structure(), Structure():
            return replace(one, items=tuple(map(_sum, one.items, other.items)))
        case Tensor(), Tensor():
            return _mapped(one, lambda array: array + other.array)
        case NoneValue(), _:
            return other
    return one


def _jacobian_asked(program: Program) -> Program | None:
    tree = program.tree
    query = _single(tree)
    if query is None or not isinstance(query.func, ast.Attribute) or PLAIN.search(program.run):
        return None
    target, sources = map(ast.unparse, query.args[:2])
    if re.search(rf"\b{target}\b", sources):
        return None  # it is reshaped before it is asked for: its source is another tensor then
    query.func.attr = "jacobian"
    return program.rewritten(tree)


def _rows_added(drawn: Answer, told: Answer) -> Both:
    due, jacobian = drawn.observed("g"), told.observed("g")
    if any(isinstance(value, Slices) for value in _leaves(due)):
        return told, told  # a jacobian is dense
    return drawn, _with(told, g=_summed(jacobian, due))


def _summed(jacobian: Value, gradient: Value) -> Value:
    """The sum of a jacobian over the axes that its gradient has not."""
    if isinstance(jacobian, Structure) and isinstance(gradient, Structure):
        pairs = zip(jacobian.items, gradient.items, strict=False)
        return replace(jacobian, items=tuple(_summed(*pair) for pair in pairs))
    if isinstance(jacobian, Tensor) and isinstance(gradient, Tensor):
        rows = range(jacobian.array.ndim - gradient.array.ndim)
        return _mapped(jacobian, lambda array: array.sum(axis=(*rows,)))
    return jacobian


def _forward(program: Program) -> Program | None:
    """The derivative along an input forwards, and the gradient by it, times that direction."""
    tree = program.tree
    query = _single(tree)
    watched = [ast.unparse(call.args[0]) for call in _calls(tree, "watch")]
    is_real = all(given["dtype"].startswith("float") for given in program.inputs.values())
    if query is None or not watched or not is_real or PLAIN.search(program.run):
        return None
    if "complex" in program.run or "{" in program.run:
        return None
    x, target = watched[0], ast.unparse(query.args[0])
    tape = ast.unparse(query.func)
    body = ast.unparse(ast.Module(tree.body[:-1], []))
    run = "\n".join(
        [
            f"u = {x} + tf.ones_like({x})",
            f"with tf.autodiff.ForwardAccumulator({x}, u) as acc:",
            indent(body, "    "),
            f"g = {tape}({target}, {x}, unconnected_gradients='zero')",
            f"h = acc.jvp({target}, unconnected_gradients='zero')",
        ]
    )
    return replace(program, run=run, expect={"g": "oracle", "u": "oracle", "h": "oracle"})


def _dual(drawn: Answer, told: Answer) -> Both:
    """The two sums, in float64; slices are rows that are added up where they belong."""
    gradient, direction, tangent = (told.observed(name) for name in "guh")
    if not isinstance(gradient, Tensor) or not isinstance(direction, Tensor):
        return told, told
    if not isinstance(tangent, Tensor) or tangent.dtype != gradient.dtype:
        return told, told
    forwards, backwards = tangent.array.sum(), (gradient.array * direction.array).sum()
    size = max(float(np.abs(gradient.array * direction.array).sum()), 1.0)
    due, got = (
        Tensor(np.array([size, number], tangent.array.dtype), tangent.dtype)
        for number in (forwards, backwards)
    )
    empty = replace(drawn, observations={})
    return _with(empty, g=due), _with(empty, g=got)


def _derivative(program: Program) -> Program | None:
    query = _query(program.tree)
    if query is None or PLAIN.search(program.run) or UNDERIVED.search(program.entry()):
        return None
    return replace(program, expect={**program.expect, "g": "derivative"})


RELATIONS = (
    Relation(DERIVATIVE, "a gradient is the derivative of the target's own values", _derivative),
    Relation("persistent", "a persistent tape answers what any tape does", _persistent),
    Relation("watched_twice", "to watch twice is to watch once", _watched_twice),
    Relation("around", "a tape around all of it changes nothing", _around),
    Relation("identity", "the identity of the target is the target", _identity),
    Relation("stopped", "a constant has no gradient to be stopped", _stopped_constants),
    Relation("ones", "without output_gradients, ones arrive", _asking(_ones_given)),
    Relation("scaled", "twice the upstream is twice the gradient", _asking(_twos_given), _twice),
    Relation(
        "listed_twice", "a target that is listed twice counts twice", _asking(_listed_twice), _twice
    ),
    Relation("sum", "the gradient of two targets is the sum of theirs", _each_target, _added),
    Relation(
        "nested", "sources are answered as they are nested", _asking(_nested_sources), _nested
    ),
    Relation("zeros", "zeros are told in the place of None alone", _asking(_zeros_asked), _zeros),
    Relation(
        "jacobian", "the rows of a jacobian add up to the gradient", _jacobian_asked, _rows_added
    ),
    Relation("forward", "forward mode and reverse mode are dual", _forward, _dual),
)
"""Every relation."""
