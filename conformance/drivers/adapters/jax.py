"""JAX: `vjp`, `jvp` and `jit`, which nest as deep as one likes; with 64 bits, as TensorFlow has."""

import jax.numpy
import jax.scipy
from kit import Backend

import jax

jax.config.update("jax_enable_x64", True)


KEPT = 1_000
"""Operations after which what was compiled for them is let go."""


class Jax(Backend):
    """Its arrays are its own, and tracers while it is asked."""

    name, version = "jax", jax.__version__
    scope = {"np": jax.numpy, "scipy": jax.scipy, "jax": jax}
    plain = jax.numpy
    without_gradient = (NotImplementedError,)
    unknown = (jax.errors.JAXTypeError, jax.errors.JAXIndexError)
    asked = 0

    def array(self, value):
        with jax.ensure_compile_time_eval():  # a constant, also where it compiles
            return jax.numpy.asarray(value)

    def call(self, function, arrays):
        self.asked += 1
        if not self.asked % KEPT:
            jax.clear_caches()  # what it compiled is never let go otherwise
        if any(isinstance(one, jax.core.Tracer) for one in arrays):
            return function(*arrays)
        with jax.ensure_compile_time_eval():  # a constant of constants
            return function(*arrays)

    def compiled(self, function):
        return jax.jit(function)

    def vjp(self, function, arrays, cotangents):
        try:
            _, backward = jax.vjp(function, *arrays)
        except ValueError as error:
            if "gradient" not in str(error) or "not supported" not in str(error):
                raise
            raise NotImplementedError(str(error)) from error
        return list(backward(list(cotangents)))

    def jvp(self, function, arrays, tangents):
        return jax.jvp(function, tuple(arrays), tuple(tangents))[1]


backend = Jax()
