"""As much of Keras as TensorFlow's autodiff documents use: Dense, Lambda and Sequential.

Weights are made at the first call, from the last axis of the input. Their names are Keras 3's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from reference_impl.ops.activations import relu, sigmoid, softmax
from reference_impl.ops.elementwise import tanh
from reference_impl.ops.linalg import tensordot
from reference_impl.randomness import uniform
from reference_impl.tensor import Tensor, Variable, convert_to_tensor

ACTIVATIONS: dict[str, Callable[..., Any]] = {
    "linear": lambda x: x,
    "relu": relu,
    "sigmoid": sigmoid,
    "softmax": softmax,
    "tanh": tanh,
}


class Layer:
    """Something callable with weights; a subclass defines `call`, and `build` if it has any."""

    def __init__(self, name: str | None = None) -> None:
        self.name = name or type(self).__name__.lower()
        self.built = False
        self._weights: list[Variable] = []

    def __call__(self, inputs: Any) -> Tensor:
        """Build the layer if this is its first call, and call it."""
        x = convert_to_tensor(inputs)
        if not self.built:
            self.build(x.shape)
            self.built = True
        return self.call(x)

    def build(self, input_shape: Sequence[int]) -> None:
        """Make the weights for inputs of this shape."""

    def call(self, inputs: Tensor) -> Tensor:
        """Return the outputs."""
        raise NotImplementedError

    def add_weight(self, name: str, shape: Sequence[int], initializer: Any) -> Variable:
        """Return a new trainable variable of the layer."""
        variable = Variable(_initial(initializer, shape))
        variable.name = name
        self._weights.append(variable)
        return variable

    @property
    def variables(self) -> list[Variable]:
        """All variables, in the order in which they were made."""
        return list(self._weights)

    @property
    def trainable_variables(self) -> list[Variable]:
        """The variables that tapes watch by themselves."""
        return [v for v in self.variables if v.trainable]

    @property
    def trainable_weights(self) -> list[Variable]:
        """The same as `trainable_variables`."""
        return self.trainable_variables


class Dense(Layer):
    """activation(x @ kernel + bias) along the last axis."""

    def __init__(
        self,
        units: int,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        name: str | None = None,
        **unused: Any,
    ) -> None:
        super().__init__(name)
        self.units = int(units)
        self.activation = (
            activation if callable(activation) else ACTIVATIONS[activation or "linear"]
        )
        self.use_bias = use_bias
        self._initializers = kernel_initializer, bias_initializer

    def build(self, input_shape: Sequence[int]) -> None:
        """Make the kernel, of shape (inputs, units), and the bias."""
        kernel, bias = self._initializers
        self.kernel = self.add_weight("kernel", (input_shape[-1], self.units), kernel)
        if self.use_bias:
            self.bias = self.add_weight("bias", (self.units,), bias)

    def call(self, inputs: Tensor) -> Tensor:
        """Return the outputs."""
        out = tensordot(inputs, self.kernel, 1)
        return self.activation(out + self.bias if self.use_bias else out)  # type: ignore[no-any-return]


class Lambda(Layer):
    """A function as a layer without weights."""

    def __init__(self, function: Callable[..., Any], name: str | None = None) -> None:
        super().__init__(name)
        self._function = function

    def call(self, inputs: Tensor) -> Tensor:
        """Return the result of the function."""
        return self._function(inputs)  # type: ignore[no-any-return]


class Sequential(Layer):
    """Layers, each called with the result of the one before."""

    def __init__(self, layers: Sequence[Layer] = (), name: str | None = None) -> None:
        super().__init__(name)
        self.layers = list(layers)

    def add(self, layer: Layer) -> None:
        """Append a layer."""
        self.layers.append(layer)

    def call(self, inputs: Tensor) -> Tensor:
        """Return the result of the last layer."""
        for layer in self.layers:
            inputs = layer(inputs)
        return inputs

    @property
    def variables(self) -> list[Variable]:
        """All variables of all layers."""
        return [variable for layer in self.layers for variable in layer.variables]


def _initial(initializer: Any, shape: Sequence[int]) -> Any:
    if callable(initializer):
        return initializer(shape)
    if initializer in ("zeros", "ones"):
        return np.full(shape, float(initializer == "ones"), np.float32)
    if initializer == "glorot_uniform":
        limit = float(np.sqrt(6.0 / sum(shape)))
        return uniform(shape, -limit, limit)
    raise ValueError(f"Could not interpret initializer identifier: {initializer}")


layers = SimpleNamespace(Dense=Dense, Lambda=Lambda, Layer=Layer)
