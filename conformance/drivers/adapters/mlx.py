"""MLX: its `vjp` and `jvp`, which nest as deep as one likes; on the processor."""

from importlib import metadata

import mlx.core
import mlx.nn
import numpy as np
from kit import Backend, Lacks

import mlx

mlx.core.set_default_device(mlx.core.cpu)  # the only one that has float64


def of_dtype(dtype):
    """MLX's dtype of the same name; it has none for complex128."""
    name = np.dtype(dtype).name
    found = getattr(mlx.core, {"bool": "bool_"}.get(name, name), None)
    if found is None:
        raise Lacks(f"tf.{name}")
    return found


class MLX(Backend):
    """Its arrays are its own; what is asked of it is done when it is read."""

    name, version = "mlx", metadata.version("mlx")
    scope = {"np": mlx.core, "mlx": mlx, "of_dtype": of_dtype}
    plain = mlx.core
    without_gradient = (NotImplementedError,)

    def array(self, value):
        return mlx.core.array(value, of_dtype(value.dtype))

    def numpy(self, array):
        return np.array(array)

    def dtype(self, array):
        return np.dtype(str(array.dtype).rpartition(".")[2])

    def vjp(self, function, arrays, cotangents):
        return self._derived(mlx.core.vjp, function, arrays, cotangents)

    def jvp(self, function, arrays, tangents):
        return self._derived(mlx.core.jvp, function, arrays, tangents)

    def _derived(self, transform, function, arrays, given):
        try:
            return transform(function, list(arrays), list(given))[1]
        except (ValueError, RuntimeError) as error:
            if "not implemented" not in str(error).lower():
                raise
            raise NotImplementedError(str(error)) from error


backend = MLX()
