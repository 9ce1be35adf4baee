"""Faults: targets that misbehave, and a runner that is killed at random moments."""
