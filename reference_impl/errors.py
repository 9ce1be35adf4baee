"""The errors that a user of the oracle can meet, with TensorFlow's names and texts.

Errors of the tape's life cycle are plain `RuntimeError`, `ValueError` and `TypeError`, as in
TensorFlow; they are raised where they arise, in `tape.py` and `custom_gradient.py`.
"""

from __future__ import annotations


class OpError(Exception):
    """An operation refused its inputs; `message` is TensorFlow's text without device names."""

    def __init__(self, message: str, op_type: str | None = None) -> None:
        self.message = message if op_type is None else f"{message} [Op:{op_type}]"
        super().__init__(self.message)


class InvalidArgumentError(OpError):
    """Wrong dtype, shape or value: the commonest error of an operation."""


class OutOfRangeError(OpError):
    """An index or a queue beyond its end."""


class InternalError(OpError):
    """TensorFlow raises it inside a graph; eager execution, and so the oracle, never does."""


class UnimplementedError(OpError):
    """TensorFlow raises it under XLA; the oracle never does."""


def missing_gradient(op_type: str) -> LookupError:
    """Return the error of walking through an operation that has no rule (part 1, line 112)."""
    return LookupError(f"gradient registry has no entry for: {op_type}")


def no_gradient_defined(op_type: str) -> LookupError:
    """Return the error of differentiating a function through an operation that has no rule."""
    return LookupError(
        f"No gradient defined for operation'{op_type}' (op type: {op_type}). In general every "
        "operation must have an associated `@tf.RegisterGradient` for correct autodiff, which "
        "this op is lacking. If you want to pretend this operation is a constant in your program, "
        "you may insert `tf.stop_gradient`."
    )
