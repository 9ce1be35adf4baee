"""A target that reads address zero."""

import ctypes

from oracle_but import __getattr__, tape

GradientTape = tape(lambda right: ctypes.string_at(0))
