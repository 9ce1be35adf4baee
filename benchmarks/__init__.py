"""The budgets of the suite, measured as ratios within one run."""
