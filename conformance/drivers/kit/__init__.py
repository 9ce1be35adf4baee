"""The kit: TensorFlow's shape over another framework, of which an adapter says four things.

An adapter is a module with a `backend`. It runs in the framework's process, on CPython 3.9, NumPy
and the framework alone. Its answers are the framework's: the kit keeps what a tape has seen, asks
the framework for the derivative of one operation after another, and knows no derivative itself.
"""

from kit.backend import Backend, Lacks
from kit.names import Namespace

__all__ = ["Backend", "Lacks", "Namespace"]
