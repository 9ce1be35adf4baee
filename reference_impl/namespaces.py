"""TensorFlow's spellings: which name, in which namespace, means which function of the oracle.

What is not listed does not exist, and is an AttributeError. A spelling stands here if a case uses
it, no others: the first to write a case for another name adds it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np

from reference_impl import control_flow, dtypes, errors, graph, nest
from reference_impl.custom_gradient import custom_gradient, grad_pass_through, recompute_grad
from reference_impl.extras import (
    composite,
    convolution,
    image,
    keras,
    python_functions,
    quantization,
    randomness,
    state,
)
from reference_impl.extras.module import Module
from reference_impl.extras.tensor_array import TensorArray
from reference_impl.forward import ForwardAccumulator
from reference_impl.ops import (
    activations,
    arithmetic,
    complex_numbers,
    elementwise,
    indexing,
    linalg,
    losses,
    nondifferentiable,
    passing,
    piecewise,
    reduction,
    segments,
    shape,
    special,
)
from reference_impl.registry import RegisterGradient, no_gradient
from reference_impl.rules import Primitive
from reference_impl.tape import GradientTape
from reference_impl.tensor import IndexedSlices, Tensor, Variable, convert_to_tensor
from reference_impl.unconnected import UnconnectedGradients


def _pick(module: Any, names: str) -> dict[str, Any]:
    return {name: _named(getattr(module, name)) for name in names.split()}


def _named(operation: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function take the `name` that TensorFlow's functions take; it is ignored."""
    if isinstance(operation, Primitive):  # which does so by itself
        return operation

    @functools.wraps(operation)
    def named(*arguments: Any, name: Any = None, **options: Any) -> Any:
        return operation(*arguments, **options)

    return named


def is_tensor(x: Any) -> bool:
    """Return True for tensors, variables and slices."""
    return isinstance(x, (Tensor, Variable, IndexedSlices))


def assert_equal(x: Any, y: Any, message: str = "") -> None:
    """Raise InvalidArgumentError unless x == y everywhere."""
    if not np.all(np.asarray(nondifferentiable.equal(x, y))):
        raise errors.InvalidArgumentError(f"{message} Condition x == y did not hold.")


@contextmanager
def name_scope(name: str) -> Iterator[str]:
    """Do nothing: eager tensors have no names."""
    yield f"{name}/"


def ignore(*arguments: Any, **options: Any) -> None:
    """Do nothing: what only a graph can heed."""


math = SimpleNamespace(
    **_pick(arithmetic, "divide_no_nan floormod multiply_no_nan squared_difference"),
    **_pick(arithmetic, "xdivy xlog1py xlogy"),
    **_pick(elementwise, "acos acosh asin asinh atan atan2 atanh cosh expm1 log log1p"),
    **_pick(elementwise, "reciprocal rsqrt sin sinh square tan tanh"),
    **_pick(special, "betainc digamma erf erfc lgamma polygamma zeta"),
    **_pick(piecewise, "ceil floor nextafter rint round sign"),
    **_pick(segments, "segment_max segment_min segment_prod"),
    **_pick(complex_numbers, "angle conj imag real"),
    **_pick(reduction, "l2_normalize reduce_euclidean_norm reduce_logsumexp reduce_max"),
    **_pick(reduction, "reduce_mean reduce_min reduce_prod reduce_std reduce_sum reduce_variance"),
    special=SimpleNamespace(spence=special.spence),
)

nn = SimpleNamespace(
    **_pick(activations, "elu leaky_relu log_softmax relu relu6 selu sigmoid silu softmax"),
    **_pick(activations, "softplus softsign"),
    **_pick(losses, "softmax_cross_entropy_with_logits"),
    conv2d=convolution.conv2d,
    embedding_lookup=indexing.gather,
    swish=activations.silu,
    tanh=elementwise.tanh,
)

_compat_v1 = SimpleNamespace(
    get_default_graph=graph.get_default_graph,
    grad_pass_through=grad_pass_through,
    no_gradient=no_gradient,
    NoGradient=no_gradient,
    NotDifferentiable=no_gradient,
)

_DTYPES = [
    "bool",
    "complex64",
    "complex128",
    "float16",
    "float32",
    "float64",
    "int32",
    "int64",
    "uint8",
]

TOP: dict[str, Any] = {
    **_pick(activations, "sigmoid"),
    **_pick(arithmetic, "add add_n divide multiply negative pow subtract"),
    **_pick(complex_numbers, "cast complex"),
    **_pick(control_flow, "cond foldl scan switch_case while_loop"),
    **_pick(elementwise, "acos acosh asin asinh atan atanh cos cosh exp sin sinh sqrt square"),
    **_pick(elementwise, "tan tanh"),
    **_pick(graph, "gradients hessians"),
    **_pick(indexing, "gather repeat scatter_nd"),
    **_pick(linalg, "einsum matmul tensordot"),
    **_pick(nondifferentiable, "argmax bitcast constant histogram_fixed_width less ones ones_like"),
    **_pick(nondifferentiable, "range reduce_all shape size zeros zeros_like"),
    **_pick(passing, "identity identity_n stop_gradient where"),
    **_pick(piecewise, "abs clip_by_value floor maximum minimum round sign"),
    **_pick(python_functions, "numpy_function py_function"),
    **_pick(reduction, "clip_by_norm cumsum norm reduce_logsumexp reduce_max reduce_mean"),
    **_pick(reduction, "reduce_min reduce_prod reduce_sum tile"),
    **_pick(segments, "tensor_scatter_nd_max tensor_scatter_nd_min"),
    **_pick(shape, "concat fill linspace pad reshape reverse roll split stack transpose unstack"),
    **{d.name: d for d in dtypes.ALL if d.name in _DTYPES},
    "AggregationMethod": graph.AggregationMethod,
    "GradientTape": GradientTape,
    "IndexedSlices": IndexedSlices,
    "Module": Module,
    "RaggedTensor": composite.RaggedTensor,
    "RegisterGradient": RegisterGradient,
    "SparseTensor": composite.SparseTensor,
    "Tensor": Tensor,
    "TensorArray": TensorArray,
    "TensorSpec": ignore,
    "UnconnectedGradients": UnconnectedGradients,
    "Variable": Variable,
    "convert_to_tensor": _named(convert_to_tensor),
    "custom_gradient": custom_gradient,
    "function": graph.function,
    "grad_pass_through": grad_pass_through,
    "is_tensor": is_tensor,
    "name_scope": name_scope,
    "no_gradient": no_gradient,
    "recompute_grad": recompute_grad,
    "autodiff": SimpleNamespace(ForwardAccumulator=ForwardAccumulator),
    "autograph": SimpleNamespace(experimental=SimpleNamespace(set_loop_options=ignore)),
    "compat": SimpleNamespace(v1=_compat_v1),
    "data": state.data,
    "debugging": SimpleNamespace(assert_equal=assert_equal),
    "dtypes": SimpleNamespace(experimental=SimpleNamespace(float8_e5m2=dtypes.float8_e5m2)),
    "errors": errors,
    "experimental": SimpleNamespace(
        numpy=SimpleNamespace(multiply=arithmetic.multiply, sum=reduction.reduce_sum)
    ),
    "image": SimpleNamespace(**_pick(image, "adjust_contrast adjust_saturation hsv_to_rgb")),
    "keras": SimpleNamespace(layers=keras.layers, Sequential=keras.Sequential),
    "linalg": SimpleNamespace(**_pick(linalg, "det inv matvec solve")),
    "math": math,
    "nest": nest,
    "nn": nn,
    "quantization": SimpleNamespace(**_pick(quantization, "quantize_and_dequantize_v2")),
    "queue": state.queue,
    "random": SimpleNamespace(**_pick(randomness, "set_seed shuffle")),
    "raw_ops": SimpleNamespace(
        IdentityN=passing.identity_n, PreventGradient=passing.prevent_gradient
    ),
    "sparse": SimpleNamespace(segment_sum=indexing.sparse_segment_sum),
    "strings": SimpleNamespace(**_pick(nondifferentiable, "as_string to_number")),
}
"""Every name of the namespace that programs call `tf`."""
