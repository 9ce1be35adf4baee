"""Operations that move elements without changing them: each rule moves cotangents back.

**Source** of all rules: TF 2.21 `array_grad.py`, the function named like the operation.
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from reference_impl.arrays import Array, whole_numbers
from reference_impl.errors import InvalidArgumentError
from reference_impl.ops.complex_numbers import conj
from reference_impl.ops.reduction import reduce_sum
from reference_impl.rules import (
    ANY,
    primitive,
    primitive_with_outputs,
    vjp_of,
)
from reference_impl.tensor import Tensor, convert_to_tensor

Cts = tuple[Tensor | None, ...]


def sizes(shape: Any) -> tuple[int, ...]:
    """Return a shape given as a tensor, a list or a number as a tuple of ints."""
    return whole_numbers(shape)


# ----- Reshaping -----


@primitive("Reshape", ANY)
def _reshape(x: Array, *, shape: tuple[int, ...]) -> Array:
    try:
        return x.reshape(shape)
    except ValueError as error:
        wanted = abs(int(np.prod(shape)))
        raise InvalidArgumentError(
            f"Input to reshape is a tensor with {x.size} values, but the requested shape has "
            f"{wanted}",
            "Reshape",
        ) from error


@vjp_of(_reshape)
def reshape_vjp(ct: Tensor, _out: Tensor, x: Tensor, *, shape: tuple[int, ...]) -> Cts:
    """Ct in the shape of x. The same for `expand_dims` and `squeeze`, which are reshapes."""
    return (reshape(ct, x.array.shape),)


def reshape(tensor: Any, shape: Any, name: str | None = None) -> Tensor:
    """Return the same elements in another shape; one size may be -1."""
    return _reshape(tensor, shape=sizes(shape))


def expand_dims(input: Any, axis: Any, name: str | None = None) -> Tensor:
    """Return the tensor with an axis of size 1 more."""
    x = convert_to_tensor(input)
    return reshape(x, np.expand_dims(x.array, int(axis)).shape)


def squeeze(input: Any, axis: Any = None, name: str | None = None) -> Tensor:
    """Return the tensor without its axes of size 1, or without those that are named."""
    x = convert_to_tensor(input)
    axes = None if axis is None or axis == [] else sizes(axis)
    try:
        return reshape(x, np.squeeze(x.array, axis=axes).shape)
    except ValueError as error:
        raise InvalidArgumentError(
            f"Can not squeeze dim[{axis}], expected a dimension of 1", "Squeeze"
        ) from error


@primitive("Transpose", ANY)
def _transpose(x: Array, *, perm: tuple[int, ...]) -> Array:
    return np.transpose(x, perm)


@vjp_of(_transpose)
def transpose_vjp(ct: Tensor, _out: Tensor, _x: Tensor, *, perm: tuple[int, ...]) -> Cts:
    """Ct transposed by the inverse permutation."""
    return (_transpose(ct, perm=tuple(int(i) for i in np.argsort(perm))),)


def transpose(a: Any, perm: Any = None, conjugate: bool = False, name: str | None = None) -> Tensor:
    """Return the tensor with its axes permuted; without `perm`, reversed."""
    x = convert_to_tensor(a)
    order = tuple(reversed(builtins.range(x.ndim))) if perm is None else sizes(perm)
    out = _transpose(x, perm=order)
    return conj(out) if conjugate else out


@primitive("ReverseV2", ANY)
def _reverse(x: Array, *, axis: tuple[int, ...]) -> Array:
    return np.flip(x, axis)


@vjp_of(_reverse)
def reverse_vjp(ct: Tensor, _out: Tensor, _x: Tensor, *, axis: tuple[int, ...]) -> Cts:
    """Ct reversed along the same axes."""
    return (_reverse(ct, axis=axis),)


def reverse(tensor: Any, axis: Any, name: str | None = None) -> Tensor:
    """Return the tensor with the order of elements reversed along axes."""
    return _reverse(tensor, axis=sizes(axis))


@primitive("Roll", ANY)
def _roll(x: Array, *, shift: tuple[int, ...], axis: tuple[int, ...]) -> Array:
    return np.roll(x, shift, axis)


@vjp_of(_roll)
def roll_vjp(
    ct: Tensor, _out: Tensor, _x: Tensor, *, shift: tuple[int, ...], axis: tuple[int, ...]
) -> Cts:
    """Ct rolled the other way."""
    return (_roll(ct, shift=tuple(-n for n in shift), axis=axis),)


def roll(input: Any, shift: Any, axis: Any, name: str | None = None) -> Tensor:
    """Return the tensor shifted along axes, with wrap-around."""
    return _roll(input, shift=sizes(shift), axis=sizes(axis))


# ----- Repeating -----


@primitive("BroadcastTo", ANY)
def _broadcast_to(x: Array, *, shape: tuple[int, ...]) -> Array:
    return np.broadcast_to(x, shape)


@vjp_of(_broadcast_to, broadcasts=True)
def broadcast_to_vjp(ct: Tensor, _out: Tensor, x: Tensor, *, shape: tuple[int, ...]) -> Cts:
    """Ct, summed to the shape of x by the table."""
    return (ct,)


def broadcast_to(input: Any, shape: Any, name: str | None = None) -> Tensor:
    """Return the tensor repeated to a shape."""
    return _broadcast_to(input, shape=sizes(shape))


@primitive("Tile", ANY)
def _tile(x: Array, *, multiples: tuple[int, ...]) -> Array:
    return np.tile(x, multiples)


@vjp_of(_tile)
def tile_vjp(ct: Tensor, _out: Tensor, x: Tensor, *, multiples: tuple[int, ...]) -> Cts:
    """The sum of ct over the repetitions."""
    paired = [n for pair in zip(multiples, x.array.shape, strict=True) for n in pair]
    return (reduce_sum(reshape(ct, paired), list(builtins.range(0, len(paired), 2))),)


def tile(input: Any, multiples: Any, name: str | None = None) -> Tensor:
    """Return the tensor repeated `multiples[i]` times along axis i."""
    return _tile(input, multiples=sizes(multiples))


def fill(dims: Any, value: Any, name: str | None = None) -> Tensor:
    """Return a tensor of one value, connected to it."""
    return broadcast_to(value, dims)


# ----- Joining and parting -----


@primitive("ConcatV2", ANY)
def _concat(*values: Array, axis: int) -> Array:
    return np.concatenate(values, axis)


@vjp_of(_concat)
def concat_vjp(ct: Tensor, _out: Tensor, *values: Tensor, axis: int) -> Cts:
    """The parts of ct that lie where each input does."""
    return tuple(split(ct, [v.array.shape[axis] for v in values], axis))


def concat(values: Any, axis: Any, name: str | None = None) -> Tensor:
    """Return tensors joined along an axis that they have."""
    if not isinstance(values, (list, tuple)):
        values = [values]
    return _concat(*values, axis=int(axis))


@primitive("Pack", ANY)
def _stack(*values: Array, axis: int) -> Array:
    return np.stack(values, axis)


@vjp_of(_stack)
def stack_vjp(ct: Tensor, _out: Tensor, *values: Tensor, axis: int) -> Cts:
    """The slices of ct."""
    return tuple(unstack(ct, axis=axis))


def stack(values: Any, axis: int = 0, name: str | None = None) -> Tensor:
    """Return tensors of one shape joined along a new axis."""
    return _stack(*values, axis=int(axis))


@primitive_with_outputs("Unpack", ANY)
def _unstack(x: Array, *, axis: int) -> tuple[Array, ...]:
    return tuple(np.moveaxis(x, axis, 0))


@vjp_of(_unstack)
def unstack_vjp(cts: Any, outs: Any, _x: Tensor, *, axis: int) -> Cts:
    """The cotangents stacked."""
    return (stack(_as_list(cts), axis=axis),)


def unstack(value: Any, num: int | None = None, axis: int = 0, name: Any = None) -> list[Tensor]:
    """Return the slices of a tensor along an axis."""
    return list(_unstack(value, axis=int(axis)))


@primitive_with_outputs("Split", ANY)
def _split(x: Array, *, sizes: tuple[int, ...], axis: int) -> tuple[Array, ...]:
    if sum(sizes) != x.shape[axis]:
        raise ValueError("Determined shape must match input shape along split_dim")
    return tuple(np.split(x, np.cumsum(sizes)[:-1], axis))


@vjp_of(_split)
def split_vjp(cts: Any, outs: Any, _x: Tensor, *, sizes: tuple[int, ...], axis: int) -> Cts:
    """The cotangents concatenated; zeros for a part that was not used."""
    return (concat(_as_list(cts), axis),)


def split(
    value: Any, num_or_size_splits: Any, axis: Any = 0, num: Any = None, name: Any = None
) -> list[Tensor]:
    """Return parts of a tensor along an axis: so many equal ones, or of these sizes."""
    x = convert_to_tensor(value)
    length = x.array.shape[int(axis)]
    if np.ndim(num_or_size_splits) == 0:
        count = int(num_or_size_splits)
        parts = (length // count,) * count
    else:
        parts = sizes(num_or_size_splits)
        parts = tuple(length - sum(parts) - 1 if n == -1 else n for n in parts)
    return list(_split(x, sizes=parts, axis=int(axis)))


def _as_list(cts: Any) -> list[Any]:
    """Return the cotangents of the outputs as a list, also if there is one output only."""
    return list(cts) if isinstance(cts, (list, tuple)) else [cts]


@primitive("Pad", ANY)
def _pad(x: Array, *, paddings: tuple[tuple[int, int], ...], constant: Any) -> Array:
    return np.pad(x, paddings, constant_values=constant)


@vjp_of(_pad)
def pad_vjp(
    ct: Tensor, _out: Tensor, x: Tensor, *, paddings: tuple[tuple[int, int], ...], constant: Any
) -> Cts:
    """The part of ct inside the padding."""
    inside = zip(paddings, x.array.shape, strict=True)
    return (ct[tuple(builtins.slice(before, before + n) for (before, _), n in inside)],)


@primitive("MirrorPad", ANY)
def _mirror_pad(x: Array, *, paddings: tuple[tuple[int, int], ...], mode: str) -> Array:
    return np.pad(x, paddings, mode=mode)  # type: ignore[call-overload, no-any-return]


@primitive("MirrorPadGrad", ANY)
def _mirror_pad_grad(ct: Array, *, paddings: tuple[tuple[int, int], ...], mode: str) -> Array:
    shape = [n - before - after for n, (before, after) in zip(ct.shape, paddings, strict=True)]
    positions = np.arange(int(np.prod(shape))).reshape(shape)
    total = np.zeros(positions.size, ct.dtype)
    np.add.at(total, np.pad(positions, paddings, mode=mode).ravel(), ct.ravel())  # type: ignore[call-overload]
    return total.reshape(shape)


@vjp_of(_mirror_pad)
def mirror_pad_vjp(
    ct: Tensor, _out: Tensor, _x: Tensor, *, paddings: tuple[tuple[int, int], ...], mode: str
) -> Cts:
    """The cotangents of all mirror images of an element, added up."""
    return (_mirror_pad_grad(ct, paddings=paddings, mode=mode),)


@vjp_of(_mirror_pad_grad)
def mirror_pad_grad_vjp(
    ct: Tensor, _out: Tensor, _ct: Tensor, *, paddings: tuple[tuple[int, int], ...], mode: str
) -> Cts:
    """Ct mirrored again."""
    return (_mirror_pad(ct, paddings=paddings, mode=mode),)


def pad(
    tensor: Any, paddings: Any, mode: str = "CONSTANT", constant_values: Any = 0, name: Any = None
) -> Tensor:
    """Return the tensor with elements added around it: CONSTANT, REFLECT or SYMMETRIC."""
    pairs = tuple((int(a), int(b)) for a, b in np.asarray(paddings))
    if mode.upper() == "CONSTANT":
        return _pad(tensor, paddings=pairs, constant=np.asarray(constant_values))
    return _mirror_pad(tensor, paddings=pairs, mode=mode.lower())


def linspace(start: Any, stop: Any, num: Any, name: str | None = None, axis: int = 0) -> Tensor:
    """Return `num` evenly spaced values from start to stop, both included; a composition.

    **Source**: TF 2.21 math_ops.py `linspace_nd`: differentiable in both ends.
    """
    start = convert_to_tensor(start)
    stop = convert_to_tensor(stop, dtype_hint=start.dtype)
    count, along = int(num), int(axis) % (start.ndim + 1)
    first, last = expand_dims(start, along), expand_dims(stop, along)
    places = np.arange(1, count - 1).reshape([-1 if i == along else 1 for i in _axes_of(first)])
    step = (last - first) / max(count - 1, 1)
    whole = concat([first, first + step * places.astype(step.array.dtype), last], along)
    return whole[(builtins.slice(None),) * along + (builtins.slice(count),)]


def _axes_of(x: Tensor) -> builtins.range:
    return builtins.range(x.ndim)
