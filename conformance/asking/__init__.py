"""Asking: workers, jobs, runs, and the records of what they answered."""
