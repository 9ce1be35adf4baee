"""What a case exercises, read off its program and its expectations: never typed."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from conformance.corpus.language.case import (
    Case,
    Expectation,
    ExpectedAnyOf,
    ExpectedCalls,
    ExpectedError,
    ExpectedSlices,
    ExpectedStructure,
)
from conformance.corpus.language.literals import COMPLEXES, INTEGERS
from conformance.corpus.language.program import dotted_name, has_control_flow, names_read

TAPE = "tf.GradientTape"
QUERIES = ("gradient", "jacobian", "batch_jacobian")
BRANCHES = ("cond", "case", "switch_case", "while_loop", "scan", "map_fn", "foldl", "foldr")
REGISTRY = ("RegisterGradient", "no_gradient", "NoGradient", "gradient_override_map")


def features_of(case: Case) -> tuple[str, ...]:
    """The features of a case, in the order of FEATURES."""
    facts = _Facts(case)
    return tuple(name for name, holds in FEATURES.items() if holds(facts))


def tags_of(case: Case) -> tuple[str, ...]:
    """What `--tag` selects a case by: the tags that its author typed, then its features."""
    return tuple(dict.fromkeys((*case.tags, *features_of(case))))


@dataclass(frozen=True)
class _Facts:
    """What the predicates ask of a case."""

    case: Case

    @cached_property
    def trees(self) -> tuple[ast.Module, ast.Module]:
        return ast.parse(self.case.setup), ast.parse(self.case.run)

    @cached_property
    def parts(self) -> list[ast.AST]:
        return [part for tree in self.trees for part in ast.walk(tree)]

    @cached_property
    def calls(self) -> list[ast.Call]:
        return [part for part in self.parts if isinstance(part, ast.Call)]

    @cached_property
    def names(self) -> frozenset[str]:
        """Every dotted name of the framework: `tf.nn.relu`."""
        found = (dotted_name(part) for part in self.parts if isinstance(part, ast.Attribute))
        return frozenset(name for name in found if name and name.startswith("tf."))

    @cached_property
    def attributes(self) -> frozenset[str]:
        return frozenset(part.attr for part in self.parts if isinstance(part, ast.Attribute))

    @cached_property
    def keywords(self) -> frozenset[str]:
        return frozenset(k.arg for call in self.calls for k in call.keywords if k.arg)

    @cached_property
    def expected(self) -> list[Expectation]:
        """Every expectation of every mode, those inside structures and choices too."""
        declared = [self.case.expect, *self.case.expect_in.values()]
        found = [expectation for names in declared for expectation in names.values()]
        for expectation in found:  # grows while it is walked
            if isinstance(expectation, ExpectedStructure):
                found += expectation.items
            elif isinstance(expectation, ExpectedAnyOf):
                found += expectation.options
        return found

    def expects(self, kind: type) -> bool:
        return any(isinstance(expectation, kind) for expectation in self.expected)

    def uses(self, *words: str) -> bool:
        """Whether the program takes one of these from `tf`, by its last part."""
        return any(name.rsplit(".", 1)[-1] in words for name in self.names)

    def takes_dtype(self, dtypes: tuple[str, ...]) -> bool:
        return any(item.dtype in dtypes for item in self.case.inputs) or self.uses(*dtypes)


def _tapes(facts: _Facts) -> list[ast.Call]:
    return [call for call in facts.calls if dotted_name(call.func) == TAPE]


def _persistent(facts: _Facts) -> bool:
    given = [k.value for tape in _tapes(facts) for k in tape.keywords if k.arg == "persistent"]
    given += [tape.args[0] for tape in _tapes(facts) if tape.args]
    return any(not (isinstance(g, ast.Constant) and not g.value) for g in given)


def _nested(facts: _Facts) -> bool:
    """A tape inside another's block, or after it in the same `with`."""
    return any(
        len([part for part in ast.walk(block) if _opens_a_tape(part)]) > 1
        for block in facts.parts
        if isinstance(block, ast.With) and any(map(_opens_a_tape, block.items))
    )


def _opens_a_tape(part: ast.AST) -> bool:
    return (
        isinstance(part, ast.withitem)
        and isinstance(part.context_expr, ast.Call)
        and dotted_name(part.context_expr.func) == TAPE
    )


def _structures(facts: _Facts) -> bool:
    """A query with a list, a tuple or a dict of targets or sources, or an answer that is one."""
    return facts.expects(ExpectedStructure) or any(
        isinstance(argument, ast.List | ast.Tuple | ast.Dict)
        for call in facts.calls
        if isinstance(call.func, ast.Attribute) and call.func.attr in QUERIES
        for argument in call.args[:2]
    )


def _variables(facts: _Facts) -> bool:
    return any(item.kind == "variable" for item in facts.case.inputs) or facts.uses("Variable")


def _numpy(facts: _Facts) -> bool:
    return "numpy" in facts.attributes or any("np" in names_read(tree) for tree in facts.trees)


FEATURES: dict[str, Callable[[_Facts], bool]] = {
    "persistent": _persistent,
    "nested": _nested,
    "watch": lambda facts: "watch" in facts.attributes,
    "stop_recording": lambda facts: "stop_recording" in facts.attributes,
    "reset": lambda facts: "reset" in facts.attributes,
    "jacobian": lambda facts: bool({"jacobian", "batch_jacobian"} & facts.attributes),
    "forward_mode": lambda facts: facts.uses("ForwardAccumulator"),
    "symbolic": lambda facts: facts.uses("gradients"),
    "output_gradients": lambda facts: "output_gradients" in facts.keywords,
    "unconnected_gradients": lambda facts: "unconnected_gradients" in facts.keywords,
    "stop_gradient": lambda facts: facts.uses("stop_gradient"),
    "custom_gradient": lambda facts: facts.uses("custom_gradient"),
    "recompute_grad": lambda facts: facts.uses("recompute_grad"),
    "grad_pass_through": lambda facts: facts.uses("grad_pass_through"),
    "gradient_registry": lambda facts: (
        facts.uses(*REGISTRY) or bool({*REGISTRY} & facts.attributes)
    ),
    "function": lambda facts: facts.uses("function"),
    "control_flow": lambda facts: any(map(has_control_flow, facts.trees)) or facts.uses(*BRANCHES),
    "variables": _variables,
    "modules": lambda facts: facts.uses("Module") or any(".keras." in n for n in facts.names),
    "structures": _structures,
    "numpy": _numpy,
    "complex_numbers": lambda facts: facts.takes_dtype(COMPLEXES) or facts.uses("complex"),
    "integers": lambda facts: facts.takes_dtype(INTEGERS),
    "indexed_slices": lambda facts: facts.expects(ExpectedSlices) or facts.uses("IndexedSlices"),
    "errors": lambda facts: facts.expects(ExpectedError),
    "warnings": lambda facts: facts.case.warns is not None,
    "calls": lambda facts: facts.expects(ExpectedCalls),
    "lifetimes": lambda facts: any("alive" in names_read(tree) for tree in facts.trees),
    "by_mode": lambda facts: bool(facts.case.expect_in),
}
"""Each feature, and how it shows. No feature has the name of a tag."""
