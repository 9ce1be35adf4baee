"""A target whose answer is an array of a terabyte, held in four bytes."""

import numpy as np
from oracle_but import __getattr__, tape

GradientTape = tape(lambda right: np.broadcast_to(np.float32(6.0), (2**38,)))
