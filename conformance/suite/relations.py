"""Metamorphic relations: rewritten in a way that has to tell, a program answers what it answered.

A relation rewrites the text of a drawn program, and says what is due of the rewritten one. Most are
about programs of one query, `g = tape.gradient(target, sources)`, outside of its tape.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from textwrap import indent

import numpy as np

from conformance.answers.answer import Answer, NoneValue, Slices, Structure, Tensor, Value
from conformance.corpus.language.case import DERIVATIVE
from conformance.corpus.language.program import names_read, parsed
from conformance.suite.rewriting import (
    PLAIN,
    UNDERIVED,
    Both,
    Program,
    Relation,
    asking,
    calls_in,
    expression,
    mapped,
    query_of,
    records_all,
    single_query_of,
    with_observed,
)

# ----- rewritings -----


def _twice(drawn: Answer, told: Answer) -> Both:
    return with_observed(drawn, g=mapped(drawn.observed("g"), lambda array: array * 2)), told


def _persistent(program: Program) -> Program | None:
    tree = program.tree
    for call in calls_in(tree, "GradientTape"):
        if "persistent" not in [word.arg for word in call.keywords]:
            call.keywords.append(ast.keyword("persistent", ast.Constant(True)))
    return program.rewritten(tree)


def _watched_twice(program: Program) -> Program | None:
    run = re.sub(r"^( *\w+\.watch\(.*\))$", r"\1\n\1", program.run, flags=re.MULTILINE)
    return program.rewritten(parsed(run))


def _around(program: Program) -> Program | None:
    run = f"with tf.GradientTape() as around:\n{indent(program.run, '    ')}"
    return replace(program, run=run)


def _bound_again(through: str, before: str = "") -> Callable[[Program], Program | None]:
    """A rewriting that binds the target again where it is bound, to what `through` makes of it."""

    def rewrite(program: Program) -> Program | None:
        tree = program.tree
        query = query_of(tree)
        if query is None or not isinstance(query.args[0], ast.Name) or PLAIN.search(program.run):
            return None
        if "nest.flatten" in program.run:
            return None  # the target may be a variable, whose identity is a tensor
        name = query.args[0].id
        again = rf"\g<0>\n\1{name} = {through.format(name)}"
        run = re.sub(rf"^( *){name} = .*$", again, program.run, flags=re.MULTILINE)
        return program.rewritten(parsed(before + run))

    return rewrite


OWN_IDENTITY = """
@tf.custom_gradient
def same(v):
    def grad(upstream):
        return upstream
    return tf.identity(v), grad
""".lstrip()


def _stopped_constants(program: Program) -> Program | None:
    constants = [name for name, given in program.inputs.items() if "constant" in given]
    lines = [f"{name} = tf.stop_gradient({name})" for name in constants]
    return program.rewritten(parsed("\n".join([*lines, program.run])))


def _given(upstream: str) -> Callable[[Program], Program | None]:
    """A rewriting that asks with an upstream gradient, made of the target."""

    def change(query: ast.Call) -> None:
        made = expression(upstream.format(ast.unparse(query.args[0])))
        query.keywords.append(ast.keyword("output_gradients", made))

    return asking(change)


def _nothing(drawn: Answer, told: Answer) -> Both:
    return with_observed(drawn, g=mapped(drawn.observed("g"), np.zeros_like)), told


def _in_reverse(query: ast.Call) -> None:
    if isinstance(query.args[1], ast.List | ast.Tuple):
        query.args[1].elts.reverse()


def _reversed(drawn: Answer, told: Answer) -> Both:
    due = drawn.observed("g")
    if isinstance(due, Structure):
        due = replace(due, items=due.items[::-1])
    return with_observed(drawn, g=due), told


def _beside(program: Program) -> Program | None:
    """The first tape of a program also records what nobody asks for."""
    tree = program.tree
    opened = [part for part in tree.body if isinstance(part, ast.With)]
    if opened:
        opened[0].body[:0] = parsed("beside = tf.sin(tf.constant(0.5))").body
    return program.rewritten(tree)


def _asked_before(program: Program) -> Program | None:
    """The query is asked twice of a persistent tape, and the second answer counts."""
    tree = program.tree
    if query_of(tree) is None or ast.unparse(tree.body[-1]).startswith("g = tf."):
        return None
    asked = copy.deepcopy(tree.body[-1])
    assert isinstance(asked, ast.Assign)
    asked.targets = [ast.Name("before", ast.Store())]
    tree.body.insert(-1, asked)
    again = program.rewritten(tree)
    return again and (_persistent(again) or again)


def _listed_twice(query: ast.Call) -> None:
    query.args[0] = ast.List([query.args[0], query.args[0]])


def _nested_sources(query: ast.Call) -> None:
    query.args[1] = ast.Dict([ast.Constant("a")], [ast.List([query.args[1]])])


def _nested(drawn: Answer, told: Answer) -> Both:
    due = Structure("dict", (Structure("list", (drawn.observed("g"),)),), ("a",))
    return with_observed(drawn, g=due), told


def _zeros_asked(query: ast.Call) -> None:
    if "unconnected_gradients" not in [word.arg for word in query.keywords]:
        query.keywords.append(ast.keyword("unconnected_gradients", ast.Constant("zero")))


def _zeros(drawn: Answer, told: Answer) -> Both:
    return with_observed(drawn, g=_filled(drawn.observed("g"), told.observed("g"))), told


def _filled(drawn: Value, told: Value) -> Value:
    """What was drawn, with zeros such as those told in the place of None."""
    if isinstance(drawn, Structure) and isinstance(told, Structure):
        pairs = zip(drawn.items, told.items, strict=False)
        return replace(drawn, items=tuple(_filled(*pair) for pair in pairs))
    if isinstance(drawn, NoneValue) and isinstance(told, Tensor):
        return told if told.dtype == "string" else mapped(told, np.zeros_like)
    return drawn


def _each_target(program: Program) -> Program | None:
    """Both targets of a query are asked for, one after the other."""
    tree = program.tree
    query = query_of(tree)
    if query is None or not isinstance(query.args[0], ast.List) or len(query.args[0].elts) != 2:
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
            return mapped(one, lambda array: array + other.array)
        case NoneValue(), _:
            return other
    return one


def _jacobian_asked(program: Program) -> Program | None:
    tree = program.tree
    query = single_query_of(tree)
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
    return drawn, with_observed(told, g=_summed(jacobian, due))


def _summed(jacobian: Value, gradient: Value) -> Value:
    """The sum of a jacobian over the axes that its gradient has not."""
    if isinstance(jacobian, Structure) and isinstance(gradient, Structure):
        pairs = zip(jacobian.items, gradient.items, strict=False)
        return replace(jacobian, items=tuple(_summed(*pair) for pair in pairs))
    if isinstance(jacobian, Tensor) and isinstance(gradient, Tensor):
        rows = range(jacobian.array.ndim - gradient.array.ndim)
        return mapped(jacobian, lambda array: array.sum(axis=(*rows,)))
    return jacobian


def _forward(program: Program) -> Program | None:
    """The derivative along an input forwards, and the gradient by it, times that direction."""
    tree = program.tree
    query = single_query_of(tree)
    watched = [name for call in calls_in(tree, "watch") for name in names_read(call.args[0])]
    is_real = all(given["dtype"].startswith("float") for given in program.inputs.values())
    if query is None or not watched or not is_real or PLAIN.search(program.run):
        return None
    if not records_all(tree):
        return None
    if "complex" in program.run or "{" in program.run:
        return None
    x, target = min(watched), ast.unparse(query.args[0])
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
    return with_observed(empty, g=due), with_observed(empty, g=got)


def _derivative(program: Program) -> Program | None:
    tree = program.tree
    if query_of(tree) is None or not records_all(tree):
        return None
    if PLAIN.search(program.run) or UNDERIVED.search(program.entry()):
        return None
    return replace(program, expect={**program.expect, "g": "derivative"})


RELATIONS = (
    Relation(DERIVATIVE, "a gradient is the derivative of the target's own values", _derivative),
    Relation("persistent", "a persistent tape answers what any tape does", _persistent),
    Relation("watched_twice", "to watch twice is to watch once", _watched_twice),
    Relation("around", "a tape around all of it changes nothing", _around),
    Relation(
        "identity", "the identity of the target is the target", _bound_again("tf.identity({})")
    ),
    Relation(
        "reshaped",
        "a target that is reshaped there and back is the target",
        _bound_again("tf.reshape(tf.reshape({0}, [-1]), tf.shape({0}))"),
    ),
    Relation(
        "stacked",
        "a target that is stacked and taken out again is the target",
        _bound_again("tf.unstack(tf.stack([{0}, {0}]), num=2)[1]"),
    ),
    Relation(
        "own_identity",
        "a custom gradient that hands on what arrives changes nothing",
        _bound_again("same({})", OWN_IDENTITY),
    ),
    Relation(
        "recomputed",
        "an identity that is computed again changes nothing",
        _bound_again("tf.recompute_grad(tf.identity)({})"),
    ),
    Relation(
        "branch",
        "a branch that is taken is as if there were no other",
        _bound_again("tf.cond(tf.constant(True), lambda: tf.identity({0}), lambda: {0} + {0})"),
    ),
    Relation("stopped", "a constant has no gradient to be stopped", _stopped_constants),
    Relation("ones", "without output_gradients, ones arrive", _given("tf.ones_like({})")),
    Relation(
        "scaled",
        "twice the upstream is twice the gradient",
        _given("tf.ones_like({0}) + tf.ones_like({0})"),
        _twice,
    ),
    Relation(
        "listed_twice", "a target that is listed twice counts twice", asking(_listed_twice), _twice
    ),
    Relation(
        "nothing", "where zeros arrive, zeros are told", _given("tf.zeros_like({})"), _nothing
    ),
    Relation("reversed", "sources in reverse are told in reverse", asking(_in_reverse), _reversed),
    Relation("beside", "what nobody asks for changes nothing", _beside),
    Relation("asked_before", "a tape that was asked before answers the same", _asked_before),
    Relation("sum", "the gradient of two targets is the sum of theirs", _each_target, _added),
    Relation("nested", "sources are answered as they are nested", asking(_nested_sources), _nested),
    Relation("zeros", "zeros are told in the place of None alone", asking(_zeros_asked), _zeros),
    Relation(
        "jacobian", "the rows of a jacobian add up to the gradient", _jacobian_asked, _rows_added
    ),
    Relation("forward", "forward mode and reverse mode are dual", _forward, _dual),
)
"""Every relation."""
