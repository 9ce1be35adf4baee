"""The contract you can run: TensorFlow's gradient tape in NumPy, written to be read.

Bind this package to the name `tf`, and programs from TensorFlow's documentation run on it, eagerly.
Start reading at `tape.py`, whose docstring is the law; `README.md` maps files to the contract.
"""

from __future__ import annotations

from reference_impl import namespaces as _namespaces
from reference_impl.tape import GradientTape

__all__ = ["GradientTape"]

__version__ = "0.1.0"

GRADCONF_LACKS = ("Graph", "raw_ops.VarHandleOp")
"""What the oracle declares that it cannot do; see README.md."""

globals().update(_namespaces.TOP)
