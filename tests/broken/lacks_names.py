"""A target that has little, and declares some of what it lacks."""

from __future__ import annotations

from reference_impl import GradientTape, constant, reduce_sum

GRADCONF_LACKS = ["Variable"]
__all__ = ["GRADCONF_LACKS", "GradientTape", "constant", "reduce_sum"]
