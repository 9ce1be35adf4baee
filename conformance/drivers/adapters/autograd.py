"""HIPS autograd: its rules by `make_vjp` and `make_jvp`, each of which it can trace again."""

from importlib import metadata

import autograd.numpy
import autograd.scipy.linalg
import autograd.scipy.special
import autograd.scipy.stats
from autograd.builtins import tuple as traced
from autograd.core import make_jvp, make_vjp
from kit import Backend


class Autograd(Backend):
    """Its arrays are those of NumPy; inside a trace they are its boxes."""

    name, version = "autograd", metadata.version("autograd")
    scope = {"np": autograd.numpy, "scipy": autograd.scipy}
    without_gradient = (NotImplementedError, KeyError)  # of an operation; by one of its arguments

    def vjp(self, function, arrays, cotangents):
        backward, _ = make_vjp(lambda given: traced(function(*given)), traced(arrays))
        return list(backward(traced(cotangents)))

    def jvp(self, function, arrays, tangents):
        forward = make_jvp(lambda given: traced(function(*given)), traced(arrays))
        return list(forward(traced(tangents))[1])


backend = Autograd()
