"""What judges the suite: numeric checks, mutants and null targets."""
