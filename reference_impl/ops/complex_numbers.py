"""Complex numbers and casts: where a cotangent changes its type.

**Source** of all rules: TF 2.21 `math_grad.py`; contract part 1, lines 101, 102 and 106.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.arrays import Array, numpy_dtype
from reference_impl.dtypes import DIFFERENTIABLE_KINDS, as_dtype, float8_e5m2
from reference_impl.ops.nondifferentiable import ones_like, zeros_like
from reference_impl.ops.passing import where
from reference_impl.rules import ANY, primitive, to_tensors, vjp_of
from reference_impl.tensor import Tensor, Variable, convert_to_tensor

Cts = tuple[Tensor | None, ...]


@primitive("Cast", ANY, dtype=numpy_dtype)
def _cast(x: Array, *, dtype: Any) -> Array:
    if x.dtype == float8_e5m2.numpy_dtype:
        x = (x["bits"].astype(np.uint16) << 8).view(np.float16)
    if dtype == float8_e5m2.numpy_dtype:
        return _to_float8(x)
    real = x.real if x.dtype.kind == "c" and dtype.kind not in "cb" else x
    return real.astype(dtype)


def _to_float8(x: Array) -> Array:
    """Return the upper byte of float16, rounded to nearest even; a nan keeps its upper bits."""
    bits = np.asarray(x, np.float16).view(np.uint16).astype(np.uint32)
    rounded = np.where(np.isnan(x), bits | 0x0200, bits + 0x7F + ((bits >> 8) & 1))
    return (rounded >> 8).astype(np.uint8).view(float8_e5m2.numpy_dtype)


@vjp_of(_cast)
def cast_vjp(ct: Tensor, _out: Tensor, x: Tensor, *, dtype: Any) -> Cts:
    """Ct cast back.

    **Edges**: an integer, bool, string or float8 on either side cuts the path: None.
    """
    if x.array.dtype.kind in DIFFERENTIABLE_KINDS and dtype.kind in DIFFERENTIABLE_KINDS:
        return (cast(ct, x.dtype),)
    return (None,)


def cast(x: Any, dtype: Any) -> Any:
    """Return x in another dtype; complex to real drops the imaginary part.

    **Edges**: a tensor or variable of this dtype already is returned as it is.
    """
    wanted = as_dtype(dtype)
    x = x if isinstance(x, Variable) else convert_to_tensor(x)
    return x if x.dtype is wanted else _cast(x, dtype=wanted)


@primitive("Conj", ANY)
def _conj(x: Array) -> Array:
    return np.conj(x)


@vjp_of(_conj)
def conj_vjp(ct: Tensor, _out: Tensor, _x: Tensor) -> Cts:
    """conj(ct)."""
    return (conj(ct),)


def conj(x: Any) -> Tensor:
    """Return the complex conjugate; a real tensor is returned as it is."""
    x = x if type(x) is Tensor else convert_to_tensor(x)
    return _conj(x) if x.array.dtype.kind == "c" else x


@primitive("Real", "c")
def _real(x: Array) -> Array:
    return x.real.copy()


@vjp_of(_real)
def real_vjp(ct: Tensor, _out: Tensor, _x: Tensor) -> Cts:
    """Ct + 0i."""
    return (complex(ct, _zero_like(ct)),)


def real(input: Any) -> Tensor:
    """Return the real part; a real tensor is returned as it is."""
    x = convert_to_tensor(input)
    return _real(x) if x.array.dtype.kind == "c" else x


@primitive("Imag", "c")
def _imag(x: Array) -> Array:
    return x.imag.copy()


@vjp_of(_imag)
def imag_vjp(ct: Tensor, _out: Tensor, _x: Tensor) -> Cts:
    """0 + ct i."""
    return (complex(_zero_like(ct), ct),)


def imag(input: Any) -> Tensor:
    """Return the imaginary part; zeros, unconnected, for a real tensor."""
    x = convert_to_tensor(input)
    return _imag(x) if x.array.dtype.kind == "c" else zeros_like(x)


@primitive("Complex", "f")
def _complex(real: Array, imag: Array) -> Array:
    real, imag = np.broadcast_arrays(real, imag)
    out = np.empty(real.shape, np.complex64 if real.dtype == np.float32 else np.complex128)
    out.real, out.imag = real, imag
    return out


@vjp_of(_complex, broadcasts=True)
def complex_vjp(ct: Tensor, _out: Tensor, real: Tensor, imag: Tensor) -> Cts:
    """(Re ct, Im ct): a real source of a complex program has a real gradient."""
    return _real(ct), _imag(ct)


def complex(real: Any, imag: Any) -> Tensor:
    """Return real + imag i, from two real tensors that broadcast. **Errors**: others TypeError."""
    parts = to_tensors((real, imag))
    if {x.array.dtype.kind for x in parts} != {"f"}:
        raise TypeError("The `real` and `imag` components have incorrect types")
    return _complex(*parts)


@primitive("Angle", "c")
def _angle(input: Array) -> Array:
    return np.angle(input).astype(input.real.dtype)


@vjp_of(_angle)
def angle_vjp(ct: Tensor, _out: Tensor, input: Tensor) -> Cts:
    """-ct / (Im x + Re x i). **Edges**: nan at 0."""
    return (-complex(ct, _zero_like(ct)) * (1.0 / complex(_imag(input), _real(input))),)


def angle(input: Any) -> Tensor:
    """Return the argument of a number; for a real one pi or 0, unconnected."""
    x = convert_to_tensor(input)
    if x.array.dtype.kind == "c":
        return _angle(x)
    return where(x.array < 0, np.pi * ones_like(x), zeros_like(x))


def _zero_like(x: Tensor) -> Tensor:
    return Tensor(np.zeros((), x.array.dtype))
