"""Names in a program: bound before they are read, in the scope that they belong to."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Literal

from conformance.corpus.language.document import shortened
from conformance.corpus.language.program import Visitor, names_of_scope
from conformance.corpus.language.vocabulary import BUILTINS, PROBES, ROOTS
from conformance.text import suggest

Refuse = Callable[[ast.AST, str], None]
ONE_SIDED = (
    "is bound in one branch only, which a graph refuses: bind it before the if or in both branches"
)
GIVEN = frozenset((*ROOTS, *PROBES, *BUILTINS))


def check_names(
    tree: ast.Module, made: Iterable[str], outer: Iterable[str], refuse: Refuse
) -> frozenset[str]:
    """Refuse every read of a name that has no value; return the names bound at the end.

    `made` are bound in the program's own scope before it begins (inputs), `outer` around it
    (what setup made): a program that binds one of those anew cannot read it before.
    """
    scope = _Scope(tree.body, frozenset(made), GIVEN | frozenset(outer), refuse, "case")
    scope.block(tree.body)
    return frozenset(scope.bound)


class _Scope(Visitor):
    """One scope, walked in the order in which it runs; nested functions run later.

    A class's body reads what is around it, and its own names are not seen by its methods.
    """

    def __init__(
        self,
        body: list[ast.stmt],
        made: frozenset[str],
        outer: frozenset[str],
        refuse: Refuse,
        kind: Literal["case", "function", "class"],
    ) -> None:
        self.own = names_of_scope(*body) | made
        self.bound = set(made)
        self.outer = outer
        self.refuse = refuse
        self.kind = kind
        self.seen_inside = outer if kind == "class" else outer | self.own
        self.lost: dict[str, str] = {}

    def block(self, body: list[ast.stmt]) -> bool:
        """Walk statements; whether the end is reached (no `return` on the way)."""
        for statement in body:
            self.visit(statement)
            if isinstance(statement, ast.Return):
                return False
        return True

    def visit_Name(self, part: ast.Name) -> None:
        if isinstance(part.ctx, ast.Store):
            self.bound.add(part.id)
            return
        self._read(part, part.id)
        if isinstance(part.ctx, ast.Del):
            self.bound.discard(part.id)
            self.lost[part.id] = "is deleted before it is read"

    def _read(self, part: ast.AST, name: str) -> None:
        around = name in self.outer and (self.kind == "class" or name not in self.own)
        if name in self.bound or around:
            return
        if name.startswith("_"):  # refused already
            return
        if name in self.own:
            self.refuse(part, f"'{shortened(name)}' {self.why_unbound(name)}")
        else:
            known = sorted((self.own | self.outer) - GIVEN)
            self.refuse(part, f"no value named '{shortened(name)}'{suggest(name, known)}")

    def why_unbound(self, name: str) -> str:
        """What keeps a name of this scope from having a value."""
        if name in self.outer:
            return "is bound anew by this program, and has no value before that: rename it"
        return self.lost.get(name, "is read before it is bound")

    def visit_Assign(self, part: ast.Assign) -> None:
        self.visit(part.value)
        for target in part.targets:
            self.visit(target)

    def visit_AugAssign(self, part: ast.AugAssign) -> None:
        if isinstance(part.target, ast.Name):
            self._read(part.target, part.target.id)
        self.visit(part.value)
        self.visit(part.target)

    def visit_With(self, part: ast.With) -> None:
        for item in part.items:
            self.visit(item)
        self.block(part.body)

    def visit_For(self, part: ast.For) -> None:
        self.visit(part.iter)
        self.visit(part.target)
        self.block(part.body)

    def visit_While(self, part: ast.While) -> None:
        self.visit(part.test)
        before = set(self.bound)
        self.block(part.body)
        for name in self.bound - before:
            self.lost[name] = "is first bound inside a while, which a graph refuses: bind it before"
        self.bound &= before

    def visit_If(self, part: ast.If) -> None:
        self.visit(part.test)
        before = set(self.bound)
        taken = self._branch(part.body)
        self.bound = set(before)
        other = self._branch(part.orelse)
        ends = [names for names in (taken, other) if names is not None]
        self.bound = set.intersection(*ends) if ends else before
        for name in sorted(set().union(*ends) - self.bound):
            self.lost[name] = "is bound in one branch only"
            if self.kind == "case" and name not in self.outer:
                self.refuse(part, f"'{shortened(name)}' {ONE_SIDED}")
                self.bound.add(name)

    def _branch(self, body: list[ast.stmt]) -> set[str] | None:
        return set(self.bound) if self.block(body) else None

    def visit_FunctionDef(self, part: ast.FunctionDef) -> None:
        for decorator in part.decorator_list:
            self.visit(decorator)
        self._defaults(part.args)
        self.bound.add(part.name)
        self._inner(part.body, part.args).block(part.body)

    def visit_Lambda(self, part: ast.Lambda) -> None:
        self._defaults(part.args)
        self._inner([], part.args).visit(part.body)

    def _defaults(self, arguments: ast.arguments) -> None:
        for default in (*arguments.defaults, *arguments.kw_defaults):
            if default is not None:
                self.visit(default)

    def _inner(self, body: list[ast.stmt], arguments: ast.arguments) -> _Scope:
        given = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        starred = (arguments.vararg, arguments.kwarg)
        names = frozenset(one.arg for one in (*given, *starred) if one is not None)
        return _Scope(body, names, self.seen_inside, self.refuse, "function")

    def visit_ClassDef(self, part: ast.ClassDef) -> None:
        for base in (*part.bases, *part.decorator_list):
            self.visit(base)
        inner = _Scope(part.body, frozenset(), self.seen_inside, self.refuse, "class")
        inner.block(part.body)
        self.bound.add(part.name)
