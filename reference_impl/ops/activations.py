"""Activations of neural networks; each rule stands below its operation.

The piecewise ones have a second operation, `<Name>Grad`, as in TensorFlow: it decides at the kink,
and it makes the second derivative zero rather than unconnected.
**Source** of all rules: TF 2.21 `nn_grad.py`, `math_grad.py` (Sigmoid), `nn_impl.py` (swish).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.arrays import Array
from reference_impl.custom_gradient import custom_gradient
from reference_impl.dtypes import float32
from reference_impl.ops.arithmetic import multiply_no_nan
from reference_impl.ops.complex_numbers import cast, conj
from reference_impl.ops.elementwise import exp, square
from reference_impl.ops.nondifferentiable import zeros_like
from reference_impl.ops.passing import where
from reference_impl.ops.reduction import reduce_sum
from reference_impl.rules import FLOATING, ORDERED, REAL, primitive, vjp_of
from reference_impl.tensor import Tensor, convert_to_tensor

Cts = tuple[Tensor | None, ...]

SELU_ALPHA = 1.6732632423543772
SELU_SCALE = 1.0507009873554805


def _times(ct: Array, condition: Array) -> Array:
    """Return ct where the condition holds; elsewhere 0 times ct, nan for an infinite ct, as TF."""
    return np.asarray(ct * condition.astype(ct.dtype))


# ----- Smooth -----


@primitive("Sigmoid", FLOATING)
def sigmoid(x: Array) -> Array:
    """Return 1 / (1 + exp(-x)), without overflow."""
    if x.dtype.kind == "c":
        return 1 / (1 + np.exp(-x))
    small = np.exp(-np.abs(x))
    return np.asarray(np.where(x >= 0, 1, small) / (1 + small), x.dtype)


@vjp_of(sigmoid)
def sigmoid_vjp(ct: Tensor, out: Tensor, _x: Tensor) -> Cts:
    """Ct out (1 - out)."""
    return (_sigmoid_grad(conj(out), ct),)


@primitive("SigmoidGrad", FLOATING)
def _sigmoid_grad(out: Array, ct: Array) -> Array:
    return np.asarray(ct * out * (out.dtype.type(1) - out))


@vjp_of(_sigmoid_grad)
def sigmoid_grad_vjp(ct: Tensor, _out: Tensor, out: Tensor, ct_in: Tensor) -> Cts:
    """(ct ct_in (1 - 2 out), ct out (1 - out))."""
    out, product = conj(out), ct * conj(ct_in)
    return product - 2.0 * product * out, _sigmoid_grad(out, ct)


@primitive("Softplus", REAL)
def softplus(features: Array) -> Array:
    """Return log(1 + exp(x)), without overflow."""
    return np.asarray(np.logaddexp(features, features.dtype.type(0)))


@vjp_of(softplus)
def softplus_vjp(ct: Tensor, _out: Tensor, features: Tensor) -> Cts:
    """Ct sigmoid(x)."""
    return (ct * sigmoid(features),)


@primitive("Softsign", REAL)
def softsign(features: Array) -> Array:
    """Return x / (1 + |x|), and its limits at infinity."""
    size = features.dtype.type(1) + np.abs(features)
    return np.where(size == np.inf, np.sign(features), features / size)


@primitive("SoftsignGrad", REAL)
def _softsign_grad(ct: Array, x: Array) -> Array:
    return np.asarray(ct / np.square(x.dtype.type(1) + np.abs(x)))


@vjp_of(softsign)
def softsign_vjp(ct: Tensor, _out: Tensor, features: Tensor) -> Cts:
    """Ct / (1 + |x|)^2. **Ties**: 1 at 0. **Errors**: TF has no second derivative: LookupError."""
    return (_softsign_grad(ct, features),)


def silu(features: Any, beta: Any = 1.0) -> Tensor:
    """Return x sigmoid(beta x); its gradient is declared, as TensorFlow's is."""
    features = convert_to_tensor(features)
    return _swish(features, cast(beta, features.dtype))  # type: ignore[no-any-return]


@custom_gradient
def _swish(features: Tensor, beta: Tensor) -> Any:
    def swish_vjp(ct: Tensor) -> tuple[Tensor, Tensor]:
        x, s = conj(features), conj(sigmoid(beta * features))
        slope = s + multiply_no_nan(conj(beta) * x, s * (1.0 - s))
        return ct * slope, reduce_sum(ct * square(x) * s * (1.0 - s))

    return multiply_no_nan(features, sigmoid(beta * features)), swish_vjp


# ----- With a kink -----


@primitive("Relu", ORDERED)
def relu(features: Array) -> Array:
    """Return max(x, 0)."""
    return np.asarray(np.maximum(features, features.dtype.type(0)))


@primitive("ReluGrad")
def _relu_grad(ct: Array, x: Array) -> Array:
    return _times(ct, x > 0)


@vjp_of(relu)
def relu_vjp(ct: Tensor, out: Tensor, _features: Tensor) -> Cts:
    """Ct where x > 0, else 0. **Ties**: 0 at +0 and -0. **Edges**: 0 at nan."""
    return (_relu_grad(ct, out),)


@vjp_of(_relu_grad)
def relu_grad_vjp(ct: Tensor, _out: Tensor, _ct: Tensor, x: Tensor) -> Cts:
    """Linear in the first input, constant in the second."""
    return _relu_grad(ct, x), zeros_like(x)


@primitive("Relu6", ORDERED)
def relu6(features: Array) -> Array:
    """Return min(max(x, 0), 6)."""
    return np.asarray(np.clip(features, 0, 6), features.dtype)


@primitive("Relu6Grad")
def _relu6_grad(ct: Array, x: Array) -> Array:
    return _times(ct, (x > 0) & (x < 6))


@vjp_of(relu6)
def relu6_vjp(ct: Tensor, out: Tensor, _features: Tensor) -> Cts:
    """Ct where 0 < x < 6, else 0. **Ties**: 0 at both ends."""
    return (_relu6_grad(ct, out),)


@vjp_of(_relu6_grad)
def relu6_grad_vjp(ct: Tensor, _out: Tensor, _ct: Tensor, x: Tensor) -> Cts:
    """Linear in the first input, constant in the second."""
    return _relu6_grad(ct, x), zeros_like(x)


def _single(alpha: Any) -> float:
    return float(np.float32(alpha))  # an attribute of the operation: single precision


@primitive("LeakyRelu", REAL, alpha=_single)
def _leaky_relu(features: Array, *, alpha: float) -> Array:
    return np.where(features > 0, features, features * features.dtype.type(alpha))


@primitive("LeakyReluGrad", REAL)
def _leaky_relu_grad(ct: Array, x: Array, *, alpha: float) -> Array:
    return np.where(x > 0, ct, ct * ct.dtype.type(alpha))


@vjp_of(_leaky_relu)
def leaky_relu_vjp(ct: Tensor, _out: Tensor, features: Tensor, *, alpha: float) -> Cts:
    """Ct where x > 0, else alpha ct. **Ties**: alpha at 0."""
    return (_leaky_relu_grad(ct, features, alpha=alpha),)


@vjp_of(_leaky_relu_grad)
def leaky_relu_grad_vjp(ct: Tensor, _out: Tensor, _ct: Tensor, x: Tensor, *, alpha: float) -> Cts:
    """Linear in the first input, constant in the second."""
    return _leaky_relu_grad(ct, x, alpha=alpha), zeros_like(x)


@primitive("Elu", REAL)
def elu(features: Array) -> Array:
    """Return x where x > 0, else exp(x) - 1."""
    return np.where(features < 0, np.expm1(features), features)


@primitive("EluGrad", REAL)
def _elu_grad(ct: Array, out: Array) -> Array:
    return np.where(out < 0, ct * (out + out.dtype.type(1)), ct)


@vjp_of(elu)
def elu_vjp(ct: Tensor, out: Tensor, _features: Tensor) -> Cts:
    """Ct where x >= 0, else ct (out + 1). **Ties**: 1 at 0."""
    return (_elu_grad(ct, out),)


@vjp_of(_elu_grad)
def elu_grad_vjp(ct: Tensor, _out: Tensor, ct_in: Tensor, out: Tensor) -> Cts:
    """The slope is out + 1 on the negative side only."""
    return _elu_grad(ct, out), where(out < 0, ct * ct_in, zeros_like(out))


@primitive("Selu", REAL)
def selu(features: Array) -> Array:
    """Return scale times x where x > 0, else scale alpha (exp(x) - 1)."""
    scale, slope = features.dtype.type(SELU_SCALE), features.dtype.type(SELU_SCALE * SELU_ALPHA)
    return np.asarray(np.where(features < 0, slope * np.expm1(features), scale * features))


@primitive("SeluGrad", REAL)
def _selu_grad(ct: Array, out: Array) -> Array:
    scale, slope = out.dtype.type(SELU_SCALE), out.dtype.type(SELU_SCALE * SELU_ALPHA)
    return np.asarray(np.where(out < 0, ct * (out + slope), ct * scale))


@vjp_of(selu)
def selu_vjp(ct: Tensor, out: Tensor, _features: Tensor) -> Cts:
    """Ct scale where x >= 0, else ct (out + scale alpha). **Ties**: scale at 0."""
    return (_selu_grad(ct, out),)


@vjp_of(_selu_grad)
def selu_grad_vjp(ct: Tensor, _out: Tensor, ct_in: Tensor, out: Tensor) -> Cts:
    """The slope is out + scale alpha on the negative side only."""
    return _selu_grad(ct, out), where(out < 0, ct * ct_in, zeros_like(out))


def leaky_relu(features: Any, alpha: float = 0.2) -> Tensor:
    """Return x where x > 0, else alpha x; integers become float32."""
    x = convert_to_tensor(features)
    return _leaky_relu(cast(x, float32) if x.array.dtype.kind in "iu" else x, alpha=alpha)


# ----- Along an axis -----


@primitive("Softmax", REAL, axis=int)
def softmax(logits: Array, *, axis: int = -1) -> Array:
    """Return exp(x) / sum(exp(x)) along an axis, which a scalar has not."""
    shifted = np.exp(logits - np.max(logits, axis=(axis,), keepdims=True, initial=-np.inf))
    return np.asarray(shifted / np.sum(shifted, axis=axis, keepdims=True))


@vjp_of(softmax)
def softmax_vjp(ct: Tensor, out: Tensor, _logits: Tensor, *, axis: int) -> Cts:
    """(ct - sum(ct out)) out, summed along the axis."""
    return ((ct - reduce_sum(ct * out, axis, keepdims=True)) * out,)


@primitive("LogSoftmax", REAL, axis=int)
def log_softmax(logits: Array, *, axis: int = -1) -> Array:
    """Return x - log(sum(exp(x))) along an axis, which a scalar has not."""
    shifted = logits - np.max(logits, axis=(axis,), keepdims=True, initial=-np.inf)
    return np.asarray(shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True)))


@vjp_of(log_softmax)
def log_softmax_vjp(ct: Tensor, out: Tensor, _logits: Tensor, *, axis: int) -> Cts:
    """Ct - sum(ct) exp(out), summed along the axis."""
    return (ct - reduce_sum(ct, axis, keepdims=True) * exp(out),)
