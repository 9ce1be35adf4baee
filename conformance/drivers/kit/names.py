"""TensorFlow's names: operations as the catalogue spells them, and what has no derivative."""

import ast
import contextlib
import functools
import types

import numpy as np
from kit import tape
from kit.backend import Lacks, listed
from kit.tensors import DEFAULTS, Tensor, Variable, flattened, packed

SPACES = ("", "math.", "nn.", "linalg.")
"""Where TensorFlow has an operation by more than one name."""
DTYPES = (
    *("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool"),
    *("complex64", "complex128"),
)


class _Space:
    """A namespace within TensorFlow's, such as tf.math."""

    def __init__(self, tf, prefix):
        self._tf, self._prefix = tf, prefix

    def __getattr__(self, name):
        return self._tf.named(self._prefix + name)


class Namespace:
    """What a case calls `tf`, over a backend; `spellings` are operations by TensorFlow's names."""

    def __init__(self, backend, spellings):
        self.backend, self.tapes = backend, []
        self.__name__, self.__version__ = backend.name, backend.version
        self.spelled = {}
        for name, text in spellings.items():
            function = spelled(text, backend.scope)
            if function:
                self.spelled[name] = functools.partial(self._operation, name, function)
        for one in (tape.GradientTape, tape.ForwardAccumulator, Variable):
            setattr(self, one.__name__, type(one.__name__, (one,), {"tf": self}))
        self.autodiff = types.SimpleNamespace(ForwardAccumulator=self.ForwardAccumulator)
        self.Tensor = Tensor
        self.UnconnectedGradients = types.SimpleNamespace(NONE="none", ZERO="zero")
        self.newaxis = None
        self.nest = types.SimpleNamespace(flatten=flattened, map_structure=_mapped)
        for name in DTYPES:
            setattr(self, name, np.dtype(name))

    def __getattr__(self, name):
        return self.named(name)

    def named(self, name):
        """An operation by one of its names, or the namespace that begins so."""
        space, _, last = name.rpartition(".")
        others = [one + last for one in SPACES] if not space or f"{space}." in SPACES else []
        for known in (name, *others):
            if known in self.spelled:
                return self.spelled[known]
            if known in WITHOUT_GRADIENT:
                return functools.partial(self._without_gradient, WITHOUT_GRADIENT[known])
        if f"{name}." in SPACES or any(one.startswith(f"{name}.") for one in self.spelled):
            return _Space(self, f"{name}.")
        raise Lacks(f"tf.{name}")

    # ----- making tensors -----

    def constant(self, value, dtype=None, shape=None, name=None):
        if isinstance(value, Tensor):
            value = value.numpy()
        typed = isinstance(value, (np.ndarray, np.generic))
        if not typed and any(isinstance(one, Tensor) for one in flattened(value)):
            return self.stack([self.tensor(one, dtype) for one in value])
        array = np.array(value, None if dtype is None else np.dtype(dtype))
        if dtype is None and not typed:
            array = array.astype(DEFAULTS.get(array.dtype.kind, array.dtype))
        if shape is not None:
            array = np.resize(array, shape)
        return Tensor(self, self.backend.array(array))

    def tensor(self, value, dtype=None):
        """A value as a tensor that can be recorded."""
        if isinstance(value, Variable):
            return value.value()
        return value if isinstance(value, Tensor) else self.constant(value, dtype)

    def convert_to_tensor(self, value, dtype=None, dtype_hint=None, name=None):
        return self.tensor(value, dtype or dtype_hint)

    def zeros_like(self, input, dtype=None, name=None):
        return self.constant(np.zeros(np.shape(input), dtype or self.tensor(input).dtype))

    def ones_like(self, input, dtype=None, name=None):
        return self.constant(np.ones(np.shape(input), dtype or self.tensor(input).dtype))

    def is_tensor(self, value):
        return isinstance(value, Tensor)

    # ----- what is recorded -----

    def applied(self, name, function, inputs, asks=False):
        """The tensors that a function of arrays makes of these, seen by every tape."""
        inputs = [self.tensor(one) for one in inputs]
        answer = self.backend.call(function, [one.array for one in inputs])
        outputs = [Tensor(self, one) for one in listed(answer)]
        self.note(tape.Operation(name, function, inputs, outputs, asks))
        return outputs if isinstance(answer, (list, tuple)) else outputs[0]

    def recorded(self, tensor, source):
        """A tensor that is the same as its source, seen by every tape."""
        self.note(tape.Read(source, tensor))
        return tensor

    def note(self, operation):
        for one in list(self.tapes):
            one.note(operation)

    @contextlib.contextmanager
    def only(self, *recorders):
        """Nobody else records meanwhile."""
        before, self.tapes = self.tapes, list(recorders)
        try:
            yield
        finally:
            self.tapes = before

    def without(self, recorder):
        """This one does not record meanwhile."""
        return self.only(*(one for one in self.tapes if one is not recorder))

    def custom_gradient(self, f=None):
        decorate = functools.partial(tape.custom_gradient, self)
        return decorate if f is None else decorate(f)

    def stop_gradient(self, input, name=None):
        return Tensor(self, self.tensor(input).array)

    def identity(self, input, name=None):
        source = self.tensor(input)
        return self.recorded(Tensor(self, source.array), source)

    # ----- operations -----

    def _operation(self, name, function, *arguments, **keywords):
        keywords.pop("name", None)
        if getattr(function, "__name__", "") == "<lambda>":
            for unknown in {*keywords} - {*function.__code__.co_varnames}:
                if keywords.pop(unknown):
                    raise Lacks(f"tf.{name}({unknown})")
            if len(arguments) > function.__code__.co_argcount:
                raise Lacks(f"tf.{name} of {len(arguments)} arguments")
        given = (list(arguments), keywords)
        tensors = [one for one in flattened(given) if isinstance(one, Tensor)]
        dtype = next((one.dtype for one in tensors if tape.is_differentiable(one)), None)
        if not tensors and arguments:
            arguments = (self.tensor(arguments[0]), *arguments[1:])
        given = ([self._converted(one, dtype) for one in arguments],
                 {key: self._converted(one, dtype) for key, one in keywords.items()})  # fmt: skip
        leaves = flattened(given)
        places = [place for place, one in enumerate(leaves) if isinstance(one, Tensor)]

        def of_arrays(*arrays):
            every = list(leaves)
            for place, array in zip(places, arrays):
                every[place] = array
            positional, named = packed(given, iter(every))
            return function(*positional, **named)

        return self.applied(name, of_arrays, [leaves[place] for place in places])

    def _converted(self, argument, dtype):
        """An argument with tensors in place of numbers that may be differentiated."""
        if isinstance(argument, (list, tuple)):
            leaves = flattened(argument)
            if any(isinstance(one, Tensor) for one in leaves):
                return [self._converted(one, dtype) for one in argument]
            if any(map(_is_float, leaves)):
                return self.tensor(argument, dtype)
            return tuple(self._converted(one, dtype) for one in argument)
        if _is_float(argument) or isinstance(argument, np.ndarray):
            return self.tensor(argument, None if isinstance(argument, np.ndarray) else dtype)
        return argument

    def _without_gradient(self, function, *arguments, **keywords):
        keywords.pop("name", None)
        given = [list(arguments), keywords]
        plain = (one.numpy() if isinstance(one, Tensor) else one for one in flattened(given))
        positional, named = packed(given, plain)
        return self.constant(np.asarray(function(*positional, **named)))


def _is_float(value):
    return isinstance(value, (float, complex)) or (
        isinstance(value, np.generic) and value.dtype.kind in "fc"
    )


def _mapped(function, *structures):
    leaves = [function(*parts) for parts in zip(*map(flattened, structures))]
    return packed(structures[0], iter(leaves))


def spelled(text, scope):
    """The function that a spelling means; None where the framework lacks a name of it."""
    for node in ast.walk(ast.parse(text, mode="eval")):
        if isinstance(node, ast.Attribute):
            try:
                if not _is_there(node, scope):
                    return None
            except KeyError:  # an attribute of an argument
                continue
    return eval(text, dict(scope))


def _is_there(node, scope):
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return True
    value = scope[node.id]
    for name in reversed(names):
        if not hasattr(value, name):
            return False
        value = getattr(value, name)
    return True


def _int32(function):
    return lambda *arguments: np.asarray(function(*arguments), np.int32)


WITHOUT_GRADIENT = {
    **{"eye": np.eye, "argmax": np.argmax},
    **{name: getattr(np, name) for name in ("greater", "greater_equal", "less", "less_equal")},
    **{name: getattr(np, name) for name in ("equal", "not_equal", "logical_and", "logical_or")},
    **{"logical_not": np.logical_not, "reduce_all": np.all, "reduce_any": np.any},
    "zeros": lambda shape, dtype=np.float32: np.zeros(shape, dtype),
    "ones": lambda shape, dtype=np.float32: np.ones(shape, dtype),
    "shape": _int32(np.shape),
    "size": _int32(np.size),
    "rank": _int32(np.ndim),
    "range": lambda *ends: np.arange(*ends, dtype=None if _floats(ends) else np.int32),
}
"""What TensorFlow's gradients do not go through: NumPy says it for every framework."""


def _floats(values):
    return any(isinstance(one, float) for one in values)
