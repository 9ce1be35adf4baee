"""A target that ends its process with not a word and exit code 0, as if all were well."""

import os

from oracle_but import __getattr__, tape

GradientTape = tape(lambda right: os._exit(0))
