"""A case as a script that needs only TensorFlow: the same text that a worker runs."""

from __future__ import annotations

import ast
from functools import cache

from conformance.corpus.language.case import Case
from conformance.corpus.language.lowering import Lowered
from conformance.corpus.language.program import names_read, tree_of
from conformance.drivers import INSIDE


def script_of(case: Case, lowered: Lowered, mode: str = "eager") -> str:
    """The program of a case in a mode; running it prints every observed name.

    After it ran, `observed` holds the values by name. An error that the case does not expect
    leaves the script as a traceback.
    """
    read = names_read(tree_of(lowered.source))
    imports = ["import numpy as np"] if "np" in read else []
    imports.append("import tensorflow as tf")
    parts = [
        _docstring(case, mode),
        "\n".join(imports),
        *(["import gc\nimport weakref", _definition("alive")] if "alive" in read else []),
        "tf.random.set_seed(0)\n" + lowered.source,
        *_call(lowered, mode),
        'for name, value in observed.items():\n    print(f"{name} = {value}")',
    ]
    return "\n\n".join(parts) + "\n"


def _docstring(case: Case, mode: str) -> str:
    lines = [case.title, "", f"case {case.id}, mode {mode}", f"source {'; '.join(case.sources)}"]
    text = "\n".join(lines).replace("\\", "\\\\").replace('"""', "'''")
    return f'"""{text}\n"""'


def _call(lowered: Lowered, mode: str) -> list[str]:
    inputs = ", ".join(lowered.parameters)
    if mode in ("eager", "call"):
        return [f"observed = case({inputs})"]
    convert = ["case = tf.autograph.to_graph(case)"] if lowered.convert else []
    options = ", jit_compile=True" if mode == "xla" else ""
    call = f"observed = call_in_graph(tf, case, [{inputs}]{options})"
    return [_definition("call_in_graph"), "\n".join([*convert, call])]


@cache
def _definition(function: str) -> str:
    """The text of one of the functions by which a worker calls a program."""
    text = (INSIDE / "modes.py").read_text(encoding="utf-8")
    parts = (part for part in ast.parse(text).body if getattr(part, "name", None) == function)
    return ast.get_source_segment(text, next(parts)) or ""
