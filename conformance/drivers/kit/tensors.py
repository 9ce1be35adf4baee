"""Tensors and variables of TensorFlow's shape around a framework's arrays, and their operators."""

import itertools
import operator

import numpy as np
from kit.backend import Lacks

DEFAULTS = {"f": np.dtype("float32"), "i": np.dtype("int32"), "c": np.dtype("complex128")}
"""What TensorFlow makes of the numbers of Python."""


NUMBERS = itertools.count()
"""Of the variables, in the order in which they are made."""


class Tensor:
    """A framework's array; every operator is the operation of its name."""

    __array_priority__ = 100  # NumPy leaves the operators to this class
    __hash__ = object.__hash__

    def __init__(self, tf, array):
        self.tf, self.array = tf, array

    @property
    def dtype(self):
        return np.dtype(self.tf.backend.dtype(self.array))

    @property
    def shape(self):
        return tuple(map(int, self.array.shape))

    def numpy(self):
        return np.asarray(self.tf.backend.numpy(self.array))

    def __array__(self, dtype=None, copy=None):
        return self.numpy() if dtype is None else self.numpy().astype(dtype)

    def __getattr__(self, name):
        raise Lacks(f"{type(self).__name__}.{name}")

    def __getitem__(self, index):
        # A tensor that indexes is read: an index has no derivative.
        parts = index if isinstance(index, tuple) else (index,)
        index = tuple(one.numpy() if isinstance(one, Tensor) else one for one in parts)
        return self.tf.applied("slicing", lambda array: array[index], [self])

    def __bool__(self):
        return bool(self.numpy())

    def __float__(self):
        return float(self.numpy())

    def __int__(self):
        return int(self.numpy())

    __index__ = __int__

    def __len__(self):
        return self.shape[0]

    def __iter__(self):
        return (self[place] for place in range(len(self)))

    def __repr__(self):
        return f"<tf.Tensor: shape={self.shape}, dtype={self.dtype.name}, numpy={self.numpy()}>"


class Variable(Tensor):
    """An array that can be replaced. What reads it reads a tensor, which tapes see."""

    tf = None

    def __init__(self, initial_value, trainable=True, name="Variable", dtype=None):
        super().__init__(self.tf, self.tf.constant(initial_value, dtype).array)
        self.trainable, self.name, self.number = trainable, f"{name}:0", next(NUMBERS)

    def value(self):
        """The variable as a tensor; every tape that records sees that it was read."""
        for tape in self.tf.tapes:
            if self.trainable and tape.watches_variables:
                tape.watch(self)
        return self.tf.recorded(Tensor(self.tf, self.array), self)

    read_value = value

    def assign(self, value):
        self.array = self.tf.tensor(value, self.dtype).array
        return self

    def assign_add(self, value):
        return self.assign(self.value() + value)

    def assign_sub(self, value):
        return self.assign(self.value() - value)

    def __repr__(self):
        return f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}>"


def _operator(name, swapped=False):
    def method(self, other):
        other = self.tf.tensor(other, None if isinstance(other, np.ndarray) else self.dtype)
        pair = (other, self) if swapped else (self, other)
        return getattr(self.tf, name)(*pair)

    return method


BINARY = {
    **{"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "pow": "pow"},
    **{"matmul": "matmul", "floordiv": "floordiv", "mod": "floormod"},
}
for _sign, _name in BINARY.items():
    setattr(Tensor, f"__{_sign}__", _operator(_name))
    setattr(Tensor, f"__r{_sign}__", _operator(_name, swapped=True))
Tensor.__neg__ = lambda self: self.tf.negative(self)
Tensor.__abs__ = lambda self: self.tf.abs(self)


def _compared(compare):
    def method(self, other):
        pair = (self.tf.tensor(self), self.tf.tensor(other, self.dtype))
        return self.tf.constant(compare(*map(np.asarray, pair)))

    return method


for _sign in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Tensor, f"__{_sign}__", _compared(getattr(operator, f"__{_sign}__")))


def flattened(structure):
    """The leaves of lists, tuples and dicts, the latter in the order of their keys."""
    if isinstance(structure, dict):
        structure = [structure[key] for key in sorted(structure)]
    if not isinstance(structure, (list, tuple)):
        return [structure]
    return [leaf for part in structure for leaf in flattened(part)]


def packed(structure, leaves):
    """The structure with these leaves, an iterator, in place of its own."""
    if isinstance(structure, dict):
        found = {key: packed(structure[key], leaves) for key in sorted(structure)}
        return type(structure)((key, found[key]) for key in structure)
    if not isinstance(structure, (list, tuple)):
        return next(leaves)
    parts = [packed(part, leaves) for part in structure]
    return type(structure)(*parts) if hasattr(structure, "_fields") else type(structure)(parts)
