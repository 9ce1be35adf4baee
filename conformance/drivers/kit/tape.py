"""Tapes and forward accumulators: what they saw, and in which order the framework is asked."""

import contextlib
import functools
import inspect

import numpy as np
from kit.backend import Lacks, listed
from kit.tensors import Tensor, Variable, flattened, packed

NOT_PERSISTENT = (
    "A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)"
)


def is_differentiable(tensor):
    return tensor.dtype.kind in "fc"


class Operation:
    """One operation that ran: a function of arrays, the tensors it read and those it made.

    `asks` is set where the function itself asked the framework for a derivative.
    """

    def __init__(self, name, function, inputs, outputs, asks=False):
        self.name, self.function, self.asks = name, function, asks
        self.inputs, self.outputs = inputs, outputs

    def cotangents(self, tf, cotangents, seen):
        """Those of the inputs that were seen, by the framework; None where it has no path."""
        found = [None] * len(self.inputs)
        places = [place for place, one in enumerate(self.inputs) if id(one) in seen]
        reached, kept = [], self._kept()
        given = [
            tf.zeros_like(output) if one is None else one
            for output, one in zip(self.outputs, cotangents)
            if is_differentiable(output)
        ]

        def backward(*arrays):
            function, values = self._of(places, arrays)
            answers = tf.backend.vjp(function, values, arrays[len(kept) :])
            reached[:] = [place for place, one in zip(places, answers) if one is not None]
            return [one for one in answers if one is not None]

        for place, one in zip(reached, self._asked(tf, backward, [*kept, *given])):
            found[place] = one
        return found

    def tangents(self, tf, tangents):
        """Those of the outputs, by the framework; None for an output that has none."""
        places = [place for place, one in enumerate(tangents) if one is not None]
        kept = self._kept()

        def forward(*arrays):
            function, values = self._of(places, arrays)
            return listed(tf.backend.jvp(function, values, arrays[len(kept) :]))

        found = iter(self._asked(tf, forward, [*kept, *(tangents[place] for place in places)]))
        return [next(found) if is_differentiable(output) else None for output in self.outputs]

    def _kept(self):
        """The inputs that another tape may differentiate what is asked by."""
        return [one for one in self.inputs if is_differentiable(one)]

    def _of(self, places, arrays):
        """The operation as a function of some inputs, and their values; `arrays` are of `_kept`."""
        given = iter(arrays)
        values = [next(given) if is_differentiable(one) else one.array for one in self.inputs]

        def function(*moving):
            every = list(values)
            for place, one in zip(places, moving):
                every[place] = one
            outputs = zip(listed(self.function(*every)), self.outputs)
            return [one for one, output in outputs if is_differentiable(output)]

        return function, [values[place] for place in places]

    def _asked(self, tf, function, tensors):
        if self.asks and not tf.backend.nests:
            raise Lacks("gradients of gradients")
        try:
            return tf.applied(self.name, function, tensors, asks=True)
        except tf.backend.without_gradient as error:
            raise Lacks(f"a gradient of {self.name} ({error})") from error


class Read(Operation):
    """A variable that was read, or a tensor that was handed on: the same array."""

    def __init__(self, source, output):
        super().__init__("identity", None, [source], [output])

    def cotangents(self, tf, cotangents, seen=()):
        return cotangents

    tangents = cotangents


class Custom(Operation):
    """A function with a gradient of its own, and the variables that it read."""

    def __init__(self, gradient, inputs, variables, outputs):
        super().__init__("custom_gradient", None, [*inputs, *variables], outputs)
        self.gradient, self.variables = gradient, variables

    def cotangents(self, tf, cotangents, seen):
        given = [
            tf.zeros_like(output) if one is None else one
            for output, one in zip(self.outputs, cotangents)
        ]
        if self.variables:
            found, of_variables = self.gradient(*given, variables=self.variables)
            if len(flattened(of_variables)) != len(self.variables):
                raise ValueError(
                    "Must return gradient for each variable from @custom_gradient grad_fn."
                )
            return [*flattened(found), *of_variables]
        found = flattened(self.gradient(*given))
        if len(found) != len(self.inputs):
            raise ValueError(
                f"custom_gradient function expected to return {len(self.inputs)} gradients, "
                f"but returned {len(found)} instead."
            )
        return [None if one is None else tf.tensor(one) for one in found]

    def tangents(self, tf, tangents):
        raise Lacks("forward mode of a custom gradient")


class GradientTape:
    """Notes what is made of what it watches, and asks for the gradients backwards."""

    tf = None

    def __init__(self, persistent=False, watch_accessed_variables=True):
        self.persistent, self.watches_variables = persistent, watch_accessed_variables
        self.seen, self.operations, self.variables = {}, [], {}
        self.used = self.recording = False

    def __getattr__(self, name):
        raise Lacks(f"GradientTape.{name}")

    def __enter__(self):
        if self.recording:
            raise ValueError("Tape is still recording, it cannot be entered again.")
        self._record()
        return self

    def __exit__(self, *raised):
        if self.recording:
            self._pause()

    def _record(self):
        self.tf.tapes.append(self)
        self.recording = True

    def _pause(self):
        self.tf.tapes = [one for one in self.tf.tapes if one is not self]
        self.recording = False

    def watch(self, tensor):
        for one in flattened(tensor):
            if not isinstance(one, Tensor):
                raise ValueError(
                    f"Passed in object {one!r} of type {type(one).__name__!r}, not tf.Tensor or "
                    "tf.Variable or ExtensionType."
                )
            if is_differentiable(one):
                self.seen[id(one)] = one
                if isinstance(one, Variable):
                    self.variables[id(one)] = one

    def watched_variables(self):
        return tuple(sorted(self.variables.values(), key=lambda one: one.number))

    @contextlib.contextmanager
    def stop_recording(self):
        if not self.recording:
            raise RuntimeError("Trying to stop recording a tape which is not recording.")
        self._pause()
        try:
            yield
        finally:
            self._record()

    def reset(self):
        self.seen, self.operations, self.variables = {}, [], {}

    def note(self, operation):
        if any(id(one) in self.seen for one in operation.inputs):
            self.seen.update({id(one): one for one in operation.outputs if is_differentiable(one)})
            self.operations.append(operation)

    def gradient(self, target, sources, output_gradients=None, unconnected_gradients="none"):
        if target is None:
            raise TypeError(
                "Argument `target` should be a list or nested structure of Tensors, Variables or "
                "CompositeTensors to be differentiated, but received None."
            )
        self._finish(unconnected_gradients)
        found = self._gradient(target, sources, output_gradients, unconnected_gradients)
        if not self.persistent:
            self.seen, self.operations = {}, []
        return found

    def _finish(self, unconnected):
        """What a query does to the tape: one that is not persistent has been used."""
        if unconnected not in ("none", "zero"):
            raise ValueError(f"Unknown value for unconnected_gradients: {unconnected!r}")
        if self.used and not self.persistent:
            raise RuntimeError(NOT_PERSISTENT)
        if self.recording and not self.persistent:
            self._pause()
        self.used = True

    def _gradient(self, target, sources, output_gradients, unconnected):
        tf, found, done = self.tf, {}, set()
        targets = flattened(target)
        seeds = [None] * len(targets)
        if output_gradients is not None:
            seeds = flattened(output_gradients)
            if len(seeds) != len(targets):
                raise ValueError("output_gradients must have one for each target")
        for one, seed in zip(targets, seeds):
            if is_differentiable(one):
                seed = tf.ones_like(one) if seed is None else tf.tensor(seed, one.dtype)
                self._add(found, [one], [seed])
        for operation in reversed(list(self.operations)):
            given = [found.get(id(output)) for output in operation.outputs]
            made = {id(output) for output in operation.outputs} - done
            done |= made  # what a custom gradient has answered for is not asked again
            if made and any(one is not None for one in given):
                self._add(found, operation.inputs, operation.cotangents(tf, given, self.seen))
        leaves = (self._answer(found.get(id(one)), one, unconnected) for one in flattened(sources))
        answers = list(leaves)
        return packed(sources, iter(answers))

    def _answer(self, cotangent, source, unconnected):
        if cotangent is None and unconnected == "zero":
            return self.tf.zeros_like(source)
        return cotangent

    def _add(self, found, tensors, cotangents):
        for tensor, one in zip(tensors, cotangents):
            if one is not None and id(tensor) in self.seen:
                known = found.get(id(tensor))
                found[id(tensor)] = one if known is None else self.tf.add(known, one)

    def jacobian(
        self,
        target,
        sources,
        unconnected_gradients="none",
        parallel_iterations=None,
        experimental_use_pfor=True,
    ):
        self._finish(unconnected_gradients)
        tf, size = self.tf, int(np.prod(target.shape))
        rows = []
        for place in range(size):
            seed = np.zeros(size, target.dtype)
            seed[place] = 1
            seed = tf.constant(seed.reshape(target.shape))
            rows.append(flattened(self._gradient(target, sources, seed, unconnected_gradients)))
        answers = []
        leaves = flattened(sources)
        for source, column in zip(leaves, zip(*rows) if rows else [()] * len(leaves)):
            if not column:
                answers.append(tf.zeros([*target.shape, *source.shape], source.dtype))
                continue
            full = [tf.zeros_like(source) if one is None else one for one in column]
            shape = [*target.shape, *source.shape]
            none = all(one is None for one in column)
            answers.append(None if none else tf.reshape(tf.stack(full), shape))
        return packed(sources, iter(answers))


class ForwardAccumulator:
    """Carries the tangents of what is made of its primals, by the framework's forward mode."""

    tf = None
    watches_variables = False

    def __init__(self, primals, tangents):
        self.found = {}
        self.kept = list(flattened(primals))
        for primal, tangent in zip(self.kept, flattened(tangents)):
            if tangent is not None:
                self.found[id(primal)] = self.tf.tensor(tangent, primal.dtype)

    def __getattr__(self, name):
        raise Lacks(f"ForwardAccumulator.{name}")

    def __enter__(self):
        self.tf.tapes.append(self)
        return self

    def __exit__(self, *raised):
        self.tf.tapes = [one for one in self.tf.tapes if one is not self]

    def note(self, operation):
        tangents = [self.found.get(id(one)) for one in operation.inputs]
        if all(one is None for one in tangents):
            return
        with self.tf.without(self):
            answers = operation.tangents(self.tf, tangents)
        self.kept += operation.outputs
        for output, one in zip(operation.outputs, answers):
            if one is not None:
                self.found[id(output)] = one

    def jvp(self, primals, unconnected_gradients="none"):
        def answer(primal):
            found = self.found.get(id(primal))
            zero = found is None and unconnected_gradients == "zero"
            return self.tf.zeros_like(primal) if zero else found

        return packed(primals, iter([answer(one) for one in flattened(primals)]))


def custom_gradient(tf, function):
    """TensorFlow's decorator: the gradient of the function is what it answers beside its value."""

    @functools.wraps(function)
    def wrapped(*arguments, **keywords):
        inputs = [tf.tensor(one) for one in flattened(arguments)]
        reads = GradientTape()
        reads.tf = tf
        with tf.only(*tf.tapes, reads):
            value, gradient = function(*packed(arguments, iter(inputs)), **keywords)
        given = {id(one) for one in inputs}
        variables = [one for one in reads.watched_variables() if id(one) not in given]
        if variables and not _takes_variables(gradient):
            raise TypeError(
                "@tf.custom_gradient grad_fn must accept keyword argument 'variables', "
                f"since function uses variables: {variables}"
            )
        for variable in variables:
            variable.value()
        outputs = [tf.identity(one) for one in flattened(value)]
        tf.note(Custom(gradient, inputs, variables, outputs))
        return packed(value, iter(outputs))

    return wrapped


def _takes_variables(function):
    parameters = inspect.signature(function).parameters.values()
    return any(one.name == "variables" or one.kind == one.VAR_KEYWORD for one in parameters)
