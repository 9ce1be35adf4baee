"""Wrong targets: one mistake each; the suite must catch every one and outlive it."""
