"""The kit: TensorFlow's shape over another framework, of which an adapter says four things.

It runs in the framework's process, on CPython 3.9, NumPy and the framework alone. It keeps what a
tape has seen, asks the framework for the derivative of one operation after another, and knows none.
"""

from kit.backend import Backend, Lacks
from kit.names import Namespace

__all__ = ["Backend", "Lacks", "Namespace"]
