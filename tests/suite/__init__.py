"""Tests of what the suite makes by itself: mutants and null targets."""
