"""What values, expectations and messages look like to a person: one printable line each."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from conformance.answers.answer import (
    NoneValue,
    NotObserved,
    Other,
    Raised,
    Slices,
    Structure,
    Tensor,
    Value,
    VariableName,
)
from conformance.answers.literals import Array, flatten
from conformance.corpus.language import case as language
from conformance.text import clean

SHOWN = 12
"""The largest tensor that is shown with every element."""
_COUNTED = re.compile(
    r"\b0x[0-9a-fA-F]+|(?<=_)[0-9]+|(?<=CustomGradient-)[0-9]+|(?<=_proto=)[0-9]+|(?<=utor_type=)[0-9]+"
)
"""An address, or the number at the end of a name that a framework made up: it counts what ran."""
_FRAME = re.compile(
    r'^[ \t]*File "[^"\n]*", line \d+[^\n]*\n?(?:[ \t]+(?![ \t]*File ")[^\n]*\n?)?'
    r'|^[ \t]*File "[^\n]*\Z|^[ \t]+Fi?l?e?\Z',
    re.MULTILINE,
)
"""A frame of a stack, with its line of code: who called depends on the worker and its framework.

The last one may be cut, where a message is longer than what is kept of it.
"""
_FOLDERS = re.compile(r"(?<![\w./])(?:(?:/[\w.+@~-]+){2,}|(?:[\w.+@~-]+/)*site-packages)/")
_LOGGED = re.compile(
    r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d+)?:? *|"  # TensorFlow's and ISO times
    r"\b[IWEF]\d{4} \d\d:\d\d:\d+\.\d+ +\d+ |"  # absl: level and date, time, thread
    r"(?<=\b[pt]id )\d+|(?<=\bpid=)\d+|(?<=\bprocess )\d+|(?<=\bthread )\d+",
    re.IGNORECASE,
)


def array_text(array: Array) -> str:
    """`[4.0, 108.0]`: nested and short, the shortest digits that give the element again."""
    if array.size == 0 and array.ndim > 1:
        return f"[] of shape {array.shape}"
    if array.size > SHOWN:
        head = ", ".join(element_text(element) for element in array.reshape(-1)[:4])
        return f"[{head}, ...] of shape {array.shape}"
    if array.ndim == 0:
        return element_text(array[()])
    text = element_text if array.ndim == 1 else array_text
    return f"[{', '.join(text(row) for row in array)}]"


def element_text(element: Any) -> str:
    """One element: `0.1`, `(1+2j)`, `'a'`, `True`."""
    return clean(repr(element), 80) if isinstance(element, str) else str(element)


def describe(value: Value, depth: int = 0) -> str:
    """A value in one line; the items of lists and tuples are told down to `depth`."""
    match value:
        case Tensor():
            return f"{array_text(value.array)} ({'NumPy ' * value.numpy}{value.dtype})"
        case Structure(kind, items) if depth and kind != "dict":
            return f"[{', '.join(describe(item, depth - 1) for item in items)}]"
        case Structure(kind, items):
            return f"a {kind} of {len(items)}"
        case Raised():
            return clean(f"{value.type}: {value.message}")
        case NotObserved(raised) if raised:
            return clean(f"not observed: reading it raised {raised}")
        case VariableName(name) | Other(name):
            return clean(f"{value.kind} {name}")
        case NoneValue():
            return "None"
        case Slices():
            return "IndexedSlices"
    return value.kind.replace("_", " ")


def text_of(expected: language.Expectation) -> str:
    """An expectation in one line."""
    match expected:
        case language.ExpectedNone():
            return "None"
        case language.ExpectedTensor():
            return _tensor_text(expected)
        case language.ExpectedSlices():
            return f"IndexedSlices of {_tensor_text(expected.values)}"
        case language.ExpectedStructure("dict", _, keys):
            return f"a dict of {', '.join(map(repr, keys))}"
        case language.ExpectedStructure(kind, items):
            return f"a {kind} of {len(items)}"
        case language.ExpectedSeen(text):
            return clean(text)
        case language.ExpectedRaised(kind, message):
            return clean(f"{kind}: {message}")
        case language.ExpectedError(kind, message, step):
            part = f" with {message!r} in its message" if message else ""
            return f"{kind}{part}" + (f" at step {step}" if step else "")
        case language.ExpectedCalls(count):
            return f"a function called {count} times"
        case language.ExpectedWatched(names):
            return f"variables {', '.join(names) or 'none'}"
        case language.ExpectedAnyOf():
            return "one of several answers"
        case language.ExpectedDerivative():
            return "the derivative of its own forward"
        case language.ExpectedSurvey():
            return "anything"
    return "what the oracle says"


def _tensor_text(expected: language.ExpectedTensor) -> str:
    leaves, shape = flatten(expected.value)
    array = np.empty(len(leaves), dtype=object)
    array[:] = leaves
    dtype = f" ({'NumPy ' * expected.numpy}{expected.dtype})" if expected.dtype else ""
    return f"{array_text(array.reshape(shape))}{dtype}"


def steady(message: str) -> str:
    """What a message says whichever process on whichever machine wrote it.

    Frames of a stack are left out, and what `steady_line` leaves out.

    >>> steady('at:\\n  File "a.py", line 1, in f\\n  File "b.py", line 2\\n    g()\\n\\nno rank')
    'at: no rank'
    >>> steady('at:\\n  File "a.py", line 1, in f\\n  File "lib/b')
    'at:'
    """
    return steady_line(_FRAME.sub("", message))


def steady_line(text: str) -> str:
    """The text in one line, without addresses, counters, folders, times and process ids.

    >>> steady_line("I0000 00:00:1760.12    813 rewrite_1: no gradient of /tmp/x/run.py at 0x7f")
    'rewrite_#: no gradient of .../run.py at #'
    >>> steady_line("_gradient_op_type CustomGradient-10194")
    '_gradient_op_type CustomGradient-#'
    """
    folded = " ".join(text.encode("utf-8", "backslashreplace").decode().split())
    return _FOLDERS.sub(".../", _COUNTED.sub("#", _LOGGED.sub("", folded)))
