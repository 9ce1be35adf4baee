"""What the kit needs of a framework."""

import numpy as np


class Lacks(AttributeError, NotImplementedError):
    """What a framework does not have: a case that needs it is unsupported, and did not fail."""


class InvalidArgumentError(Exception):
    """What TensorFlow raises where shapes do not fit."""


class Backend:
    """A framework: an adapter derives from this, and says at least `scope` and `vjp`.

    `scope` are the names that the spellings of the catalogue use, `plain` has NumPy's names of what
    no gradient goes through. `without_gradient` are the errors by which the framework says that an
    operation has none, `unknown` those by which its compiler says that it does not know a value.
    `nests` tells whether what `vjp` and `jvp` do can be differentiated again, and `compiled`, where
    the framework has a compiler, makes a function of arrays one that is compiled.
    """

    name = version = ""
    scope: dict = {}
    plain = np
    without_gradient: tuple = ()
    unknown: tuple = ()
    nests = True
    compiled = None

    def array(self, value):
        """The framework's array of a NumPy array."""
        return value

    def numpy(self, array):
        """The NumPy array of an array of the framework's."""
        return np.asarray(array)

    def dtype(self, array):
        """The NumPy dtype of an array of the framework's."""
        return array.dtype

    def call(self, function, arrays):
        """What a spelled function answers: an array, or a list or tuple of arrays."""
        return function(*arrays)

    def vjp(self, function, arrays, cotangents):
        """The cotangents of the arrays, by those of what it answers; None where no path is."""
        raise Lacks("reverse mode")

    def jvp(self, function, arrays, tangents):
        """The framework's forward mode: the tangent of each array that `function` answers."""
        raise Lacks("forward mode")
