"""Answers: what a target gave, as typed values, and the one comparison of them."""
