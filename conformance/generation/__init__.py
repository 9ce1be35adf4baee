"""What the suite makes by itself: mutants and null targets of the oracle."""
