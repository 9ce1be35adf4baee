"""A target whose gradients are NumPy arrays, which it does not declare."""

from oracle_but import __getattr__, tape

GradientTape = tape(lambda right: right.numpy())
