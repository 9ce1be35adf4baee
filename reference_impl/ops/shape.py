"""Operations that move elements without changing them: each rule moves cotangents back.

**Source** of all rules: TF 2.21 `array_grad.py`, the function named like the operation.
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from reference_impl.arrays import Array, whole_numbers
from reference_impl.broadcasting import broadcast_to
from reference_impl.dtypes import float64
from reference_impl.errors import InvalidArgumentError
from reference_impl.ops.complex_numbers import cast, conj
from reference_impl.rules import ANY, primitive, primitive_with_outputs, to_tensors, vjp_of
from reference_impl.tensor import Tensor, convert_to_tensor

Cts = tuple[Tensor | None, ...]
Sizes = tuple[int, ...]
Paddings = tuple[tuple[int, int], ...]


# ----- Reshaping -----


@primitive("Reshape", ANY, shape=whole_numbers)
def reshape(tensor: Array, *, shape: Sizes) -> Array:
    """Return the same elements in another shape; one size may be -1."""
    try:
        return tensor.reshape(shape)
    except ValueError as error:
        wanted = abs(int(np.prod(shape)))
        raise InvalidArgumentError(
            f"Input to reshape is a tensor with {tensor.size} values, but the requested shape has "
            f"{wanted}",
            "Reshape",
        ) from error


@vjp_of(reshape)
def reshape_vjp(ct: Tensor, _out: Tensor, tensor: Tensor) -> Cts:
    """Ct in the shape of the input. The same for `expand_dims`, which is a reshape."""
    return (reshape(ct, tensor.array.shape),)


def expand_dims(input: Any, axis: Any) -> Tensor:
    """Return the tensor with an axis of size 1 more."""
    x = convert_to_tensor(input)
    return reshape(x, np.expand_dims(x.array, int(axis)).shape)


def _reversed_or(perm: Any) -> Sizes | None:
    return None if perm is None else whole_numbers(perm)


@primitive("Transpose", ANY, perm=_reversed_or)
def _transpose(a: Array, *, perm: Sizes | None = None) -> Array:
    return np.transpose(a, perm)


@vjp_of(_transpose)
def transpose_vjp(ct: Tensor, _out: Tensor, _a: Tensor, *, perm: Sizes | None) -> Cts:
    """Ct transposed by the inverse permutation."""
    return (_transpose(ct, perm=None if perm is None else np.argsort(perm)),)


def transpose(a: Any, perm: Any = None, conjugate: bool = False) -> Tensor:
    """Return the tensor with its axes permuted; without `perm`, reversed."""
    out = _transpose(a, perm=perm)
    return conj(out) if conjugate else out


@primitive("ReverseV2", ANY, axis=whole_numbers)
def reverse(tensor: Array, *, axis: Sizes) -> Array:
    """Return the tensor with the order of elements reversed along axes."""
    return np.flip(tensor, axis)


@vjp_of(reverse)
def reverse_vjp(ct: Tensor, _out: Tensor, _tensor: Tensor, *, axis: Sizes) -> Cts:
    """Ct reversed along the same axes."""
    return (reverse(ct, axis),)


@primitive("Roll", ANY, shift=whole_numbers, axis=whole_numbers)
def roll(input: Array, *, shift: Sizes, axis: Sizes) -> Array:
    """Return the tensor shifted along axes, with wrap-around."""
    return np.roll(input, shift, axis)


@vjp_of(roll)
def roll_vjp(ct: Tensor, _out: Tensor, _input: Tensor, *, shift: Sizes, axis: Sizes) -> Cts:
    """Ct rolled the other way."""
    return (roll(ct, [-n for n in shift], axis),)


def fill(dims: Any, value: Any) -> Tensor:
    """Return a tensor of one value, connected to it; a value of several elements is refused."""
    return broadcast_to(reshape(value, []), dims)


# ----- Joining and parting -----


@primitive("ConcatV2", ANY, axis=int)
def concat(*values: Array, axis: int) -> Array:
    """Return a list of tensors joined along an axis that they have."""
    return np.concatenate(values, axis)


@vjp_of(concat)
def concat_vjp(ct: Tensor, _out: Tensor, *values: Tensor, axis: int) -> Cts:
    """The parts of ct that lie where each input does."""
    return tuple(split(ct, [v.array.shape[axis] for v in values], axis))


@primitive("Pack", ANY, axis=int)
def _stack(*values: Array, axis: int) -> Array:
    return np.stack(values, axis)


@vjp_of(_stack)
def stack_vjp(ct: Tensor, _out: Tensor, *values: Tensor, axis: int) -> Cts:
    """The slices of ct."""
    return tuple(unstack(ct, axis=axis))


def stack(values: Any, axis: int = 0) -> Tensor:
    """Return a list of tensors of one shape joined along a new axis. **Errors**: as `unstack`."""
    values = to_tensors(values)
    if values:
        _refuse_axis(axis, values[0].ndim + 1)
    return _stack(values, axis=axis)


@primitive_with_outputs("Unpack", ANY, axis=int)
def _unstack(value: Array, *, axis: int) -> tuple[Array, ...]:
    return tuple(np.moveaxis(value, axis, 0))


@vjp_of(_unstack)
def unstack_vjp(cts: Any, outs: Any, _value: Tensor, *, axis: int) -> Cts:
    """The cotangents stacked."""
    return (_stack(cts, axis=axis),)


def unstack(value: Any, num: Any = None, axis: int = 0) -> list[Tensor]:
    """Return the slices of a tensor along an axis. **Errors**: one it has not is a ValueError."""
    x = convert_to_tensor(value)
    _refuse_axis(axis, x.ndim)
    return _unstack(x, axis=axis)


def _refuse_axis(axis: int, rank: int) -> None:
    if not -rank <= axis < rank:
        raise ValueError(f"Argument `axis` = {axis} not in range [{-rank}, {rank})")


@primitive_with_outputs("Split", ANY, axis=int)
def split(value: Array, *, num_or_size_splits: Any, axis: int = 0) -> tuple[Array, ...]:
    """Return parts of a tensor along an axis: so many equal ones, or of these sizes."""
    parts: Any = int(num_or_size_splits) if np.ndim(num_or_size_splits) == 0 else None
    if parts is None:
        ends = np.cumsum(whole_numbers(num_or_size_splits))
        if ends[-1] != value.shape[axis]:
            raise ValueError("Determined shape must match input shape along split_dim")
        parts = ends[:-1]
    return tuple(np.split(value, parts, axis))


@vjp_of(split)
def split_vjp(cts: Any, outs: Any, _value: Tensor, *, axis: int) -> Cts:
    """The cotangents concatenated; zeros for a part that was not used."""
    return (concat(cts, axis),)


def _pairs(paddings: Any) -> Paddings:
    return tuple((int(before), int(after)) for before, after in np.asarray(paddings))


@primitive("Pad", ANY, paddings=_pairs)
def _pad(x: Array, *, paddings: Paddings, constant: Any) -> Array:
    if len(paddings) != x.ndim:
        raise ValueError(f"{len(paddings)} paddings for a tensor of rank {x.ndim}")
    return np.pad(x, paddings, constant_values=constant)


@vjp_of(_pad)
def pad_vjp(ct: Tensor, _out: Tensor, x: Tensor, *, paddings: Paddings) -> Cts:
    """The part of ct inside the padding."""
    inside = zip(paddings, x.array.shape, strict=True)
    return (ct[tuple(builtins.slice(before, before + n) for (before, _), n in inside)],)


@primitive("MirrorPad", ANY, paddings=_pairs)
def _mirror_pad(x: Array, *, paddings: Paddings, mode: str) -> Array:
    return np.pad(x, paddings, mode=mode)  # type: ignore[call-overload, no-any-return]


@primitive("MirrorPadGrad", ANY)
def _mirror_pad_grad(ct: Array, *, paddings: Paddings, mode: str) -> Array:
    shape = [n - before - after for n, (before, after) in zip(ct.shape, paddings, strict=True)]
    positions = np.arange(int(np.prod(shape))).reshape(shape)
    total = np.zeros(positions.size, ct.dtype)
    np.add.at(total, np.pad(positions, paddings, mode=mode).ravel(), ct.ravel())  # type: ignore[call-overload]
    return total.reshape(shape)


@vjp_of(_mirror_pad)
def mirror_pad_vjp(ct: Tensor, _out: Tensor, _x: Tensor, *, paddings: Paddings, mode: str) -> Cts:
    """The cotangents of all mirror images of an element, added up."""
    return (_mirror_pad_grad(ct, paddings=paddings, mode=mode),)


@vjp_of(_mirror_pad_grad)
def mirror_pad_grad_vjp(
    ct: Tensor, _out: Tensor, _ct: Tensor, *, paddings: Paddings, mode: str
) -> Cts:
    """Ct mirrored again."""
    return (_mirror_pad(ct, paddings=paddings, mode=mode),)


def pad(tensor: Any, paddings: Any, mode: str = "CONSTANT", constant_values: Any = 0) -> Tensor:
    """Return the tensor with elements added around it: CONSTANT, REFLECT or SYMMETRIC."""
    if mode.upper() == "CONSTANT":
        tensor = convert_to_tensor(tensor)
        constant = convert_to_tensor(constant_values, dtype=tensor.dtype).array
        return _pad(tensor, paddings=paddings, constant=constant)
    return _mirror_pad(tensor, paddings=paddings, mode=mode.lower())


def linspace(start: Any, stop: Any, num: Any, axis: int = 0) -> Tensor:
    """Return `num` evenly spaced values from start to stop, both included; a composition.

    Start and stop broadcast, and integers become float64; a stop of another dtype is a ValueError.

    **Edges**: of one value only the start is seen; the stop is connected to it all the same.
    **Source**: TF 2.21 math_ops.py `linspace_nd`: differentiable in both ends.
    """
    start = convert_to_tensor(start)
    stop = convert_to_tensor(stop, dtype=start.dtype)
    shape = np.broadcast_shapes(start.array.shape, stop.array.shape)
    start, stop = (broadcast_to(_as_floating(end), shape) for end in (start, stop))
    count, along = int(num), int(axis) % (start.ndim + 1)
    first, last = expand_dims(start, along), expand_dims(stop, along)
    steps = np.arange(1, count - 1, dtype=first.array.dtype)
    steps = steps.reshape([-1 if i == along else 1 for i in builtins.range(first.ndim)])
    whole = concat([first, first + steps * ((last - first) / max(count - 1, 1)), last], along)
    return whole[(builtins.slice(None),) * along + (builtins.slice(count),)]


def _as_floating(x: Tensor) -> Any:
    return cast(x, float64) if x.array.dtype.kind in "iu" else x
