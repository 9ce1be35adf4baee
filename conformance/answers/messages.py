"""Messages: what in one depends on the process that wrote it, and not on what it tells."""

from __future__ import annotations

import re

_COUNTED = re.compile(r"\b0x[0-9a-fA-F]+|(?<=_)[0-9]+|(?<=CustomGradient-)[0-9]+")
"""An address, or the number at the end of a name that a framework made up: it counts what ran."""


def uncounted(message: str) -> str:
    """The message with # for each address and counter.

    >>> uncounted("<Tensor object at 0x7f93474> of cond_true_1444_rewritten")
    '<Tensor object at #> of cond_true_#_rewritten'
    >>> uncounted("_gradient_op_type CustomGradient-10194")
    '_gradient_op_type CustomGradient-#'
    """
    return _COUNTED.sub("#", message)


def steady_start(message: str) -> str:
    """The message's first line as far as its first address or counter.

    >>> steady_start("no gradient of MatMul_12")
    'no gradient of MatMul_'
    """
    return _COUNTED.split(message.split("\n", 1)[0], maxsplit=1)[0]
