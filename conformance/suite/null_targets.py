"""Null targets: TensorFlow's names over the oracle, and gradients that know nothing.

Runs in a worker, by path: `null_targets.py:zeros`. What such a target passes is what a case would
say of any implementation at all.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import reference_impl

tf: Any = reference_impl

Answer = Callable[[Any, Any, Any], Any]
"""From the first target, a tensor like the right answer, and the first output gradient."""


class NullTarget:
    """The oracle's namespace with another answer to every derivative."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self.GradientTape = _tape(answer)
        self.autodiff = SimpleNamespace(
            GradientTape=self.GradientTape, ForwardAccumulator=_accumulator(answer)
        )

    def __getattr__(self, name: str) -> Any:
        return getattr(tf, name)

    def gradients(self, ys: Any, xs: Any, grad_ys: Any = None, *rest: Any, **more: Any) -> Any:
        """The null answer for every x."""
        first, upstream = _first(ys), _upstream(ys, grad_ys)
        return [self._answer(first, x, upstream) for x in tf.nest.flatten(xs)]

    def hessians(self, ys: Any, xs: Any, *rest: Any, **more: Any) -> Any:
        """The null answer for every x, in the shape of a hessian."""
        likes = [_like(x, x.shape, x.shape) for x in tf.nest.flatten(xs)]
        return self.gradients(ys, likes)


class ZeroTarget(NullTarget):
    """Answers zeros for the value of every operation too, so that it is its own derivative."""

    def __getattr__(self, name: str) -> Any:
        return _zeroed(super().__getattr__(name))


def _zeroed(found: Any) -> Any:
    """An operation that computes nothing; what is none stays."""
    if isinstance(found, SimpleNamespace):
        return SimpleNamespace(**{name: _zeroed(one) for name, one in vars(found).items()})
    if not getattr(found, "__module__", "").startswith("reference_impl.ops."):
        return found

    def operation(*args: Any, **kwargs: Any) -> Any:
        return tf.nest.map_structure(_zero, found(*args, **kwargs))

    return operation


def _zero(value: Any) -> Any:
    return tf.zeros_like(value) if isinstance(value, tf.Tensor) else value


def _tape(answer: Answer) -> type:
    class GradientTape(reference_impl.GradientTape):
        """Answers without looking at what it recorded."""

        def gradient(
            self, target: Any, sources: Any, output_gradients: Any = None, *rest: Any, **more: Any
        ) -> Any:
            """The null answer for every source."""
            first, upstream = _first(target), _upstream(target, output_gradients)
            return tf.nest.map_structure(lambda s: answer(first, s, upstream), sources)

        def jacobian(self, target: Any, sources: Any, *rest: Any, **more: Any) -> Any:
            """The null answer for every source, in the shape of a jacobian."""
            return tf.nest.map_structure(
                lambda s: answer(target, _like(s, target.shape, s.shape), _ones_like(target)),
                sources,
            )

        def batch_jacobian(self, target: Any, source: Any, *rest: Any, **more: Any) -> Any:
            """The null answer, in the shape of a batch jacobian."""
            like = _like(source, target.shape, source.shape[1:])
            return answer(target, like, _ones_like(target))

    return GradientTape


def _accumulator(answer: Answer) -> type:
    class ForwardAccumulator(tf.autodiff.ForwardAccumulator):  # type: ignore[misc]
        """Answers without looking at what it computed."""

        def jvp(self, primals: Any, *rest: Any, **more: Any) -> Any:
            """The null answer for every primal."""
            return tf.nest.map_structure(lambda p: answer(p, p, _ones_like(p)), primals)

    return ForwardAccumulator


def _first(structure: Any) -> Any:
    return next(iter(tf.nest.flatten(structure)), None)


def _upstream(target: Any, given: Any) -> Any:
    return _ones_like(_first(target)) if given is None else _first(given)


def _like(source: Any, *shapes: Any) -> Any:
    return tf.zeros([n for shape in shapes for n in shape], source.dtype)


def _ones_like(x: Any) -> Any:
    if x is None:
        return None
    return tf.zeros_like(x) if x.dtype == "string" else tf.ones_like(x)


def _nan_like(x: Any) -> Any:
    return tf.ones_like(x) * float("nan") if x.dtype.is_floating else _ones_like(x)


def _raise(target: Any, like: Any, upstream: Any) -> Any:
    raise RuntimeError("this target differentiates nothing")


none = NullTarget(lambda target, like, upstream: None)
zeros = NullTarget(lambda target, like, upstream: tf.zeros_like(like))
ones = NullTarget(lambda target, like, upstream: _ones_like(like))
nan = NullTarget(lambda target, like, upstream: _nan_like(like))
raises = NullTarget(_raise)
zero_operations = ZeroTarget(lambda target, like, upstream: tf.zeros_like(like))
returns_target = NullTarget(lambda target, like, upstream: target)
returns_upstream = NullTarget(lambda target, like, upstream: upstream)
