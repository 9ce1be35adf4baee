"""Verdicts: answers judged by their witnesses, known departures, and changes between runs."""
