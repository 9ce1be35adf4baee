"""Tapes and forward accumulators: what they saw, and in which order the framework is asked."""

import contextlib
import functools
import inspect

import numpy as np
from kit.backend import InvalidArgumentError, Lacks
from kit.tensors import Value, Variable, flattened, packed


def is_differentiable(tensor):
    return tensor.dtype.kind in "fc"


def values(structure):
    """The tensors and variables of a structure, which holds nothing else."""
    if others := [one for one in flattened(structure) if not isinstance(one, Value)]:
        raise AttributeError(f"{type(others[0]).__name__!r} object has no attribute '_id'")
    return flattened(structure)


class Operation:
    """One operation that ran: a function of arrays, the tensors it read and those it made.

    `asks` is set where the function itself asked the framework for a derivative.
    """

    def __init__(self, name, function, inputs, outputs, asks=False):
        self.name, self.function, self.asks = name, function, asks
        self.inputs, self.outputs = inputs, outputs

    def cotangents(self, tf, cotangents, seen):
        """Those of the inputs that were seen, by the framework; None where it has no path."""
        places = [place for place, one in enumerate(self.inputs) if id(one) in seen]
        given = [one for one in self.full(tf, cotangents) if is_differentiable(one)]
        found = dict(zip(places, self._derived(tf, tf.backend.vjp, places, given)))
        return [found.get(place) for place in range(len(self.inputs))]

    def tangents(self, tf, tangents):
        """Those of the outputs, by the framework; None for an output that has none."""
        places = [place for place, one in enumerate(tangents) if one is not None]
        given = [tangents[place] for place in places]
        asked = any(map(is_differentiable, self.outputs))
        found = iter(self._derived(tf, tf.backend.jvp, places, given) if asked else ())
        return [next(found) if is_differentiable(one) else None for one in self.outputs]

    def full(self, tf, cotangents):
        """Zeros where no cotangent arrives."""
        return [
            tf.zeros_like(output) if one is None else tf.tensor(one, output.dtype)
            for output, one in zip(self.outputs, cotangents)
        ]

    def _derived(self, tf, ask, places, given):
        """What the framework is asked, an operation that another tape may differentiate."""
        if self.asks and not tf.backend.nests:
            raise Lacks("gradients of gradients")

        def derivative(*arrays):
            left = iter(arrays)
            values = [next(left) if is_differentiable(one) else one.array for one in self.inputs]

            def function(*moving):
                every = list(values)
                for place, one in zip(places, moving):
                    every[place] = one
                made = self.function(*every)
                made = made if isinstance(made, (list, tuple)) else [made]
                made = zip((one for one in made if one is not None), self.outputs)
                return [one for one, output in made if is_differentiable(output)]

            return list(ask(function, [values[place] for place in places], list(left)))

        try:
            kept = [one for one in self.inputs if is_differentiable(one)]
            return tf.applied(self.name, derivative, [*kept, *given], asks=True)
        except tf.backend.without_gradient as error:
            raise Lacks(f"a gradient of {self.name} ({error})") from error


class Same(Operation):
    """A variable that was read, or a tensor that was handed on: the same array."""

    def cotangents(self, tf, cotangents, seen=()):
        return cotangents

    tangents = cotangents


class Custom(Operation):
    """A function with a gradient of its own, and the variables that it read."""

    def cotangents(self, tf, cotangents, seen):
        gradient, variables = self.function
        keywords = {"variables": variables} if variables else {}
        found = flattened(gradient(*self.full(tf, cotangents), **keywords))
        if len(found) != len(self.inputs):
            raise ValueError(f"{len(found)} gradients of {len(self.inputs)} inputs and variables")
        return found

    def tangents(self, tf, tangents):
        raise Lacks("forward mode of a custom gradient")


class Recorder:
    """What sees operations while it is among `tf.tapes`."""

    tf, watches_variables, twice = None, False, "Accumulator is already recording."

    def __getattr__(self, name):
        raise Lacks(f"{type(self).__name__}.{name}")

    def __enter__(self):
        if self in self.tf.tapes:
            raise ValueError(self.twice)
        self.tf.tapes.append(self)
        return self

    def __exit__(self, *raised):
        self.tf.tapes = self._others()

    def _others(self):
        return [one for one in self.tf.tapes if one is not self]


class GradientTape(Recorder):
    """Notes what is made of what it watches, and asks for the gradients backwards."""

    twice = "Tape is still recording, it cannot be entered again."

    def __init__(self, persistent=False, watch_accessed_variables=True):
        self.persistent, self.watches_variables = persistent, watch_accessed_variables
        self.used = False
        self.reset()

    def watch(self, tensor):
        for one in flattened(tensor):
            if not isinstance(one, Value):
                raise ValueError(f"Passed in object {one!r}, not tf.Tensor or tf.Variable")
            if isinstance(one, Variable):
                self.variables[id(one)] = one
            if is_differentiable(one):
                self.seen[id(one)] = one

    def watched_variables(self):
        return tuple(sorted(self.variables.values(), key=lambda one: one.number))

    @contextlib.contextmanager
    def stop_recording(self):
        if self not in self.tf.tapes:
            raise RuntimeError("Trying to stop recording a tape which is not recording.")
        self.__exit__()
        try:
            yield
        finally:
            self.__enter__()

    def reset(self):
        self.seen, self.operations, self.variables = {}, [], {}

    def note(self, operation):
        if any(id(one) in self.seen for one in operation.inputs):
            self.seen.update({id(one): one for one in operation.outputs if is_differentiable(one)})
            self.operations.append(operation)

    def gradient(self, target, sources, output_gradients=None, unconnected_gradients="none"):
        if target is None:
            raise TypeError("Argument `target` should be Tensors or Variables, but received None.")
        seeds = None if output_gradients is None else flattened(output_gradients)
        (found,) = self._queried(flattened(target), sources, [seeds], unconnected_gradients)
        if not self.persistent:
            self.seen, self.operations = {}, []
        return packed(sources, iter(found))

    def jacobian(self, target, sources, unconnected_gradients="none", parallel_iterations=None,
                 experimental_use_pfor=True, batch=0):  # fmt: skip
        inner, found = target.shape[batch:], []
        rows = [one.reshape(inner) for one in np.eye(int(np.prod(inner)), dtype=target.dtype)]
        seeds = [[self.tf.constant(np.broadcast_to(one, target.shape))] for one in rows]
        targets = [target] if id(target) in self.seen else []
        asked = [one[: len(targets)] for one in seeds] or [None]
        rows = self._queried(targets, sources, asked, unconnected_gradients)
        for place, source in enumerate(flattened(sources)):
            column, shape = [row[place] for row in rows], [*target.shape, *source.shape[batch:]]
            full = [self.tf.zeros_like(source) if one is None else one for one in column]
            if all(one is None for one in column):
                found.append(self.tf.zeros(shape, target.dtype) if batch else None)
            else:
                e = self.tf.stack(full, axis=batch) if seeds else self.tf.zeros(shape, source.dtype)
                found.append(self.tf.reshape(e, shape))
        return packed(sources, iter(found))

    def batch_jacobian(self, target, source, *arguments, **keywords):
        if min(len(target.shape), len(source.shape)) < 2 or target.shape[0] != source.shape[0]:
            raise ValueError("Need first dimensions that match; each must have rank at least 2")
        return self.jacobian(target, source, *arguments, batch=1, **keywords)

    def _queried(self, targets, sources, seeds, unconnected):
        """The gradients by each of several seeds; what is not persistent has been used then."""
        if unconnected not in ("none", "zero"):
            raise ValueError(f"Unknown value for unconnected_gradients: {unconnected!r}")
        if self.used and not self.persistent:
            raise RuntimeError("A non-persistent GradientTape can only be used once")
        wanted = values(sources)
        if not self.persistent:
            self.__exit__()
        self.used = True
        missing = self.tf.zeros_like if unconnected == "zero" else lambda source: None
        every = [self._gradients(targets, seed or [None] * len(targets)) for seed in seeds]
        return [[kept[id(e)] if id(e) in kept else missing(e) for e in wanted] for kept in every]

    def _gradients(self, targets, seeds):
        """What arrives at every tensor, by its id."""
        tf, found, done = self.tf, {}, set()
        if len(seeds) != len(targets):
            raise ValueError("output_gradients must have one for each target")
        for one, seed in zip(targets, seeds):
            seed = tf.ones_like(one) if seed is None else tf.tensor(seed, one.dtype)
            if seed.shape != one.shape:
                raise InvalidArgumentError(f"an output gradient of {seed.shape} for {one.shape}")
            self._add(found, one, seed)
        for operation in reversed(list(self.operations)):
            made = {id(one) for one in operation.outputs if is_differentiable(one)} - done
            done |= made  # what a custom gradient has answered for is not asked again
            if made & found.keys():
                given = [found.get(id(output)) for output in operation.outputs]
                answers = operation.cotangents(tf, given, self.seen)
                for tensor, one in zip(operation.inputs, answers):
                    if one is not None and id(tensor) in self.seen:
                        self._add(found, tensor, one)
        return found

    def _add(self, found, tensor, one):
        known = found.get(id(tensor))
        found[id(tensor)] = one if known is None else self.tf.add(known, one)


class ForwardAccumulator(Recorder):
    """Carries the tangents of what is made of its primals, by the framework's forward mode."""

    def __init__(self, primals, tangents):
        self.found, self.kept = {}, list(flattened(primals))
        for one, tangent in zip(self.kept, flattened(tangents)):
            if np.shape(tangent) != one.shape:
                raise ValueError(f"a tangent of shape {np.shape(tangent)} for {one!r}")
        self._found(self.kept, flattened(tangents))

    def _found(self, tensors, tangents):
        both = zip(tensors, tangents)
        self.found |= {id(e): self.tf.tensor(it, e.dtype) for e, it in both if it is not None}

    def note(self, operation):
        tangents = [self.found.get(id(one)) for one in operation.inputs]
        if any(one is not None for one in tangents):
            with self.tf.only(*self._others()):
                answers = operation.tangents(self.tf, tangents)
            self.kept += operation.outputs
            self._found(operation.outputs, answers)

    def jvp(self, primals, unconnected_gradients="none"):
        missing = self.tf.zeros_like if unconnected_gradients == "zero" else lambda primal: None
        found, leaves = self.found, values(primals)
        return packed(primals, (found[id(e)] if id(e) in found else missing(e) for e in leaves))


def custom_gradient(tf, function):
    """TensorFlow's decorator: the gradient of the function is what it answers beside its value."""

    @functools.wraps(function)
    def wrapped(*arguments, **keywords):
        inputs = [tf.tensor(one) for one in flattened(arguments)]
        with tf.only(*tf.tapes), tf.GradientTape() as reads:
            value, gradient = function(*packed(arguments, iter(inputs)), **keywords)
        given = {id(one) for one in inputs}
        variables = [one for one in reads.watched_variables() if id(one) not in given]
        parameters = inspect.signature(gradient).parameters.values()
        if variables and not any(one.name == "variables" or one.kind == 4 for one in parameters):
            raise TypeError(f"grad_fn must accept 'variables', since these are used: {variables}")
        for variable in variables:
            variable.value()
        outputs = [tf.identity(one) for one in flattened(value)]
        tf.note(Custom("custom", (gradient, variables), [*inputs, *variables], outputs))
        return packed(value, iter(outputs))

    return wrapped


def recompute_grad(tf, function):
    """TensorFlow's decorator: a gradient runs the function again, of which nothing is kept."""

    @functools.wraps(function)
    def wrapped(*arguments, **keywords):
        def once(*inputs):
            def gradient(*cotangents, variables=()):
                own = [tf.identity(one) for one in inputs]
                with tf.GradientTape() as again:
                    again.watch(own)
                    value = function(*packed(arguments, iter(own)), **keywords)
                found = again.gradient(value, [own, list(variables)], list(cotangents), "zero")
                return found if variables else found[0]

            return function(*packed(arguments, iter(inputs)), **keywords), gradient

        return custom_gradient(tf, once)(*flattened(arguments))

    return wrapped
