"""A target whose gradients are numbers of Python."""

from oracle_but import __getattr__, tape

GradientTape = tape(lambda right: right.numpy().item())
