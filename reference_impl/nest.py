"""Structures of values: list, tuple, namedtuple and dict; everything else, None too, is a leaf.

A dict is read in the order of its sorted keys, never in the order of insertion, and a structure
is rebuilt with the types that it had (contract part 1, section 2).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any


def is_nested(structure: Any) -> bool:
    """True for a structure, False for a leaf."""
    return _is_container(type(structure))  # type: ignore[arg-type]


@functools.cache
def _is_container(kind: type) -> bool:
    return issubclass(kind, (list, tuple, Mapping))


def flatten(structure: Any) -> list[Any]:
    """Return the leaves of `structure` from left to right; a leaf gives a list of itself."""
    if not is_nested(structure):
        return [structure]
    leaves: list[Any] = []
    for child in _children(structure):
        if is_nested(child):
            leaves += flatten(child)
        else:
            leaves.append(child)
    return leaves


def pack_sequence_as(structure: Any, flat_sequence: Sequence[Any]) -> Any:
    """Return `flat_sequence` in the shape of `structure`; the inverse of `flatten`.

    **Errors**: a wrong number of leaves is a ValueError.
    """
    expected = len(flatten(structure))
    if expected != len(flat_sequence):
        raise ValueError(
            "Could not pack sequence. "
            f"Structure had {expected} atoms, but flat_sequence had {len(flat_sequence)} items. "
            f"Structure: {structure}, flat_sequence: {flat_sequence}."
        )
    return pack(structure, iter(flat_sequence))


def map_structure(func: Callable[..., Any], *structures: Any) -> Any:
    """Apply `func` leaf by leaf and return the results in the shape of the first structure."""
    for other in structures[1:]:
        assert_same_structure(structures[0], other)
    columns = [flatten(structure) for structure in structures]
    return pack_sequence_as(structures[0], [func(*leaf) for leaf in zip(*columns, strict=True)])


def assert_same_structure(nest1: Any, nest2: Any) -> None:
    """Raise ValueError where nesting differs, TypeError where only a container's type does."""
    message = (
        "The two structures don't have the same nested structure.\n\n"
        f"First structure: type={type(nest1).__name__} str={nest1}\n\n"
        f"Second structure: type={type(nest2).__name__} str={nest2}"
    )
    if is_nested(nest1) != is_nested(nest2):
        raise ValueError(message)
    if not is_nested(nest1):
        return
    if type(nest1) is not type(nest2):
        raise TypeError(message)
    if len(nest1) != len(nest2):
        raise ValueError(message)
    if isinstance(nest1, Mapping) and sorted(nest1) != sorted(nest2):
        raise ValueError(message)
    for child1, child2 in zip(_children(nest1), _children(nest2), strict=True):
        assert_same_structure(child1, child2)


def _children(structure: Any) -> Sequence[Any]:
    if isinstance(structure, (list, tuple)):
        return structure
    return [structure[key] for key in sorted(structure)]


def pack(structure: Any, leaves: Iterator[Any]) -> Any:
    """Return the structure with other leaves, as many as it has."""
    if not is_nested(structure):
        return next(leaves)
    packed = [pack(child, leaves) for child in _children(structure)]
    if not isinstance(structure, (list, tuple)):
        by_key = dict(zip(sorted(structure), packed, strict=True))
        return type(structure)((key, by_key[key]) for key in structure)
    if hasattr(structure, "_fields"):
        return type(structure)(*packed)
    return type(structure)(packed)
