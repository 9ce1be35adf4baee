"""Numeric differentiation, which judges the suite: cases and oracle, not targets."""
