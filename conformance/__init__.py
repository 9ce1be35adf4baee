"""The conformance suite for gradient tapes: cases, workers, judging, runs and reports."""

__version__ = "0.1.0"
