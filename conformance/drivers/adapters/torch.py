"""PyTorch: `torch.func` over its own autograd, which nests as deep as one likes; on one thread."""

import types

import numpy as np
import torch.func
import torch.nn.functional
from kit import Backend
from torch.fx.experimental.proxy_tensor import disable_proxy_modes_tracing, get_proxy_mode, make_fx

import torch

torch.set_num_threads(1)


def of_dtype(dtype):
    """PyTorch's dtype of the same name."""
    return getattr(torch, np.dtype(dtype).name)


def sizes(values):
    """A tensor of sizes as numbers, which are constants also where a graph is made."""
    with disable_proxy_modes_tracing():
        return torch.as_tensor(values).tolist()


class Torch(Backend):
    """Its tensors are its own, and wrapped ones while it is asked."""

    name, version = "torch", torch.__version__.partition("+")[0]
    scope = {"torch": torch, "of_dtype": of_dtype, "sizes": sizes}
    plain = types.SimpleNamespace(**{**vars(torch), "equal": torch.eq, "not_equal": torch.ne})
    without_gradient = (NotImplementedError,)

    def array(self, value):
        return torch.from_numpy(np.array(value))

    def numpy(self, array):
        return array.numpy(force=True)  # of conjugates, too, and of zeros without memory

    def dtype(self, array):
        return np.dtype(str(array.dtype).partition(".")[2])

    def call(self, function, arrays):
        mode = get_proxy_mode()
        if mode is None or any(one in mode.tracer.tensor_tracker for one in arrays):
            return function(*arrays)
        with disable_proxy_modes_tracing():  # a constant of constants, of which no graph is made
            return function(*arrays)

    def compiled(self, function):
        """What the function did, derivatives included, as a graph that `torch.compile` takes."""

        def traced(*arrays):
            graph = make_fx(function)(*arrays)
            graph.graph.eliminate_dead_code()  # such as what only checks
            graph.recompile()
            return torch.compile(graph, backend="aot_eager", fullgraph=True)(*arrays)

        return traced

    def vjp(self, function, arrays, cotangents):
        _, backward = torch.func.vjp(function, *arrays)
        try:
            return list(backward(list(cotangents)))
        except RuntimeError as error:
            if "not implemented" not in str(error):
                raise
            raise NotImplementedError(str(error)) from error

    def jvp(self, function, arrays, tangents):
        return torch.func.jvp(function, tuple(arrays), tuple(tangents))[1]


backend = Torch()
