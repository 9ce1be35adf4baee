"""What the kit needs of a framework."""

import numpy as np


class Lacks(AttributeError, NotImplementedError):
    """What a framework does not have: a case that needs it is unsupported, and did not fail."""


class Backend:
    """A framework: an adapter derives from this, and says at least `scope` and `vjp`.

    `scope` are the names that the spellings of the catalogue use; `without_gradient` the errors by
    which the framework says that an operation has none. `nests` tells whether what `vjp` and `jvp`
    do can be differentiated again.
    """

    name = ""
    version = ""
    scope: dict = {}
    without_gradient: tuple = ()
    nests = True

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
        """The framework's gradient: the cotangent of each array; None where it knows of no path.

        `cotangents` are those of the arrays that `function` answers, in their order.
        """
        raise Lacks("reverse mode")

    def jvp(self, function, arrays, tangents):
        """The framework's forward mode: the tangent of each array that `function` answers."""
        raise Lacks("forward mode")


def listed(outputs):
    """The arrays that a function answered."""
    return list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
