"""The contract you can run: TensorFlow's gradient tape in NumPy, written to be read.

Bind this package to the name `tf`, and programs from TensorFlow's documentation run on it, eagerly.
Start reading at `tape.py`, whose docstring is the law; `README.md` maps files to the contract.
"""

from __future__ import annotations

from reference_impl import namespaces as _namespaces
from reference_impl.control_flow import (
    case,
    cond,
    foldl,
    foldr,
    map_fn,
    scan,
    switch_case,
    while_loop,
)
from reference_impl.custom_gradient import custom_gradient, grad_pass_through, recompute_grad
from reference_impl.dtypes import ALL as _ALL_DTYPES
from reference_impl.dtypes import DType, as_dtype
from reference_impl.graph import function
from reference_impl.module import Module
from reference_impl.tape import GradientTape
from reference_impl.tensor_shape import TensorShape

__all__ = [
    "DType",
    "GradientTape",
    "Module",
    "TensorShape",
    "as_dtype",
    "case",
    "cond",
    "custom_gradient",
    "foldl",
    "foldr",
    "function",
    "grad_pass_through",
    "map_fn",
    "recompute_grad",
    "scan",
    "switch_case",
    "while_loop",
]

__version__ = "0.1.0"

GRADCONF_LACKS = ("Graph", "raw_ops.VarHandleOp")
"""What the oracle declares that it cannot do; see README.md."""

globals().update({dtype.name: dtype for dtype in _ALL_DTYPES})
globals().update(_namespaces.TOP)
