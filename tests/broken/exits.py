"""A target that ends its process with an exit code and not a word."""

import os

from oracle_but import __getattr__, tape

GradientTape = tape(lambda right: os._exit(7))
