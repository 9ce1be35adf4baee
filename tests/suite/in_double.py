"""The oracle in another precision: NumPy's functions of float32 compute in float64, and round.

A campaign that holds it against the oracle must find nothing: two right answers differ by no more
than the bounds allow.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import numpy as np

import reference_impl

SINGLE = {np.dtype("float32"): np.float64, np.dtype("complex64"): np.complex128}
NARROWED = {np.dtype(wide): np.dtype(narrow) for narrow, wide in SINGLE.items()}
SUMS = ("sum", "prod", "mean", "var", "std", "dot", "einsum", "tensordot", "cumsum", "cumprod")


class Widened:
    """A function of NumPy, computed in double precision where all its floats are single."""

    def __init__(self, function: Any) -> None:
        self._function = function

    def __getattr__(self, name: str) -> Any:
        return getattr(self._function, name)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        floats = {
            one.dtype for one in arguments if getattr(one, "dtype", np.dtype(int)).kind in "fc"
        }
        if not floats or not floats <= SINGLE.keys() or {"out", "dtype"} & keywords.keys():
            return self._function(*arguments, **keywords)
        found = self._function(*map(_wide, arguments), **keywords)
        return tuple(map(_narrow, found)) if isinstance(found, tuple) else _narrow(found)


class Numpy:
    """NumPy, or a part of it, with its arithmetic widened."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, name)
        if name == "linalg":
            return Numpy(found)
        wide = isinstance(found, np.ufunc) or name in SUMS or self._module is np.linalg
        return Widened(found) if wide and not isinstance(found, type) else found


def _wide(value: Any) -> Any:
    dtype = getattr(value, "dtype", None)
    return value.astype(SINGLE[dtype]) if dtype in SINGLE else value


def _narrow(value: Any) -> Any:
    dtype = getattr(value, "dtype", None)
    return value.astype(NARROWED[dtype]) if dtype in NARROWED else value


for _, module, _ in pkgutil.walk_packages(reference_impl.__path__, "reference_impl."):
    if hasattr(importlib.import_module(module), "np"):
        importlib.import_module(module).np = Numpy(np)


def __getattr__(name: str) -> Any:
    return getattr(reference_impl, name)
