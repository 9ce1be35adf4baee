"""tinytape: a gradient tape on NumPy with TensorFlow's names; incomplete, and it says in what."""

from __future__ import annotations

import contextlib

import numpy as np

__version__ = "0.3"

# What it does not have, by the names of `tf`: the cases that use one are `unsupported`.
GRADCONF_LACKS = """
    GradientTape.batch_jacobian GradientTape.jacobian AggregationMethod Graph IndexedSlices Module
    NoGradient NotDifferentiable RaggedTensor RegisterGradient SparseTensor TensorArray abs add_n
    argmax autodiff autograph bitcast bool cast clip_by_norm clip_by_value compat complex complex64
    complex128 concat cond cumsum custom_gradient data dtypes einsum experimental float16 floor
    foldl function gather grad_pass_through gradients hessians histogram_fixed_width image int64
    is_tensor keras less linalg linspace math minimum nest nn no_gradient pad queue random range
    raw_ops recompute_grad reduce_all reduce_max reduce_min reduce_prod repeat reshape reverse round
    shape sign size sparse split sqrt stack strings switch_case tensordot transpose uint8 unstack
    where while_loop zeros
""".split()

float32, float64, int32 = np.dtype("float32"), np.dtype("float64"), np.dtype("int32")
DEFAULT = {"f": float32, "i": int32, "U": np.dtype("O")}
ONCE = (
    "A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)"
)
_tapes = []


class Tensor:
    __array_priority__ = 100  # numpy leaves the operators to us

    def __init__(self, array):
        self._array = np.asarray(array)

    dtype = property(lambda self: self._array.dtype)
    shape = property(lambda self: self._array.shape)
    numpy = __array__ = lambda self, *_, **__: self._array
    __getitem__ = lambda self, index: _getitem(self, index=index)
    __iter__ = lambda self: (self[position] for position in range(len(self._array)))
    __gt__ = lambda self, other: self._array > np.asarray(other)
    __neg__ = lambda self: negative(self)
    __add__ = __radd__ = lambda self, other: add(self, other)
    __mul__ = __rmul__ = lambda self, other: multiply(self, other)
    __sub__ = lambda self, other: subtract(self, other)
    __rsub__ = lambda self, other: subtract(other, self)
    __truediv__ = lambda self, other: divide(self, other)
    __rtruediv__ = lambda self, other: divide(other, self)
    __pow__ = lambda self, other: pow(self, other)
    __matmul__ = lambda self, other: matmul(self, other)
    __rmatmul__ = lambda self, other: matmul(other, self)


class Variable(Tensor):
    def __init__(self, initial_value, trainable=True, name="Variable", dtype=None):
        super().__init__(constant(initial_value, dtype)._array.copy())
        self.trainable, self.name = trainable, f"{name}:0"

    def assign(self, value):
        self._array = _tensor(value, self.dtype)._array
        return self

    assign_add = lambda self, delta: self.assign(self._array + _tensor(delta, self.dtype)._array)
    assign_sub = lambda self, delta: self.assign(self._array - _tensor(delta, self.dtype)._array)

    def value(self):
        """The variable as a tensor; every tape that records sees that it was read."""
        out = Tensor(self._array)
        for tape in _tapes:
            if self.trainable and tape.watch_accessed_variables:
                tape.watch(self)
            tape.note(out, [self], lambda ct: [ct])
        return out

    read_value = value


def constant(value, dtype=None):
    array = np.array(value, dtype=dtype)
    if dtype is None and not isinstance(value, np.ndarray | np.generic):
        array = array.astype(DEFAULT.get(array.dtype.kind, array.dtype))
    return Tensor(array)


def _tensor(value, dtype=None):
    if isinstance(value, Variable):
        return value.value()
    return value if isinstance(value, Tensor) else constant(value, dtype)


def _op(forward, vjp):
    """An operation: `forward` on arrays, `vjp` from the cotangent to those of the inputs."""

    def op(*inputs, **options):
        dtype = next((x.dtype for x in inputs if isinstance(x, Tensor)), None)
        tensors = [_tensor(x, dtype) for x in inputs]
        out = Tensor(forward(*(x._array for x in tensors), **options))
        for tape in _tapes:
            tape.note(out, tensors, lambda ct: vjp(ct, out, *tensors, **options))
        return out

    return op


# A rule is made of operations, so that an outer tape records it. Broadcasting is undone elsewhere.
add = _op(np.add, lambda ct, out, x, y: (ct, ct))
subtract = _op(np.subtract, lambda ct, out, x, y: (ct, -ct))
multiply = _op(np.multiply, lambda ct, out, x, y: (ct * y, ct * x))
divide = _op(np.divide, lambda ct, out, x, y: (ct / y, -ct * x / (y * y)))
pow = _op(np.power, lambda ct, out, x, y: (ct * y * pow(x, y - 1.0), ct * out * _log(x)))
negative = _op(np.negative, lambda ct, out, x: (-ct,))
identity = convert_to_tensor = _op(np.array, lambda ct, out, x: (ct,))
stop_gradient = _op(np.array, lambda ct, out, x: (None,))
square = _op(np.square, lambda ct, out, x: (ct * 2.0 * x,))
exp = _op(np.exp, lambda ct, out, x: (ct * out,))
_log = _op(np.log, lambda ct, out, x: (ct / x,))
sin = _op(np.sin, lambda ct, out, x: (ct * cos(x),))
cos = _op(np.cos, lambda ct, out, x: (-ct * sin(x),))
tanh = _op(np.tanh, lambda ct, out, x: (ct * (1.0 - out * out),))
matmul = _op(np.matmul, lambda ct, out, x, y: (ct @ _turned(y), _turned(x) @ ct))
_turned = _op(lambda x: np.swapaxes(x, -1, -2), lambda ct, out, x: (_turned(ct),))
# At a tie each side gets half: the middle of the subgradient, and not TensorFlow's choice.
maximum = _op(np.maximum, lambda ct, out, x, y: (ct * _share(x, y), ct * _share(y, x)))
_share = _op(
    lambda x, y: np.heaviside(x - y, x.dtype.type(0.5)), lambda ct, out, x, y: (None, None)
)
_shaped = _op(np.reshape, lambda ct, out, x, shape: (_shaped(ct, shape=x.shape),))
_sum = _op(np.sum, lambda ct, out, x, axis: (_shaped(ct, shape=_kept(x, axis)) * ones_like(x),))
_getitem = _op(
    lambda x, index: x[index], lambda ct, out, x, index: (_put(ct, index=index, like=x),)
)
zeros_like = lambda x: Tensor(np.zeros_like(_tensor(x)._array))
ones_like = lambda x: Tensor(np.ones_like(_tensor(x)._array))
ones = lambda shape, dtype=float32: Tensor(np.ones(shape, dtype))


def _filled(ct, index, like):
    array = np.zeros_like(like._array)
    np.add.at(array, index, ct)
    return array


_put = _op(_filled, lambda ct, out, x, index, like: (ct[index],))


def reduce_sum(x, axis=None, keepdims=False):
    x = _tensor(x)
    axes = tuple(range(x._array.ndim)) if axis is None else axis
    total = _sum(x, axis=axes)
    return _shaped(total, shape=_kept(x, axes)) if keepdims else total


def reduce_mean(x, axis=None, keepdims=False):
    total = reduce_sum(x, axis, keepdims)
    return total / (np.size(x) / max(np.size(total), 1))


def _kept(x, axis):
    axes = {place % len(x.shape) for place in np.atleast_1d(axis)} if x.shape else ()
    return tuple(1 if place in axes else size for place, size in enumerate(x.shape))


def _sum_to(ct, shape):
    """Undo broadcasting: the cotangent in the shape of what was broadcast."""
    lead = len(ct.shape) - len(shape)
    axes = [*range(lead), *(lead + i for i, size in enumerate(shape) if size != ct.shape[lead + i])]
    return _shaped(_sum(ct, axis=tuple(axes)), shape=shape) if axes else ct


def _leaves(structure):
    if isinstance(structure, dict):
        structure = [structure[key] for key in sorted(structure)]
    if not isinstance(structure, list | tuple):
        return [structure]
    return [leaf for part in structure for leaf in _leaves(part)]


def _packed(structure, leaves):
    if isinstance(structure, dict):
        done = {key: _packed(structure[key], leaves) for key in sorted(structure)}
        return {key: done[key] for key in structure}
    if isinstance(structure, list | tuple):
        return type(structure)(_packed(part, leaves) for part in structure)
    return next(leaves)


class UnconnectedGradients:
    NONE, ZERO = "none", "zero"


class GradientTape:
    """Notes every operation on what it watches; `gradient` walks the notes backwards."""

    def __init__(self, persistent=False, watch_accessed_variables=True):
        self.persistent, self.watch_accessed_variables = persistent, watch_accessed_variables
        self.used = False
        self.reset()

    def reset(self):
        self._seen, self._notes, self._variables = {}, [], {}

    def __enter__(self):
        if self in _tapes:
            raise ValueError("Tape is still recording")
        _tapes.append(self)
        return self

    def __exit__(self, *raised):
        if self not in _tapes:
            raise ValueError("Tape is not recording")
        _tapes.remove(self)

    @contextlib.contextmanager
    def stop_recording(self):
        self.__exit__()
        try:
            yield
        finally:
            self.__enter__()

    def watch(self, tensors):
        for tensor in _leaves(tensors):
            if not isinstance(tensor, Tensor):
                kind = type(tensor).__name__
                raise ValueError(f"Passed in object {tensor!r} of type '{kind}', not a Tensor")
            if tensor.dtype.kind == "f":
                self._seen[id(tensor)] = tensor
            if isinstance(tensor, Variable):
                self._variables[id(tensor)] = tensor

    def watched_variables(self):
        return tuple(self._variables.values())

    def note(self, out, inputs, vjp):
        if out.dtype.kind == "f" and any(id(x) in self._seen for x in inputs):
            self._seen[id(out)] = out
            self._notes.append((out, inputs, vjp))

    def gradient(self, target, sources, output_gradients=None, unconnected_gradients="none"):
        if self.used and not self.persistent:
            raise RuntimeError(ONCE)
        if unconnected_gradients not in ("none", "zero"):
            raise ValueError(f"Unknown value for unconnected_gradients: {unconnected_gradients!r}")
        self.used = True
        targets = _leaves(target)
        seeds = [None] * len(targets) if output_gradients is None else _leaves(output_gradients)
        cotangents = {}
        for one, seed in zip(targets, seeds, strict=True):
            self._add(cotangents, one, ones_like(one) if seed is None else _tensor(seed))
        for out, inputs, vjp in reversed(list(self._notes)):
            if id(out) in cotangents:
                for one, ct in zip(inputs, vjp(cotangents[id(out)]), strict=True):
                    if ct is not None:
                        self._add(cotangents, one, _sum_to(ct, one.shape))
        missing = zeros_like if unconnected_gradients == "zero" else lambda source: None
        found = (cotangents.get(id(one)) for one in _leaves(sources))
        pairs = zip(found, _leaves(sources), strict=True)
        return _packed(sources, (missing(one) if ct is None else ct for ct, one in pairs))

    def _add(self, cotangents, tensor, ct):
        if id(tensor) in self._seen:
            known = cotangents.get(id(tensor))
            cotangents[id(tensor)] = ct if known is None else known + ct
