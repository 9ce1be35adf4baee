"""tf.Module: an object whose variables are found by walking its attributes."""

from __future__ import annotations

from collections.abc import Iterator

from reference_impl import nest
from reference_impl.tensor import Variable


class Module:
    """Finds variables in attributes, sorted by attribute name, its own before its submodules'.

    **Source**: TF 2.21 module.py `_flatten_module`.
    """

    def __init__(self, name: str | None = None) -> None:
        self._name = name

    @property
    def variables(self) -> tuple[Variable, ...]:
        """All variables."""
        return tuple(_variables(self, set()))

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        """The variables that tapes watch by themselves."""
        return tuple(v for v in self.variables if v.trainable)


def _variables(module: Module, seen: set[int]) -> Iterator[Variable]:
    below = []
    for _, attribute in sorted(vars(module).items()):
        for leaf in nest.flatten(attribute):
            if id(leaf) in seen:
                continue
            seen.add(id(leaf))
            if isinstance(leaf, Variable):
                yield leaf
            if isinstance(leaf, Module):
                below.append(leaf)
    for submodule in below:
        yield from _variables(submodule, seen)
