"""tf.Module: an object whose variables are found by walking its attributes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from reference_impl import nest
from reference_impl.tensor import Variable


class Module:
    """Finds variables in attributes, sorted by attribute name, its own before its submodules'.

    **Source**: TF 2.21 module.py `_flatten_module`.
    """

    def __init__(self, name: str | None = None) -> None:
        self._name = name or type(self).__name__.lower()

    @property
    def name(self) -> str:
        """The name given, or the class's name in lower case."""
        return self._name

    @property
    def variables(self) -> tuple[Variable, ...]:
        """All variables."""
        return tuple(_walk(self, lambda leaf: isinstance(leaf, Variable), set()))

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        """The variables that tapes watch by themselves."""
        return tuple(v for v in self.variables if v.trainable)

    @property
    def non_trainable_variables(self) -> tuple[Variable, ...]:
        """The other variables."""
        return tuple(v for v in self.variables if not v.trainable)

    @property
    def submodules(self) -> tuple[Module, ...]:
        """All modules below this one."""
        return tuple(_walk(self, lambda leaf: isinstance(leaf, Module), {id(self)}))


def _walk(module: Module, wanted: Callable[[Any], bool], seen: set[int]) -> Iterator[Any]:
    below = []
    for _, attribute in sorted(vars(module).items()):
        for leaf in nest.flatten(attribute):
            if id(leaf) in seen:
                continue
            seen.add(id(leaf))
            if wanted(leaf):
                yield leaf
            if isinstance(leaf, Module):
                below.append(leaf)
    for submodule in below:
        yield from _walk(submodule, wanted, seen)
