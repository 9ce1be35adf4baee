"""JAX: `vjp`, `jvp` and `jit`, which nest as deep as one likes; with 64 bits, as TensorFlow has."""

import jax.numpy
import jax.scipy
from kit import Backend

import jax

jax.config.update("jax_enable_x64", True)


class Jax(Backend):
    """Its arrays are its own, and tracers while it is asked."""

    name, version = "jax", jax.__version__
    scope = {"np": jax.numpy, "scipy": jax.scipy, "jax": jax}
    without_gradient = (NotImplementedError,)

    def array(self, value):
        return jax.numpy.asarray(value)

    def vjp(self, function, arrays, cotangents):
        _, backward = jax.vjp(function, *arrays)
        return list(backward(list(cotangents)))

    def jvp(self, function, arrays, tangents):
        return jax.jvp(function, tuple(arrays), tuple(tangents))[1]


backend = Jax()
