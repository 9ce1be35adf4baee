"""What a program may name: names of the framework, attributes of values, its own classes."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from conformance.corpus.language.document import shortened
from conformance.corpus.language.program import children, dotted_name, names_of, walk
from conformance.corpus.language.vocabulary import (
    ATTRIBUTES,
    BUILT_FROM_PLAIN_VALUES,
    ROOTS,
    names_by_module,
)
from conformance.text import did_you_mean, suggest

OF_THE_INTERPRETER = re.compile(r"(ag|co|cr|f|func|gi|im|tb)_\w*")
"""Attributes of functions, frames, generators and code, in whatever version of Python."""


@dataclass(frozen=True)
class OwnClasses:
    """The classes of a case (of its setup and its run), and what its names are bound to."""

    programs: tuple[ast.Module, ...] = ()

    @cached_property
    def bindings(self) -> Mapping[str, list[ast.AST]]:
        """Everything that binds a name (or a field, as `.name`).

        An expression where it is assigned one, else a statement or a parameter, of which nothing
        is known.
        """
        found: dict[str, list[ast.AST]] = {}
        for part in walk(*self.programs):
            for name, value in _bindings_in(part):
                found.setdefault(name, []).append(value)
        return found

    @cached_property
    def classes(self) -> frozenset[str]:
        """The names of the classes, where nothing else has the same name."""
        if not any(isinstance(part, ast.ClassDef) for tree in self.programs for part in tree.body):
            return frozenset()  # most programs; a class within a function is none of a case's own
        return frozenset(
            name
            for name, bound in self.bindings.items()
            if all(isinstance(value, ast.ClassDef) for value in bound)
        )

    @cached_property
    def attributes(self) -> frozenset[str]:
        """The methods and fields of the classes."""
        methods = (
            method.name
            for name in self.classes
            for definition in self.bindings[name]
            for method in children(definition)
            if isinstance(method, ast.FunctionDef)
        )
        return frozenset((*methods, *(name[1:] for name in self.bindings if name[0] == ".")))

    def has(self, value: ast.AST, seen: frozenset[str] = frozenset()) -> bool:
        """Whether an expression is one of these classes, or certainly an instance of one.

        `self` is an instance: only methods have a parameter of that name.
        """
        if isinstance(value, ast.Call):
            return isinstance(value.func, ast.Name) and value.func.id in self.classes
        name = _name_or_field(value)
        if not self.classes:
            return False
        if name == "self" or name in self.classes:
            return True
        if isinstance(value, ast.Attribute) and not self.has(value.value, seen):
            return False
        return self._is_always(name, seen, self.has)

    def is_plain(self, value: ast.AST, seen: frozenset[str] = frozenset()) -> bool:
        """Whether an expression is certainly no dictionary: a literal, a function, a layer."""
        if isinstance(value, ast.Constant | ast.Lambda):
            return True
        if isinstance(value, ast.List | ast.Tuple):
            return all(self.is_plain(item, seen) for item in value.elts)
        if isinstance(value, ast.UnaryOp):
            return self.is_plain(value.operand, seen)
        if isinstance(value, ast.Call):
            return bool(BUILT_FROM_PLAIN_VALUES.fullmatch(dotted_name(value.func) or ""))
        if isinstance(value, ast.FunctionDef):
            return all(map(of_framework, value.decorator_list))
        if isinstance(value, ast.Name) and value.id not in self.bindings:
            return True  # an input
        return of_framework(value) or self._is_always(_name_or_field(value), seen, self.is_plain)

    def _is_always(
        self, name: str, seen: frozenset[str], meets: Callable[[ast.AST, frozenset[str]], bool]
    ) -> bool:
        bound = self.bindings.get(name, []) if name not in seen else []
        return bool(bound) and all(meets(value, seen | {name}) for value in bound)


def _bindings_in(part: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(part, ast.FunctionDef | ast.ClassDef):
        yield part.name, part
    elif isinstance(part, ast.arg):
        yield part.arg, part
    elif isinstance(part, ast.Assign):
        for target in part.targets:
            if name := _name_or_field(target):
                yield name, part.value
            else:
                yield from ((name, part) for name in names_of(target).binds)
    elif isinstance(part, ast.AugAssign | ast.For):
        yield from ((name, part) for name in names_of(part.target).binds)
    elif isinstance(part, ast.withitem):
        yield from ((name, part) for name in names_of(part).binds)


def _name_or_field(value: ast.AST) -> str:
    """A name, or a field as `.name`; "" for anything else."""
    if isinstance(value, ast.Attribute):
        return f".{value.attr}"
    return value.id if isinstance(value, ast.Name) else ""


def of_framework(part: ast.AST) -> bool:
    """Whether an expression takes something from `tf` or `np`, or calls what it takes."""
    part = part.func if isinstance(part, ast.Call) else part
    if not isinstance(part, ast.Attribute):
        return False
    while isinstance(part, ast.Attribute):
        part = part.value
    return isinstance(part, ast.Name) and part.id in ROOTS


# ----- names that are refused: why, and nothing where there is no reason -----


@lru_cache(4_096)
def why_no_name(dotted: str) -> str:
    """Why a name under `tf.` or `np.` cannot be written."""
    modules = names_by_module()
    *words, last = dotted.split(".")
    module = ".".join(words)
    if last in modules.get(module, ()):
        return ""
    for end in range(len(words), 0, -1):
        if words[end:] and words[end] in modules.get(".".join(words[:end]), ()):
            unknown = [word for word in (*words[end + 1 :], last) if word not in ATTRIBUTES]
            return why_no_attribute(unknown[0]) if unknown else ""
    if any(f"{name}.".startswith(f"{dotted}.") for name in modules):
        return f"'{dotted}' is a module: name what you take from it"
    near = {f"{inside}.{last}" for inside, names in modules.items() if last in names}
    near |= {f"{module}.{name}" for name in modules.get(module, ())}
    meant = did_you_mean(dotted, sorted(near - {f"taken.{last}"}))
    return f"'{shortened(dotted)}' is not among the names that a case may use{meant}"


def why_no_attribute(name: str, own: frozenset[str] = frozenset()) -> str:
    """Why an attribute of a value cannot be read; `own` are those of the case's own classes."""
    if name in ATTRIBUTES:
        return ""
    if name not in own:
        return f"'.{shortened(name)}' is not a known attribute{suggest(name, ATTRIBUTES | own)}"
    if name in names_by_module()["taken"] or OF_THE_INTERPRETER.fullmatch(name):
        return f"'.{shortened(name)}' is taken: choose another name"
    return ""
