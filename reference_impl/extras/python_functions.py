"""Python functions as operations: `py_function` is differentiated, `numpy_function` is not.

**Source**: TF 2.21 script_ops.py; contract part 1, lines 196 and 197.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from reference_impl import recording
from reference_impl.ops.passing import identity_n
from reference_impl.tensor import convert_to_tensor


def py_function(func: Callable[..., Any], inp: Sequence[Any], Tout: Any) -> Any:
    """Return the result of `func` on eager tensors, of the types `Tout` (one, or a list).

    What `func` does is recorded like anything else. **Errors**: a result of another type than its
    `Tout` is a ValueError or TypeError.
    """
    return _converted(func(*(convert_to_tensor(x) for x in inp)), Tout)


def numpy_function(func: Callable[..., Any], inp: Sequence[Any], Tout: Any) -> Any:
    """Return the result of `func` on arrays; unconnected to them."""
    with recording.stop_recording():
        return _converted(func(*(convert_to_tensor(x).numpy() for x in inp)), Tout)


def _converted(results: Any, types: Any) -> Any:
    if not isinstance(types, (list, tuple)):
        return convert_to_tensor(results, dtype=types)
    several = results if isinstance(results, (list, tuple)) else [results]
    pairs = zip(several, types, strict=True)
    return identity_n([convert_to_tensor(y, dtype=dtype) for y, dtype in pairs])
