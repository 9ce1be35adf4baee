"""Tensors and variables of TensorFlow's shape around a framework's arrays, and their operators."""

import itertools

import numpy as np
from kit.backend import InvalidArgumentError, Lacks

NUMBERS = itertools.count()
"""Of the variables, in the order in which they are made."""


class Value:
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
        try:
            return np.asarray(self.tf.backend.numpy(self.array))
        except self.tf.backend.unknown as error:
            raise Lacks("the value of a tensor while it compiles") from error

    def __array__(self, dtype=None, copy=None):
        return self.numpy() if dtype is None else self.numpy().astype(dtype)

    def __getattr__(self, name):
        raise Lacks(f"{type(self).__name__}.{name}")

    def __getitem__(self, index):
        # A tensor that indexes is read: an index has no derivative.
        parts = index if isinstance(index, tuple) else (index,)
        index = tuple(one.numpy() if isinstance(one, Value) else one for one in parts)
        return self.tf.applied("slicing", lambda array: array[index], [self])

    def __len__(self):
        return self.shape[0]

    def __iter__(self):
        return (self[place] for place in range(len(self)))

    def __repr__(self):
        return f"<tf.{type(self).__name__}: shape={self.shape}, dtype={self.dtype.name}>"


class Tensor(Value):
    """An array that an operation made."""


class Variable(Value):
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
        return self.tf.same(Tensor(self.tf, self.array), self)

    read_value = value

    def assign(self, value):
        value, shape = self.tf.tensor(value, self.dtype), self.value().shape  # it is watched
        if self.tf.compiling:
            raise Lacks("assign while it compiles")
        if value.shape != shape:
            raise ValueError(f"Cannot assign value of shape {value.shape} to {self!r}")
        self.array = value.array
        return self

    def assign_add(self, value):
        value = self.tf.tensor(value, self.dtype)
        if value.shape != self.shape:
            raise InvalidArgumentError(f"{value.shape} does not fit {self!r}")
        return self.assign(self + value)

    def assign_sub(self, value):
        return self.assign_add(-self.tf.tensor(value, self.dtype))


def _operator(name, swapped=False):
    def method(self, other):
        other = self.tf.tensor(other, None if isinstance(other, np.ndarray) else self.dtype)
        return getattr(self.tf, name)(*((other, self) if swapped else (self, other)))

    return method


BINARY = {
    **{"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "pow": "pow"},
    **{"matmul": "matmul", "floordiv": "floordiv", "mod": "floormod"},
}
COMPARED = {
    **{"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"},
    **{"eq": "equal", "ne": "not_equal"},
}
for _sign, _name in {**BINARY, **COMPARED}.items():
    setattr(Value, f"__{_sign}__", _operator(_name))
for _sign, _name in BINARY.items():
    setattr(Value, f"__r{_sign}__", _operator(_name, swapped=True))
for _sign, _type in (("bool", bool), ("float", float), ("int", int), ("index", int)):
    setattr(Value, f"__{_sign}__", lambda self, made=_type: made(self.numpy()))
Value.__neg__ = lambda self: self.tf.negative(self)
Value.__abs__ = lambda self: self.tf.abs(self)


def flattened(structure):
    """The leaves of lists, tuples and dicts, the latter in the order of their keys."""
    if isinstance(structure, dict):
        structure = [structure[key] for key in sorted(structure)]
    nested = isinstance(structure, (list, tuple))
    return [leaf for part in structure for leaf in flattened(part)] if nested else [structure]


def packed(structure, leaves):
    """The structure with these leaves, an iterator, in place of its own."""
    if isinstance(structure, dict):
        found = {key: packed(structure[key], leaves) for key in sorted(structure)}
        return type(structure)((key, found[key]) for key in structure)
    if not isinstance(structure, (list, tuple)):
        return next(leaves)
    parts = [packed(part, leaves) for part in structure]
    return type(structure)(*parts) if hasattr(structure, "_fields") else type(structure)(parts)
