"""PyTorch: `torch.func` over its own autograd, which nests as deep as one likes; on one thread."""

import numpy as np
import torch.func
import torch.nn.functional
from kit import Backend

import torch

torch.set_num_threads(1)


def of_dtype(dtype):
    """PyTorch's dtype of the same name."""
    return getattr(torch, np.dtype(dtype).name)


class Torch(Backend):
    """Its tensors are its own, and wrapped ones while it is asked."""

    name, version = "torch", torch.__version__.partition("+")[0]
    scope = {"torch": torch, "of_dtype": of_dtype}
    without_gradient = (NotImplementedError,)

    def array(self, value):
        return torch.from_numpy(np.array(value))

    def numpy(self, array):
        return array.detach().resolve_conj().resolve_neg().numpy()

    def dtype(self, array):
        return np.dtype(str(array.dtype).partition(".")[2])

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
