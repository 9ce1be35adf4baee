"""TensorFlow's names: operations as the catalogue spells them, and what has no derivative."""

import contextlib
import functools
import types

import numpy as np
from kit import tape
from kit.backend import Lacks
from kit.tensors import Tensor, Value, Variable, flattened, packed

SPACES = ("", "math.", "nn.", "linalg.")
"""Where TensorFlow has an operation by more than one name."""
DTYPES = ("float16", "float32", "float64", "complex64", "complex128", "bool", "uint8", "int8",
          "int16", "int32", "int64")  # fmt: skip
DEFAULTS = {"f": np.float32, "i": np.int32, "c": np.complex128}
"""What TensorFlow makes of the numbers of Python."""
PLAIN = {
    **{name: name for name in ("greater", "greater_equal", "less", "less_equal", "argmax")},
    **{name: name for name in ("equal", "not_equal", "logical_and", "logical_or", "logical_not")},
    **{"reduce_all": "all", "reduce_any": "any"},
}
"""What no gradient goes through, by its name in the backend's `plain`."""
SIZES = {
    "shape": lambda input: np.array(np.shape(input), np.int32),
    "size": lambda input: np.int32(np.prod(np.shape(input))),
    "rank": lambda input: np.int32(len(np.shape(input))),
    "range": lambda *ends, dtype=None: _range(*map(np.asarray, ends), dtype=dtype),
    "eye": lambda *sizes, dtype=np.float32: np.eye(*sizes, dtype=dtype),
    "zeros": lambda shape, dtype=np.float32: np.zeros(shape, dtype),
    "ones": lambda shape, dtype=np.float32: np.ones(shape, dtype),
}
"""What no element decides: NumPy says it for every framework."""


class Namespace:
    """What a case calls `tf`, over a backend; `spellings` are operations by TensorFlow's names."""

    newaxis, Tensor = None, Tensor

    def __init__(self, backend, spellings):
        self.backend, self.spellings, self.tapes, self.compiling = backend, spellings, [], False
        self.__name__, self.__version__ = backend.name, backend.version
        for one in (tape.GradientTape, tape.ForwardAccumulator, Variable):
            setattr(self, one.__name__, type(one.__name__, (one,), {"tf": self}))
        for name, dtype in zip(DTYPES, map(np.dtype, DTYPES)):
            setattr(self, name, dtype)
        self.autodiff = types.SimpleNamespace(ForwardAccumulator=self.ForwardAccumulator)
        self.UnconnectedGradients = types.SimpleNamespace(NONE="none", ZERO="zero")
        self.nest = types.SimpleNamespace(
            flatten=flattened,
            map_structure=lambda function, first, *others: packed(
                first, map(function, *map(flattened, (first, *others)))
            ),
            pack_sequence_as=lambda structure, leaves: packed(structure, iter(leaves)),
        )

    def __getattr__(self, name):
        return self.named(name)

    def named(self, name):
        """An operation by one of its names, or the namespace that begins so."""
        space, _, last = name.rpartition(".")
        others = [one + last for one in SPACES] if not space or f"{space}." in SPACES else []
        for known in (name, *others):
            if known in self.spellings:
                return functools.partial(self._operation, known)
            if known in PLAIN:
                return functools.partial(self._plain, PLAIN[known])
            if known in SIZES:
                return functools.partial(self._sized, SIZES[known])
        if any(one.startswith(f"{name}.") for one in (*SPACES, *self.spellings)):
            return _Space(self, f"{name}.")
        raise Lacks(f"tf.{name}")

    def constant(self, value, dtype=None, shape=None, name=None):
        if isinstance(value, Value):
            value = value.numpy()
        typed = isinstance(value, (np.ndarray, np.generic))
        if not typed and any(isinstance(one, Value) for one in flattened(value)):
            return self.stack([self.tensor(one, dtype) for one in value])
        array = np.array(value, None if dtype is None else np.dtype(dtype))
        if dtype is None and not typed:
            array = array.astype(DEFAULTS.get(array.dtype.kind, array.dtype))
        return Tensor(self, self.backend.array(array if shape is None else np.resize(array, shape)))

    def tensor(self, value, dtype=None):
        """A value as a tensor that can be recorded."""
        if isinstance(value, Variable):
            return value.value()
        return value if isinstance(value, Value) else self.constant(value, dtype)

    def is_tensor(self, value):
        return isinstance(value, Value)

    def convert_to_tensor(self, value, dtype=None, dtype_hint=None, name=None):
        return self.tensor(value, dtype or dtype_hint)

    def cast(self, x, dtype, name=None):
        is_it = isinstance(x, Value) and x.dtype == np.dtype(dtype)
        return x if is_it else self.named("cast")(x, dtype)

    def zeros_like(self, input, dtype=None, name=None):
        return self.zeros(np.shape(input), dtype or self.tensor(input).dtype)

    def ones_like(self, input, dtype=None, name=None):
        return self.ones(np.shape(input), dtype or self.tensor(input).dtype)

    def applied(self, name, function, inputs, asks=False):
        """The tensors that a function of arrays makes of these, seen by every tape."""
        inputs = [self.tensor(one) for one in inputs]
        answer = self.backend.call(function, [one.array for one in inputs])
        several = isinstance(answer, (list, tuple))
        every = answer if several else [answer]
        made = [one if one is None else Tensor(self, one) for one in every]
        outputs = [one for one in made if one is not None]
        self.note(tape.Operation(name, function, inputs, outputs, asks))
        return made if several else made[0]

    def same(self, tensor, source):
        """A tensor that is the same as its source, seen by every tape."""
        self.note(tape.Same("identity", None, [source], [tensor]))
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

    def custom_gradient(self, f=None):
        return self.custom_gradient if f is None else tape.custom_gradient(self, f)

    def recompute_grad(self, f):
        return tape.recompute_grad(self, f)

    def stop_gradient(self, input, name=None):
        return Tensor(self, self.tensor(input).array)

    def identity(self, input, name=None):
        source = self.tensor(input)
        return self.same(Tensor(self, source.array), source)

    def function(self, func=None, **options):
        """TensorFlow's decorator, by the framework's compiler; a tape outside sees operations."""
        if func is None or self.backend.compiled is None:
            return func or self.function

        @functools.wraps(func)
        def compiled(*arguments, **keywords):
            if self.tapes or self.compiling:
                return func(*arguments, **keywords)
            given, answered = [list(arguments), keywords], []

            def traced(*arrays):
                left, self.compiling = iter(arrays), True
                try:
                    positional, named = _exchanged(given, lambda one: Tensor(self, next(left)))
                    answered[:] = [func(*positional, **named)]
                    return _arrays(answered)
                finally:
                    self.compiling, self.tapes = False, []

            try:
                found = iter(self.backend.compiled(traced)(*_arrays(given)))
            except self.backend.unknown as error:
                raise Lacks(f"tf.function of this program ({error})") from error
            return _exchanged(answered, lambda one: Tensor(self, next(found)))[0]

        return compiled

    def _operation(self, name, *arguments, **keywords):
        keywords = _given(keywords)
        tensors = [one for one in flattened([list(arguments), keywords]) if isinstance(one, Value)]
        if name == "math.conj" and tensors and tensors[0].dtype.kind != "c":
            return self.tensor(tensors[0])  # TensorFlow makes no other tensor of a real one
        dtype = next((one.dtype for one in tensors if tape.is_differentiable(one)), None)
        if not tensors and arguments:
            arguments = (self.tensor(arguments[0]), *arguments[1:])
        given = [[self._converted(one, dtype) for one in arguments],
                 {key: one if isinstance(one, float) else self._converted(one, dtype)
                  for key, one in keywords.items()}]  # fmt: skip

        def of_arrays(*arrays):
            left = iter(arrays)
            positional, named = _exchanged(given, lambda one: next(left), Value)
            try:
                function = eval(self.spellings[name], dict(self.backend.scope))
                return function(*positional, **named)
            except (AttributeError, TypeError) as error:
                if str(error).startswith(("module ", "<lambda>()")):
                    raise Lacks(f"tf.{name} ({error})") from error
                raise

        tensors = [one for one in flattened(given) if isinstance(one, Value)]
        return self.applied(name, of_arrays, tensors)

    def _converted(self, argument, dtype):
        """An argument with tensors in place of numbers that may be differentiated."""
        if isinstance(argument, np.ndarray):
            return self.tensor(argument)
        leaves = flattened(argument)
        if isinstance(argument, (list, tuple)) and any(isinstance(one, Value) for one in leaves):
            return [self._converted(one, dtype) for one in argument]
        if any(isinstance(one, (float, complex, np.inexact)) for one in leaves):
            return self.tensor(argument, dtype)
        return tuple(argument) if isinstance(argument, list) else argument

    def _plain(self, name, *arguments, **keywords):
        keywords = _given(keywords)
        dtype = next((one.dtype for one in arguments if isinstance(one, Value)), None)
        arrays = [self.tensor(one, dtype).array for one in arguments]
        return Tensor(self, getattr(self.backend.plain, name)(*arrays, **keywords))

    def _sized(self, function, *arguments, name=None, **keywords):
        return self.constant(function(*arguments, **keywords))


class _Space:
    """A namespace within TensorFlow's, such as tf.math."""

    def __init__(self, tf, prefix):
        self._tf, self._prefix = tf, prefix

    def __getattr__(self, name):
        return self._tf.named(self._prefix + name)


def _range(*ends, dtype):
    return np.arange(*ends, dtype=dtype or DEFAULTS[np.result_type(*ends).kind])


def _given(keywords):
    """The keywords that say something: a name says nothing, nor None or False."""
    said = {key: one for key, one in keywords.items() if one is not None and one is not False}
    return {key: one for key, one in said.items() if key != "name"}


def _arrays(structure):
    return [one.array for one in flattened(structure) if isinstance(one, Tensor)]


def _exchanged(structure, function, kind=Tensor):
    """The structure with what the function makes of each tensor."""
    leaves = flattened(structure)
    return packed(structure, (function(one) if isinstance(one, kind) else one for one in leaves))
