"""tinytape: a gradient tape on NumPy with TensorFlow's names; incomplete, and it says in what."""

from types import SimpleNamespace

import numpy as np

__version__ = "0.4"

# What it does not have, by the names of `tf`: the cases that use one are `unsupported`.
GRADCONF_LACKS = """
    GradientTape.batch_jacobian GradientTape.jacobian GradientTape.reset GradientTape.stop_recording
    abs add_n AggregationMethod argmax autodiff autograph bitcast bool cast clip_by_norm
    clip_by_value compat complex complex128 complex64 concat cond cumsum custom_gradient data dtypes
    einsum experimental fill float16 floor foldl function gather grad_pass_through gradients Graph
    hessians histogram_fixed_width identity_n image IndexedSlices int64 is_tensor keras less linalg
    linspace math minimum Module name_scope nest nn no_gradient NoGradient NotDifferentiable
    numpy_function ones pad py_function quantization queue RaggedTensor random range raw_ops
    recompute_grad reduce_all reduce_max reduce_min reduce_prod RegisterGradient repeat reverse
    round shape sign size sparse SparseTensor split sqrt stack strings switch_case
    tensor_scatter_nd_max tensor_scatter_nd_min TensorArray tensordot transpose uint8 unstack where
    while_loop zeros
""".split()

float32, float64, int32 = np.dtype("float32"), np.dtype("float64"), np.dtype("int32")
UnconnectedGradients = SimpleNamespace(NONE="none", ZERO="zero")
_tapes = []  # those that record now


class Tensor:
    __array_priority__ = 100  # numpy leaves the operators to us
    dtype = property(lambda self: self._array.dtype)
    shape = property(lambda self: self._array.shape)
    numpy = __array__ = lambda self, *_, **__: self._array
    __neg__ = lambda self: negative(self)
    __add__ = __radd__ = lambda self, other: add(self, other)
    __sub__ = lambda self, other: subtract(self, other)
    __rsub__ = lambda self, other: subtract(other, self)
    __mul__ = __rmul__ = lambda self, other: multiply(self, other)
    __truediv__ = lambda self, other: divide(self, other)
    __rtruediv__ = lambda self, other: divide(other, self)
    __pow__ = lambda self, other: pow(self, other)
    __matmul__ = lambda self, other: matmul(self, other)
    __rmatmul__ = lambda self, other: matmul(other, self)
    __gt__ = lambda self, other: self._array > np.asarray(other)

    def __init__(self, array):
        self._array = np.asarray(array)


class Variable(Tensor):
    def __init__(self, initial_value, trainable=True, name="Variable", dtype=None):
        super().__init__(constant(initial_value, dtype)._array.copy())
        self.trainable, self.name = trainable, f"{name}:0"

    def assign(self, value):
        self._array = _tensor(value, self.dtype)._array
        return self

    def value(self):
        """The variable as a tensor; every tape that records sees that it was read."""
        for tape in _tapes:
            if self.trainable and tape.watch_accessed_variables:
                tape.watch(self)
        return _record(Tensor(self._array), [self], lambda ct: [ct])


def constant(value, dtype=None):
    array = np.array(value, dtype)
    if dtype is None and not isinstance(value, np.ndarray | np.generic):
        array = array.astype({"f": float32, "i": int32}.get(array.dtype.kind, array.dtype))
    return Tensor(array)


def _tensor(value, dtype=None):
    if isinstance(value, Variable):
        return value.value()
    return value if isinstance(value, Tensor) else constant(value, dtype)


def _record(out, inputs, vjp):
    for tape in _tapes:
        tape.note(out, inputs, vjp)
    return out


def _op(forward, vjp):
    """An operation: `forward` on arrays, `vjp` from the cotangent to those of the inputs."""

    def op(*inputs, **options):
        dtype = next((x.dtype for x in inputs if isinstance(x, Tensor)), None)
        tensors = [_tensor(x, dtype) for x in inputs]
        out = Tensor(forward(*(x._array for x in tensors), **options))
        return _record(out, tensors, lambda ct: vjp(ct, out, *tensors))

    return op


def _unbroadcast(array, shape):
    lead = array.ndim - len(shape)
    axes = (*range(lead), *(lead + axis for axis, size in enumerate(shape) if size == 1))
    return array.sum(axes, keepdims=True).reshape(shape)


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
sin = _op(np.sin, lambda ct, out, x: (ct * cos(x),))
cos = _op(np.cos, lambda ct, out, x: (-ct * sin(x),))
tanh = _op(np.tanh, lambda ct, out, x: (ct * (1.0 - out * out),))
_log = _op(np.log, lambda ct, out, x: (ct / x,))
reshape = _op(np.reshape, lambda ct, out, x: (reshape(ct, shape=x.shape),))
matmul = _op(np.matmul, lambda ct, out, x, y: (ct @ _turned(y), _turned(x) @ ct))
_turned = _op(lambda x: np.swapaxes(x, -1, -2), lambda ct, out, x: (_turned(ct),))
_sum_to = _op(_unbroadcast, lambda ct, out, x: (_broadcast_to(ct, shape=x.shape),))
_broadcast_to = _op(np.broadcast_to, lambda ct, out, x: (_sum_to(ct, shape=x.shape),))
# At a tie each side gets half: the middle of the subgradient, and not TensorFlow's choice.
maximum = _op(np.maximum, lambda ct, out, x, y: (ct * _share(x, y), ct * _share(y, x)))
_half = lambda x, y: np.heaviside(x - y, x.dtype.type(0.5))
_share = _op(_half, lambda ct, out, x, y: (None, None))
zeros_like = lambda x: Tensor(np.zeros_like(x))
ones_like = lambda x: Tensor(np.ones_like(x))


def reduce_sum(x, axis=None, keepdims=False):
    full = np.sum(x, axis, keepdims=True).shape
    return reshape(_sum_to(x, shape=full), shape=full if keepdims else np.sum(x, axis).shape)


def reduce_mean(x, axis=None, keepdims=False):
    return reduce_sum(x, axis, keepdims) / (np.size(x) / np.size(np.sum(x, axis)))


def _leaves(structure):
    if isinstance(structure, dict):
        structure = [structure[key] for key in sorted(structure)]
    if not isinstance(structure, list | tuple):
        return [structure]
    return [leaf for part in structure for leaf in _leaves(part)]


def _packed(structure, leaves):
    if isinstance(structure, dict):
        return {key: _packed(structure[key], leaves) for key in sorted(structure)}
    if not isinstance(structure, list | tuple):
        return next(leaves)
    return type(structure)(_packed(part, leaves) for part in structure)


class GradientTape:
    """Notes every operation on what it watches; `gradient` walks the notes backwards."""

    def __init__(self, persistent=False, watch_accessed_variables=True):
        self.persistent, self.watch_accessed_variables = persistent, watch_accessed_variables
        self.used, self._seen, self._notes = False, {}, []

    def __enter__(self):
        _tapes.append(self)
        return self

    def __exit__(self, *raised):
        _tapes.remove(self)

    def watch(self, tensors):
        for tensor in _leaves(tensors):
            if not isinstance(tensor, Tensor):
                raise ValueError(f"Passed in object {tensor!r}, not a Tensor")
            if tensor.dtype.kind == "f":
                self._seen[id(tensor)] = tensor

    def watched_variables(self):
        return tuple(tensor for tensor in self._seen.values() if isinstance(tensor, Variable))

    def note(self, out, inputs, vjp):
        if out.dtype.kind == "f" and any(id(x) in self._seen for x in inputs):
            self._seen[id(out)] = out
            self._notes.append((out, inputs, vjp))

    def gradient(self, target, sources, output_gradients=None, unconnected_gradients="none"):
        if self.used and not self.persistent:
            raise RuntimeError("A non-persistent GradientTape can only be used to compute one set")
        self.used, cotangents, targets = True, {}, _leaves(target)
        seeds = map(ones_like, targets) if output_gradients is None else _leaves(output_gradients)
        self._add(cotangents, targets, seeds)
        for out, inputs, vjp in reversed(list(self._notes)):
            if id(out) in cotangents:
                self._add(cotangents, inputs, vjp(cotangents[id(out)]))
        missing = zeros_like if unconnected_gradients == "zero" else lambda source: None
        found = ((cotangents.get(id(source)), source) for source in _leaves(sources))
        return _packed(sources, (missing(one) if ct is None else ct for ct, one in found))

    def _add(self, cotangents, tensors, cts):
        for tensor, ct in zip(tensors, cts, strict=True):
            if ct is not None and id(tensor) in self._seen:
                ct = _sum_to(ct, shape=tensor.shape)
                known = cotangents.get(id(tensor))
                cotangents[id(tensor)] = ct if known is None else known + ct
