"""As much of Keras as TensorFlow's autodiff documents use: Dense, Lambda and Sequential.

Weights are made at the first call, from the last axis of the input. Their names are Keras 3's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from reference_impl.extras.randomness import generator
from reference_impl.ops.activations import elu, relu, sigmoid, silu, softmax, softplus
from reference_impl.ops.elementwise import tanh
from reference_impl.ops.linalg import tensordot
from reference_impl.tensor import Tensor, Variable, convert_to_tensor

ACTIVATIONS: dict[str | None, Any] = {None: lambda x: x, "elu": elu, "relu": relu, "tanh": tanh}
ACTIVATIONS |= {"sigmoid": sigmoid, "softmax": softmax, "softplus": softplus, "swish": silu}
INITIALIZERS: dict[str, Callable[[tuple[int, ...]], Any]] = {
    "glorot_uniform": lambda shape: generator().uniform(-1, 1, shape) * np.sqrt(6 / sum(shape)),
    "ones": np.ones,
    "zeros": np.zeros,
}


class Dense:
    """activation(x @ kernel + bias) along the last axis."""

    def __init__(
        self,
        units: int,
        activation: str | None = None,
        use_bias: bool = True,
        kernel_initializer: str = "glorot_uniform",
        bias_initializer: str = "zeros",
        name: str = "dense",
        dtype: str = "float32",
    ) -> None:
        self.units, self.use_bias, self.name, self.dtype = units, use_bias, name, dtype
        self.activation = ACTIVATIONS[None if activation == "linear" else activation]
        self.initializers = kernel_initializer, bias_initializer
        self.weights: list[Variable] = []
        self.trainable_variables = self.weights

    def __call__(self, inputs: Any) -> Tensor:
        """Return the outputs; the first call makes the kernel, of shape (inputs, units)."""
        x = convert_to_tensor(inputs)
        if not self.trainable_variables:
            of_kernel, of_bias = self.initializers
            self.kernel = self._weight("kernel", of_kernel, (x.shape[-1], self.units))
            if self.use_bias:
                self.bias = self._weight("bias", of_bias, (self.units,))
        out = tensordot(x, self.kernel, 1)
        return self.activation(out + self.bias if self.use_bias else out)  # type: ignore[no-any-return]

    def _weight(self, name: str, initializer: str, shape: tuple[int, ...]) -> Variable:
        variable = Variable(INITIALIZERS[initializer](shape), dtype=self.dtype)
        variable.name = name
        self.trainable_variables.append(variable)
        return variable


class Lambda:
    """A function as a layer without weights."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.trainable_variables: list[Variable] = []

    def __call__(self, inputs: Any) -> Any:
        """Return the result of the function."""
        return self.function(inputs)


class Sequential:
    """Layers, each called with the result of the one before."""

    def __init__(self, layers: Sequence[Any]) -> None:
        self.layers = layers

    def __call__(self, inputs: Any) -> Any:
        """Return the result of the last layer."""
        for layer in self.layers:
            inputs = layer(inputs)
        return inputs

    @property
    def trainable_variables(self) -> list[Variable]:
        """All variables of all layers, in the order in which they were made."""
        return [variable for layer in self.layers for variable in layer.trainable_variables]


layers = SimpleNamespace(Dense=Dense, Lambda=Lambda)
