"""What a case exercises, read off its program and its expectations: never typed."""

from __future__ import annotations

import ast

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
from conformance.corpus.language.program import (
    children,
    dotted_name,
    has_control_flow,
    names_read,
    tree_of,
    walk,
)
from conformance.corpus.language.vocabulary import PLUMBING, TAPE

QUERIES = ("gradient", "jacobian", "batch_jacobian")
BY_WORD = {
    **{word: (word,) for word in ("watch", "stop_recording", "reset")},
    "jacobian": ("jacobian", "batch_jacobian"),
    "forward_mode": ("ForwardAccumulator",),
    "symbolic": ("gradients",),
    **{word: (word,) for word in ("output_gradients", "unconnected_gradients", "stop_gradient")},
    **{word: (word,) for word in ("custom_gradient", "recompute_grad", "grad_pass_through")},
    "gradient_registry": ("RegisterGradient", "no_gradient", "NoGradient", "gradient_override_map"),
    "function": ("function",),
    "control_flow": (
        *("cond", "case", "switch_case", "while_loop", "scan", "map_fn", "foldl", "foldr"),
    ),
    "graphs": ("Graph", "as_default", "get_concrete_function", "v1"),
    "variables": ("Variable",),
    "modules": ("Module", "keras"),
    "python_calls": ("py_function", "numpy_function"),
    "containers": ("TensorArray", "queue", "data", "lookup"),
    "raw_operations": ("raw_ops",),
    "strings": ("string", "strings", "as_string"),
    "composites": ("SparseTensor", "RaggedTensor", "ragged"),
    "numpy": ("numpy", "np"),
    "complex_numbers": ("complex", *COMPLEXES),
    "narrow_floats": ("float16", "bfloat16", "half"),
    "integers": INTEGERS,
    "indexed_slices": ("IndexedSlices",),
    "lifetimes": ("alive",),
}
"""The features that show by a word: an attribute, a part of a name, a keyword, an input's dtype."""
BY_EXPECTATION = {
    "structures": ExpectedStructure,
    "indexed_slices": ExpectedSlices,
    "errors": ExpectedError,
    "calls": ExpectedCalls,
}
FEATURES = tuple(
    dict.fromkeys(
        (
            *("persistent", "nested", "second_order", "third_order", "keywords", *BY_WORD),
            *("structures", *BY_EXPECTATION, "error_wording", "warnings", "by_mode"),
        )
    )
)
"""Every feature, in the order in which they are shown. No feature has the name of a tag."""


def tags_of(case: Case) -> tuple[str, ...]:
    """What `--tag` selects a case by: the tags that its author typed, then its features."""
    return tuple(dict.fromkeys((*case.tags, *features_of(case))))


def features_of(case: Case) -> tuple[str, ...]:
    """The features of a case, in the order of FEATURES."""
    trees = tree_of(case.setup), tree_of(case.run)
    parts = walk(*trees)
    calls = [part for part in parts if isinstance(part, ast.Call)]
    words = {part.attr for part in parts if isinstance(part, ast.Attribute)}
    words |= {word.arg for call in calls for word in call.keywords if word.arg}
    words |= names_read(*trees) & {"np", "alive"}
    words |= {item.dtype for item in case.inputs}
    words |= {"Variable" for item in case.inputs if item.kind == "variable"}
    expected = _expectations(case)
    found = {name for name, shown_by in BY_WORD.items() if words & {*shown_by}}
    found |= {
        name
        for name, kind in BY_EXPECTATION.items()
        if any(isinstance(expectation, kind) for expectation in expected)
    }
    deep = max(map(_recorders, trees))
    special = {
        "persistent": any(map(_is_persistent, calls)),
        "nested": any(isinstance(part, ast.With) and _opens_two(part) for part in parts),
        "second_order": deep > 1,
        "third_order": deep > 2,
        "keywords": any(map(_has_keywords, calls)),
        "error_wording": any(isinstance(one, ExpectedError) and one.message for one in expected),
        "control_flow": has_control_flow(*trees),
        "structures": any(map(_asks_for_a_structure, calls)),
        "warnings": case.warns is not None,
        "by_mode": bool(case.expect_in),
    }
    found |= {name for name, holds in special.items() if holds}
    return tuple(name for name in FEATURES if name in found)


def _expectations(case: Case) -> list[Expectation]:
    """Every expectation of every mode, those inside structures and choices too."""
    declared = [case.expect, *case.expect_in.values()]
    found = [expectation for names in declared for expectation in names.values()]
    for expectation in found:  # grows while it is walked
        if isinstance(expectation, ExpectedStructure):
            found += expectation.items
        elif isinstance(expectation, ExpectedAnyOf):
            found += expectation.options
    return found


def _is_tape(call: ast.AST) -> bool:
    return isinstance(call, ast.Call) and dotted_name(call.func) == TAPE


def _is_persistent(call: ast.Call) -> bool:
    given = [word.value for word in call.keywords if word.arg == "persistent"] + call.args[:1]
    off = (isinstance(value, ast.Constant) and not value.value for value in given)
    return _is_tape(call) and not all(off)


def _opens_two(block: ast.With) -> bool:
    """A tape inside another's block, or after it in the same `with`."""
    opened = [
        part.context_expr
        for part in walk(block)
        if isinstance(part, ast.withitem) and _is_tape(part.context_expr)
    ]
    return len(opened) > 1 and any(item.context_expr in opened for item in block.items)


def _recorders(part: ast.AST) -> int:
    """How many tapes and accumulators record one inside another, at most."""
    inside = max(map(_recorders, children(part)), default=0)
    if not isinstance(part, ast.With):
        return inside
    opened = [item.context_expr for item in part.items]
    return inside + sum(_is_tape(one) or _is_accumulator(one) for one in opened)


def _is_accumulator(call: ast.AST) -> bool:
    name = dotted_name(call.func) if isinstance(call, ast.Call) else None
    return (name or "").endswith(".ForwardAccumulator")


def _has_keywords(call: ast.Call) -> bool:
    """An operation of the framework with an argument by its name."""
    name = dotted_name(call.func) or ""
    return bool(call.keywords) and name.startswith("tf.") and name not in PLUMBING


def _asks_for_a_structure(call: ast.Call) -> bool:
    """A query with a list, a tuple or a dict of targets or sources."""
    query = isinstance(call.func, ast.Attribute) and call.func.attr in QUERIES
    return query and any(isinstance(g, ast.List | ast.Tuple | ast.Dict) for g in call.args[:2])
