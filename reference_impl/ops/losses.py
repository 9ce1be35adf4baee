"""Cross entropy of logits; the second output is the gradient itself, kept for the rule.

**Source**: TF 2.21 `nn_grad.py` `_SoftmaxCrossEntropyWithLogitsGrad`; contract part 1, line 26.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.arrays import Array
from reference_impl.broadcasting import broadcast_to
from reference_impl.errors import InvalidArgumentError
from reference_impl.ops.activations import log_softmax, softmax
from reference_impl.ops.complex_numbers import cast
from reference_impl.ops.reduction import reduce_sum
from reference_impl.ops.shape import expand_dims, reshape
from reference_impl.rules import REAL, primitive_with_outputs, vjp_of
from reference_impl.tensor import Tensor, convert_to_tensor

Cts = tuple[Tensor | None, ...]


@primitive_with_outputs("SoftmaxCrossEntropyWithLogits", REAL)
def _cross_entropy(logits: Array, labels: Array) -> tuple[Array, ...]:
    log_p = log_softmax.forward(logits)
    loss = -np.sum(np.where(labels == 0, 0, labels * log_p), axis=-1, dtype=logits.dtype)
    return loss, np.exp(log_p) - labels


@vjp_of(_cross_entropy, unused_is_none=(1,))
def cross_entropy_vjp(cts: Any, outs: Any, logits: Tensor, _labels: Tensor) -> Cts:
    """(ct (softmax - labels), -ct log softmax): labels must add up to 1 for the first to hold.

    The second output is pulled back too, for second derivatives.
    """
    ct_loss, ct_slope = cts
    ct_logits = expand_dims(ct_loss, -1) * outs[1]
    if ct_slope is not None:
        p = softmax(logits)
        ct_logits = ct_logits + (ct_slope - reduce_sum(ct_slope * p, -1, keepdims=True)) * p
    return ct_logits, expand_dims(ct_loss, -1) * -log_softmax(logits)


def softmax_cross_entropy_with_logits(labels: Any, logits: Any) -> Tensor:
    """Return -sum(labels log softmax(logits)) over the last axis."""
    x = convert_to_tensor(logits)
    target = convert_to_tensor(labels, dtype_hint=x.dtype)
    if not x.ndim or not target.ndim:
        raise InvalidArgumentError("logits and labels have an axis of classes", "Slice")
    target = broadcast_to(cast(target, x.dtype), x.shape)
    *outer, classes = x.array.shape
    matrix = [int(np.prod(outer)), classes]
    loss, _ = _cross_entropy(reshape(x, matrix), reshape(target, matrix))
    return reshape(loss, outer)
