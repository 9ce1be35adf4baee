"""A target that declares that its tensors are NumPy arrays."""

from answers_numpy import GradientTape, __getattr__

GRADCONF_NUMPY_TENSORS = True
