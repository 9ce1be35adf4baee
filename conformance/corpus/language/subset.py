"""The checked subset of Python that a case's program is written in."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass

from conformance.corpus.language.admission import (
    OwnClasses,
    of_framework,
    why_no_attribute,
    why_no_name,
)
from conformance.corpus.language.document import Node, shortened
from conformance.corpus.language.program import Visitor, dotted_name, tree_of
from conformance.corpus.language.scopes import check_names
from conformance.corpus.language.sizes import SIZED, size_faults
from conformance.corpus.language.vocabulary import (
    BASES,
    BUILT_FROM_PLAIN_VALUES,
    FORBIDDEN_KEYWORDS,
    LOOP_OPTIONS,
    METHODS,
    PROBES,
    RESERVED,
    ROOTS,
)

MAX_TEXT = 8_000
MAX_DEPTH = 40
MAX_BLOCKS = 10

PARTS = {
    *(ast.Assign, ast.AugAssign, ast.Expr, ast.With, ast.FunctionDef, ast.ClassDef),
    *(ast.If, ast.While, ast.For, ast.Return, ast.Delete, ast.Pass),
    *(ast.Name, ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.BinOp, ast.UnaryOp),
    *(ast.BoolOp, ast.Compare, ast.Subscript, ast.Slice, ast.Call, ast.Starred),
    *(ast.Attribute, ast.Lambda, ast.IfExp),
    *(ast.Module, ast.keyword, ast.arguments, ast.arg, ast.withitem),
}
WHOLE_LINES = (ast.stmt, ast.Constant)
BLOCKS = (ast.With, ast.FunctionDef, ast.ClassDef, ast.If, ast.While, ast.For)
KEPT_ITERATOR = "'iter' stands in next(iter(...)) only: an iterator is not kept"
"""The iterator of a shape is a generator, which holds a frame; so `next` is Python's own."""

KNOWN_AS = {
    ast.JoinedStr: "an f-string",
    ast.NamedExpr: "the operator :=",
    ast.AnnAssign: "an annotation",
    ast.ImportFrom: "import",
    ast.ListComp: "a comprehension",
    ast.SetComp: "a comprehension",
    ast.DictComp: "a comprehension",
    ast.GeneratorExp: "a comprehension",
    ast.Set: "a set",
}


@dataclass(frozen=True)
class Program:
    """A text that was checked, and what the check found in it.

    `bound` are the names that have a value at its end, `own` the classes so far, `framework` the
    places of what it takes from the framework, by dotted name.
    """

    tree: ast.Module
    bound: frozenset[str]
    own: OwnClasses
    functions: frozenset[str]
    framework: Mapping[str, ast.Attribute]


def check_program(
    node: Node, *, made: Iterable[str], setup: Program | None = None
) -> Program | None:
    """A program text, with every departure from the subset reported; None where there is no tree.

    `made` are names that have a value before the program begins; `setup` is what ran before it.
    """
    text = node.text()
    node.spend(len(text))
    if len(text) > MAX_TEXT:
        node.fault(f"a program of {len(text):,} characters: the limit is {MAX_TEXT:,}")
        return None
    before = len(node.reading.faults)
    one_line = text.replace("\n", "")
    if not one_line.isprintable():
        odd = next(character for character in one_line if not character.isprintable())
        *above, same_line = text[: text.index(odd)].split("\n")
        place = node.at(len(above) + 1, len(same_line))
        what = f"the character {odd!r} is not part of the case language"
        node.fault("a tab: indent with spaces" if odd == "\t" else what, place)
        return None
    tree = _compiled(node, text)
    if tree is None:
        return None
    outer = setup.bound if setup else frozenset[str]()
    own = OwnClasses((*(setup.own.programs if setup else ()), tree))
    checker = _Checker(node, text, own)
    checker.visit(tree)
    if checker.foreign:
        return None
    bound = check_names(tree, made, outer, checker.refuse)
    if len(node.reading.faults) == before:
        checker.check_lines()
        _compiled(node, tree)
    return Program(tree, bound, own, frozenset(checker.functions), checker.framework)


def _compiled(node: Node, source: str | ast.Module) -> ast.Module | None:
    """A program's tree, or a tree that was compiled; None, with a fault, for what is no Python.

    Only the compiler sees a misplaced return, a parameter named twice, `x is 3`.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            if isinstance(source, str):
                return tree_of(source)
            compile(source, "<case>", "exec", dont_inherit=True)
        return source
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line, offset = getattr(error, "lineno", None) or 1, getattr(error, "offset", None) or 1
        message = getattr(error, "msg", None) or str(error) or type(error).__name__
        column = max(offset, 1) - 1 if isinstance(source, str) else 0
        node.fault(f"not Python: {message}", node.at(line, column))
        return None


class _Checker(Visitor):
    """Walks a program and reports what the subset does not hold."""

    def __init__(self, node: Node, text: str, own: OwnClasses) -> None:
        self.node = node
        self.lines = text.split("\n")
        self.own = own
        self.foreign = False
        self.in_place: set[int] = set()
        """Parts where they are allowed: bases, what is called, fields set, the self of methods."""
        self.depth = 0
        self.blocks = 0
        self.whole_lines: list[ast.stmt | ast.Constant] = []
        self.functions: set[str] = set()
        self.framework: dict[str, ast.Attribute] = {}

    def refuse(self, part: ast.AST, message: str) -> None:
        """Report what is wrong with a part, where it stands; an attribute's name is its place."""
        line, offset = getattr(part, "lineno", 1), getattr(part, "col_offset", 0)
        if isinstance(part, ast.Attribute) and not of_framework(part):
            line = part.end_lineno or line
            offset = (part.end_col_offset or offset) - len(part.attr.encode())
        before = self.lines[line - 1].encode()[:offset] if line <= len(self.lines) else b""
        self.node.fault(message, self.node.at(line, len(before.decode(errors="replace"))))

    def visit(self, part: ast.AST) -> None:
        """Visit a part that the subset holds; refuse any other, and what it contains."""
        if type(part) not in PARTS:
            self.foreign = True
            self.refuse(part, f"{_described(part)} is not part of the case language")
            return
        if isinstance(part, WHOLE_LINES):
            self.whole_lines.append(part)
        block = isinstance(part, BLOCKS)
        self.depth += 1
        self.blocks += block
        if hasattr(part, "lineno") and (self.depth > MAX_DEPTH or self.blocks > MAX_BLOCKS):
            self.foreign = True
            limit = MAX_DEPTH if self.depth > MAX_DEPTH else MAX_BLOCKS
            self.refuse(part, f"nested deeper than {limit} levels")
        else:
            super().visit(part)
            for where, message in size_faults(part) if isinstance(part, SIZED) else ():
                self.refuse(where, message)
        self.depth -= 1
        self.blocks -= block

    def check_name(self, part: ast.AST, name: str, allowed: Container[str] = ()) -> None:
        """Refuse a name that a program cannot give to anything."""
        if name.startswith("_") and name not in allowed:
            self.refuse(part, f"'{shortened(name)}' begins with an underscore: use a plain name")
        elif name in (*ROOTS, *PROBES, *RESERVED, "self", "next") and id(part) not in self.in_place:
            self.refuse(part, f"'{name}' is taken: choose another name")

    def visit_Name(self, part: ast.Name) -> None:
        if isinstance(part.ctx, ast.Load) and part.id in ROOTS:
            self.refuse(part, f"'{part.id}' alone is no value: name what you take from it")
        elif part.id == "iter" and id(part) not in self.in_place:
            self.refuse(part, KEPT_ITERATOR)
        elif not isinstance(part.ctx, ast.Load) or part.id.startswith("_"):
            self.check_name(part, part.id)

    def visit_Assign(self, part: ast.Assign) -> None:
        self.in_place |= {
            id(target) for target in part.targets if isinstance(target, ast.Attribute)
        }
        self.generic_visit(part)

    def visit_AugAssign(self, part: ast.AugAssign) -> None:
        if isinstance(part.target, ast.Attribute):
            self.in_place.add(id(part.target))
        self.generic_visit(part)

    def visit_Attribute(self, part: ast.Attribute) -> None:
        read = isinstance(part.ctx, ast.Load)
        if of_framework(part):
            dotted = dotted_name(part) or ""
            self.framework.setdefault(dotted, part)
            if why := why_no_name(dotted):
                self.refuse(part, why)
            elif not read:
                self.refuse(
                    part, f"'{shortened(dotted)}' belongs to the framework: it cannot be set"
                )
            elif BUILT_FROM_PLAIN_VALUES.fullmatch(dotted) and id(part) not in self.in_place:
                message = f"'{shortened(dotted)}' is built where it is named, as in {dotted}()"
                self.refuse(part, message)
            return
        own = self.own.has(part.value)
        if not read and not (id(part) in self.in_place and dotted_name(part.value) == "self"):
            self.refuse(part, "only self.name = value sets an attribute")
        elif part.attr == "__init__" and read and _is_super(part.value):
            pass
        elif why := why_no_attribute(part.attr, self.own.attributes if own else frozenset()):
            self.refuse(part, why)
        self.visit(part.value)

    def visit_Constant(self, part: ast.Constant) -> None:
        if isinstance(part.value, bytes):
            self.refuse(part, "bytes are not part of the case language")

    def visit_Call(self, part: ast.Call) -> None:
        self.in_place.add(id(part.func))
        name = dotted_name(part.func) or ""
        for word in part.keywords:
            if word.arg is None:
                self.refuse(word, "a dictionary is not unpacked into a call: write its keywords")
            elif word.arg.startswith("_") or word.arg in FORBIDDEN_KEYWORDS:
                shown = shortened(word.arg)
                self.refuse(word, f"the keyword '{shown}' is not part of the case language")
        if name == "next" and part.args:
            self.in_place.add(id(part.args[0]))
        if name == "iter" and id(part) not in self.in_place:
            self.refuse(part, KEPT_ITERATOR)
        if name == "super" and (part.args or part.keywords):
            self.refuse(part, "super() has no arguments here")
        of_base = isinstance(part.func, ast.Attribute) and part.func.attr == "__init__"
        if of_base or BUILT_FROM_PLAIN_VALUES.fullmatch(name):
            for value in (*part.args, *(word.value for word in part.keywords)):
                if not self.own.is_plain(value):
                    message = "a layer is built from literals, functions, inputs and layers only"
                    self.refuse(value, message)
        self.generic_visit(part)

    def visit_FunctionDef(self, part: ast.FunctionDef) -> None:
        self._check_definition(part)
        self.functions.add(part.name)
        for decorator in part.decorator_list:
            if not isinstance(decorator, ast.Name | ast.Attribute | ast.Call):
                self.refuse(decorator, "a decorator is a name or a call")
        self.generic_visit(part)

    def visit_ClassDef(self, part: ast.ClassDef) -> None:
        self._check_definition(part)
        self.in_place |= set(map(id, part.bases))
        methods = [method for method in part.body if isinstance(method, ast.FunctionDef)]
        for base in part.bases:
            name = dotted_name(base) or ""
            if name not in BASES and not (isinstance(base, ast.Name) and name in self.own.classes):
                message = f"a class derives from {', '.join(BASES)} or a class of the case"
                self.refuse(base, message)
            built = BUILT_FROM_PLAIN_VALUES.fullmatch(name)
            if built and not any(method.name == "__init__" for method in methods):
                message = f"a class over {name} defines __init__, which calls super().__init__()"
                self.refuse(part, message)
        if part.keywords or part.decorator_list:
            self.refuse(part, "a class has plain bases, and no decorators")
        for statement in part.body:
            if not isinstance(statement, ast.FunctionDef | ast.Pass):
                self.refuse(statement, "a class has methods only: set fields in __init__")
        for method in methods:
            if not method.args.posonlyargs:
                self.in_place |= set(map(id, method.args.args[:1]))
        self.generic_visit(part)

    def visit_arg(self, part: ast.arg) -> None:
        self.check_name(part, part.arg)
        if part.annotation:
            self.refuse(part, "annotations are not part of the case language")

    def visit_While(self, part: ast.While) -> None:
        if part.orelse:
            self.refuse(part, "while ... else is not part of the case language")
        first = part.body[0]
        bounded = isinstance(first, ast.Expr) and isinstance(first.value, ast.Call)
        if not bounded or dotted_name(first.value.func) != LOOP_OPTIONS:  # type: ignore[attr-defined]
            self.refuse(part, f"a while begins with {LOOP_OPTIONS}(maximum_iterations=N)")
        self.generic_visit(part)

    def visit_For(self, part: ast.For) -> None:
        if part.orelse:
            self.refuse(part, "for ... else is not part of the case language")
        self.generic_visit(part)

    def _check_definition(self, part: ast.FunctionDef | ast.ClassDef) -> None:
        self.check_name(part, part.name, METHODS)
        if getattr(part, "type_params", None) or getattr(part, "returns", None):
            self.refuse(part, "annotations are not part of the case language")

    def check_lines(self) -> None:
        """One statement on a line, one line for a text: the lowering works on whole lines."""
        for part in self.whole_lines:
            if isinstance(part, ast.stmt):
                before = self.lines[part.lineno - 1].encode()[: part.col_offset]
                if before.strip():
                    self.refuse(part, "a statement stands on a line of its own")
            elif part.end_lineno != part.lineno:
                self.refuse(part, "a text ends on the line on which it begins")


def _is_super(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and dotted_name(value.func) == "super"


def _described(part: ast.AST) -> str:
    name = type(part).__name__
    words = re.findall(r"[A-Z][a-z]*", name) or [name]
    return KNOWN_AS.get(type(part)) or " ".join(words).lower()
