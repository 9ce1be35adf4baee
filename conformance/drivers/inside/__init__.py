"""The self-contained worker: CPython 3.9, the standard library, numpy and one framework."""
