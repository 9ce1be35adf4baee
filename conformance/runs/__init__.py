"""Runs: cases and targets in, a stream of events and a record out."""
