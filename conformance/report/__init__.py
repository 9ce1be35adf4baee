"""Reporting: events and records in, text, Markdown, JSON and JUnit out."""
