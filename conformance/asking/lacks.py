"""What a target declares that it lacks: names, methods, keywords, features and modes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from conformance.corpus.language.case import MODES, Case
from conformance.corpus.language.features import FEATURES, features_of
from conformance.corpus.language.lowering import Lowered
from conformance.corpus.language.program import dotted_name, tree_of, walk
from conformance.corpus.language.vocabulary import ATTRIBUTES, names_by_module
from conformance.text import clean, did_you_mean

KEYWORD = re.compile(r"([\w.]+)\((\w+)\)")
"""An entry about a keyword of a function: `reduce_sum(keepdims)`."""


def lacking(case: Case, lowered: Lowered, mode: str, lacks: Sequence[str]) -> list[str]:
    """What a case uses, in a mode, of that which its target declares as lacking.

    `nn` is every name that begins with `nn.`; `GradientTape.jacobian` is a method of any tape, as
    `Variable.assign` is of any variable; `reduce_sum(keepdims)` is a keyword; `strings` is a
    feature; `graph` is a mode.
    """
    used = {name for name in lowered.uses for lack in lacks if f"{name}.".startswith(f"{lack}.")}
    used |= {lack for lack in lacks if _uses_a_part(lowered, lack)}
    if shown := {*lacks} & {*FEATURES}:
        used |= shown & {*features_of(case)}
    used |= {f"the mode {mode}"} if mode in lacks else set()
    return sorted(used)


def _uses_a_part(lowered: Lowered, lack: str) -> bool:
    """Whether a program uses the method or the keyword that an entry names."""
    if keyword := KEYWORD.fullmatch(lack):
        return any(_is_given(part, *keyword.groups()) for part in walk(tree_of(lowered.source)))
    owner, method = _method(lack)
    return bool(owner) and f".{method}" in lowered.source and method in _read(lowered)


def _is_given(part: ast.AST, name: str, keyword: str) -> bool:
    if not isinstance(part, ast.Call) or keyword not in [word.arg for word in part.keywords]:
        return False
    called, method = dotted_name(part.func) or "", _method(name)[1]
    return called == f"tf.{name}" or (bool(method) and called.rpartition(".")[2] == method)


def _read(lowered: Lowered) -> set[str]:
    return {one.attr for one in walk(tree_of(lowered.source)) if isinstance(one, ast.Attribute)}


def _method(entry: str) -> tuple[str, str]:
    """The class and the method that an entry names; two empty texts where it names none."""
    owner, _, method = entry.rpartition(".")
    is_class = owner.rpartition(".")[2][:1].isupper() and method in ATTRIBUTES
    return (owner, method) if is_class else ("", "")


def unknown(lacks: Iterable[str]) -> Iterator[str]:
    """What is wrong with the entries that name nothing that a case can use."""
    for entry in lacks:
        keyword = KEYWORD.fullmatch(entry)
        name = keyword[1] if keyword else entry
        others = () if keyword else (*FEATURES, *MODES)
        module = any(one.startswith(f"{name}.") for one in _names())
        if not (name in _names() or name in others or module or _method(name)[0]):
            owner = name.rpartition(".")[0]
            methods = [f"{owner}.{one}" for one in ATTRIBUTES] if owner in _names() else []
            meant = did_you_mean(name, [*_names(), *others, *methods])
            yield f"'{clean(entry)}' is no name, method, keyword, feature or mode of a case{meant}"


@cache
def _names() -> frozenset[str]:
    """The names of TensorFlow that cases may use, without `tf.`."""
    modules = {of: names for of, names in names_by_module().items() if f"{of}.".startswith("tf.")}
    return frozenset(f"{of}.{name}"[3:] for of, names in modules.items() for name in names)
