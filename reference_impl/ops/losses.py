"""Cross entropies of logits; the second output is the gradient itself, kept for the rule.

**Source**: TF 2.21 `nn_grad.py` `_SoftmaxCrossEntropyWithLogitsGrad`; contract part 1, line 26.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.arrays import Array
from reference_impl.ops.activations import log_softmax, softmax
from reference_impl.ops.complex_numbers import cast
from reference_impl.ops.elementwise import exp, log1p
from reference_impl.ops.nondifferentiable import zeros_like
from reference_impl.ops.reduction import reduce_sum
from reference_impl.ops.selection import where
from reference_impl.ops.shape import broadcast_to, expand_dims, reshape, transpose
from reference_impl.rules import REAL, primitive_with_outputs, vjp_of
from reference_impl.tensor import Tensor, convert_to_tensor

Cts = tuple[Tensor | None, ...]


def _log_probabilities(logits: Array) -> Array:
    shifted = logits - np.max(logits, axis=-1, keepdims=True)
    return np.asarray(shifted - np.log(np.sum(np.exp(shifted), axis=-1, keepdims=True)))


@primitive_with_outputs("SoftmaxCrossEntropyWithLogits", REAL)
def _cross_entropy(logits: Array, labels: Array) -> tuple[Array, ...]:
    log_p = _log_probabilities(logits)
    loss = -np.sum(np.where(labels == 0, 0, labels * log_p), axis=-1, dtype=logits.dtype)
    return loss, np.exp(log_p) - labels


@vjp_of(_cross_entropy, unused_is_none=(1,))
def cross_entropy_vjp(cts: Any, outs: Any, logits: Tensor, _labels: Tensor) -> Cts:
    """(ct (softmax - labels), -ct log softmax): labels must add up to 1 for the first to hold."""
    ct_logits = _logits_vjp(cts, outs, logits)
    return ct_logits, expand_dims(cts[0], -1) * -log_softmax(logits)


@primitive_with_outputs("SparseSoftmaxCrossEntropyWithLogits", REAL)
def _sparse_cross_entropy(logits: Array, *, labels: Array) -> tuple[Array, ...]:
    log_p = _log_probabilities(logits)
    chosen = np.take_along_axis(log_p, labels[:, np.newaxis], axis=-1)[:, 0]
    is_label = labels[:, np.newaxis] == np.arange(logits.shape[-1])
    return -chosen, np.exp(log_p) - is_label.astype(logits.dtype)


@vjp_of(_sparse_cross_entropy, unused_is_none=(1,))
def sparse_cross_entropy_vjp(cts: Any, outs: Any, logits: Tensor, *, labels: Array) -> Cts:
    """Ct (softmax - one_hot(labels))."""
    return (_logits_vjp(cts, outs, logits),)


def _logits_vjp(cts: Any, outs: Any, logits: Tensor) -> Tensor:
    """Pull back the loss and, for second derivatives, the gradient output."""
    ct_loss, ct_slope = cts
    total: Tensor = expand_dims(ct_loss, -1) * outs[1]
    if ct_slope is None:
        return total
    p = softmax(logits)
    out: Tensor = total + (ct_slope - reduce_sum(ct_slope * p, -1, keepdims=True)) * p
    return out


def softmax_cross_entropy_with_logits(
    labels: Any, logits: Any, axis: int = -1, name: str | None = None
) -> Tensor:
    """Return -sum(labels log softmax(logits)) over an axis."""
    x = convert_to_tensor(logits)
    target = broadcast_to(cast(convert_to_tensor(labels, dtype_hint=x.dtype), x.dtype), x.shape)
    order = [i for i in range(x.ndim) if i != axis % x.ndim] + [axis % x.ndim]
    if order != list(range(x.ndim)):
        x, target = transpose(x, order), transpose(target, order)
    outer, classes = x.array.shape[:-1], x.array.shape[-1]
    loss, _ = _cross_entropy(reshape(x, [-1, classes]), reshape(target, [-1, classes]))
    return reshape(loss, outer)


def sparse_softmax_cross_entropy_with_logits(
    labels: Any, logits: Any, name: str | None = None
) -> Tensor:
    """Return -log softmax(logits) at integer labels, along the last axis."""
    x, chosen = convert_to_tensor(logits), convert_to_tensor(labels).array
    flat = reshape(x, [-1, x.array.shape[-1]])
    loss, _ = _sparse_cross_entropy(flat, labels=chosen.reshape(-1))
    return reshape(loss, chosen.shape)


def sigmoid_cross_entropy_with_logits(
    labels: Any = None, logits: Any = None, name: str | None = None
) -> Tensor:
    """Return max(x, 0) - x labels + log(1 + exp(-|x|)), without overflow; a composition.

    **Source**: TF 2.21 nn_impl.py `sigmoid_cross_entropy_with_logits`.
    """
    x = convert_to_tensor(logits)
    z = convert_to_tensor(labels, dtype_hint=x.dtype)
    positive = x >= zeros_like(x)
    relu_x, minus_abs = where(positive, x, zeros_like(x)), where(positive, -x, x)
    return (relu_x - x * z) + log1p(exp(minus_abs))
