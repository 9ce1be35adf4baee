"""TensorFlow's spellings: which name, in which namespace, means which function of the oracle.

TensorFlow exports one operation under several names (`tf.exp` and `tf.math.exp`); each family is
listed once here. What is not listed does not exist, and is an AttributeError.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np

from reference_impl import (
    composite,
    dtypes,
    errors,
    graph,
    keras,
    nest,
    python_functions,
    randomness,
    state,
)
from reference_impl.custom_gradient import custom_gradient, grad_pass_through, recompute_grad
from reference_impl.forward import ForwardAccumulator
from reference_impl.ops import (
    activations,
    arithmetic,
    complex_numbers,
    convolution,
    elementwise,
    image,
    indexing,
    linalg,
    losses,
    nondifferentiable,
    passing,
    piecewise,
    quantization,
    reduction,
    segments,
    selection,
    shape,
    special,
)
from reference_impl.registry import RegisterGradient, no_gradient
from reference_impl.tape import GradientTape
from reference_impl.tensor import IndexedSlices, Tensor, Variable, convert_to_tensor
from reference_impl.tensor_array import TensorArray
from reference_impl.unconnected import UnconnectedGradients


def _pick(module: Any, names: str) -> dict[str, Any]:
    return {name: getattr(module, name) for name in names.split()}


def is_tensor(x: Any) -> bool:
    """Return True for tensors, variables and slices."""
    return isinstance(x, (Tensor, Variable, IndexedSlices))


def print_values(*inputs: Any, **options: Any) -> None:
    """Print to stderr, as `tf.print` does; returns None."""
    print(*inputs, file=sys.stderr)


def check_numerics(tensor: Any, message: str, name: str | None = None) -> Tensor:
    """Return the tensor; nan or inf in it is an InvalidArgumentError. Connected to its input."""
    x = convert_to_tensor(tensor)
    found = [n for n, test in (("Inf", np.isinf), ("NaN", np.isnan)) if test(x.array).any()]
    if found:
        raise errors.InvalidArgumentError(
            f"{message} : Tensor had {' and '.join(found)} values", "CheckNumerics"
        )
    return passing.identity(x)  # type: ignore[no-any-return]


def assert_equal(x: Any, y: Any, message: Any = None, **unused: Any) -> None:
    """Raise InvalidArgumentError unless x == y everywhere."""
    if not np.all(np.asarray(nondifferentiable.equal(x, y))):
        raise errors.InvalidArgumentError(f"{message or ''} Condition x == y did not hold.")


@contextmanager
def name_scope(name: str) -> Iterator[str]:
    """Do nothing: eager tensors have no names."""
    yield f"{name}/"


def ignore(*arguments: Any, **options: Any) -> None:
    """Do nothing: what only a graph can heed."""


MATH_AND_TOP = {
    **_pick(
        arithmetic, "add add_n divide multiply pow squared_difference subtract floordiv floormod"
    ),
    **_pick(elementwise, "acos acosh asin asinh atan atanh cos cosh exp sin sinh tan tanh"),
    **_pick(elementwise, "atan2 sqrt square"),
    **_pick(activations, "sigmoid"),
    **_pick(piecewise, "abs maximum minimum round sign"),
    **_pick(nondifferentiable, "argmax argmin equal greater greater_equal less less_equal"),
    **_pick(nondifferentiable, "logical_and logical_not logical_or not_equal"),
    **_pick(nondifferentiable, "reduce_all reduce_any"),
    **_pick(reduction, "reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod"),
    **_pick(reduction, "reduce_sum cumsum"),
    **_pick(complex_numbers, "complex"),
    "negative": arithmetic.negative,
    "truediv": arithmetic.divide,
    "mod": arithmetic.floormod,
}

math = SimpleNamespace(
    **MATH_AND_TOP,
    **_pick(arithmetic, "divide_no_nan multiply_no_nan xdivy xlog1py xlogy"),
    **_pick(elementwise, "expm1 log log1p reciprocal rsqrt"),
    **_pick(special, "betainc digamma erf erfc lgamma polygamma zeta"),
    **_pick(piecewise, "nextafter"),
    **_pick(segments, "segment_max segment_min segment_prod segment_sum"),
    special=SimpleNamespace(spence=special.spence),
    **_pick(activations, "log_sigmoid log_softmax softmax softplus softsign"),
    **_pick(piecewise, "ceil floor rint"),
    **_pick(nondifferentiable, "is_finite is_inf is_nan logical_xor"),
    **_pick(complex_numbers, "angle conj imag real"),
    **_pick(reduction, "cumprod reduce_euclidean_norm reduce_std reduce_variance l2_normalize"),
    **_pick(indexing, "unsorted_segment_sum"),
)

nn = SimpleNamespace(
    conv2d=convolution.conv2d,
    **_pick(activations, "elu gelu leaky_relu log_softmax relu relu6 selu sigmoid silu softmax"),
    **_pick(activations, "softplus softsign"),
    **_pick(losses, "sigmoid_cross_entropy_with_logits softmax_cross_entropy_with_logits"),
    **_pick(losses, "sparse_softmax_cross_entropy_with_logits"),
    **_pick(reduction, "l2_loss l2_normalize"),
    embedding_lookup=indexing.embedding_lookup,
    swish=activations.silu,
    tanh=elementwise.tanh,
)

numpy_interface = SimpleNamespace(
    **_pick(arithmetic, "add divide multiply subtract"),
    **_pick(elementwise, "cos exp log sin sqrt square tan tanh"),
    **_pick(piecewise, "abs maximum minimum"),
    **_pick(shape, "reshape stack transpose"),
    array=convert_to_tensor,
    matmul=linalg.matmul,
    max=reduction.reduce_max,
    mean=reduction.reduce_mean,
    min=reduction.reduce_min,
    power=arithmetic.pow,
    prod=reduction.reduce_prod,
    sum=reduction.reduce_sum,
)
"""The part of `tf.experimental.numpy` whose names and arguments are TensorFlow's own."""

_linalg = SimpleNamespace(
    **_pick(linalg, "band_part det diag diag_part einsum inv matmul matrix_transpose matvec solve"),
    **_pick(linalg, "tensordot trace"),
    **_pick(reduction, "norm"),
    eye=nondifferentiable.eye,
)

TOP: dict[str, Any] = {
    **MATH_AND_TOP,
    **_pick(nondifferentiable, "constant eye one_hot ones ones_like range rank shape size"),
    **_pick(nondifferentiable, "zeros zeros_like bitcast"),
    **_pick(complex_numbers, "cast"),
    **_pick(passing, "identity identity_n stop_gradient"),
    **_pick(selection, "where"),
    **_pick(reduction, "clip_by_norm norm"),
    **_pick(piecewise, "clip_by_value floor"),
    **_pick(linalg, "einsum matmul tensordot"),
    **_pick(
        shape,
        "broadcast_to concat expand_dims fill linspace pad reshape reverse roll split",
    ),
    **_pick(shape, "squeeze stack tile transpose unstack"),
    **_pick(indexing, "boolean_mask gather gather_nd repeat scatter_nd slice sort"),
    **_pick(indexing, "tensor_scatter_nd_add tensor_scatter_nd_update"),
    **_pick(segments, "tensor_scatter_nd_max tensor_scatter_nd_min"),
    "IndexedSlices": IndexedSlices,
    "Tensor": Tensor,
    "UnconnectedGradients": UnconnectedGradients,
    "Variable": Variable,
    "convert_to_tensor": convert_to_tensor,
    "AggregationMethod": graph.AggregationMethod,
    "gradients": graph.gradients,
    "hessians": graph.hessians,
    "histogram_fixed_width": nondifferentiable.histogram_fixed_width,
    "RaggedTensor": composite.RaggedTensor,
    "SparseTensor": composite.SparseTensor,
    "TensorArray": TensorArray,
    "is_tensor": is_tensor,
    "no_gradient": no_gradient,
    "RegisterGradient": RegisterGradient,
    "newaxis": None,
    "print": print_values,
    "math": math,
    "nn": nn,
    "linalg": _linalg,
    "autodiff": SimpleNamespace(ForwardAccumulator=ForwardAccumulator, GradientTape=GradientTape),
    "autograph": SimpleNamespace(experimental=SimpleNamespace(set_loop_options=ignore)),
    "debugging": SimpleNamespace(assert_equal=assert_equal, check_numerics=check_numerics),
    "dtypes": SimpleNamespace(
        **{d.name: d for d in dtypes.ALL},
        as_dtype=dtypes.as_dtype,
        cast=complex_numbers.cast,
        DType=dtypes.DType,
        experimental=SimpleNamespace(float8_e5m2=dtypes.float8_e5m2),
    ),
    "data": state.data,
    "experimental": SimpleNamespace(numpy=numpy_interface),
    "errors": errors,
    "image": SimpleNamespace(**_pick(image, "adjust_contrast adjust_saturation hsv_to_rgb")),
    "keras": SimpleNamespace(layers=keras.layers, Sequential=keras.Sequential),
    "nest": nest,
    "random": SimpleNamespace(**_pick(randomness, "normal set_seed shuffle uniform")),
    "name_scope": name_scope,
    "numpy_function": python_functions.numpy_function,
    "py_function": python_functions.py_function,
    "quantization": SimpleNamespace(**_pick(quantization, "quantize_and_dequantize_v2")),
    "queue": state.queue,
    "ragged": composite.ragged,
    "sparse": SimpleNamespace(
        SparseTensor=composite.SparseTensor, segment_sum=indexing.sparse_segment_sum
    ),
    "strings": SimpleNamespace(**_pick(nondifferentiable, "as_string to_number")),
    "compat": SimpleNamespace(
        v1=SimpleNamespace(
            custom_gradient=custom_gradient,
            get_default_graph=graph.get_default_graph,
            gradients=graph.gradients,
            grad_pass_through=grad_pass_through,
            no_gradient=no_gradient,
            recompute_grad=recompute_grad,
            NoGradient=no_gradient,
            NotDifferentiable=no_gradient,
        )
    ),
    "raw_ops": SimpleNamespace(
        IdentityN=passing.identity_n, PreventGradient=passing.prevent_gradient
    ),
}
