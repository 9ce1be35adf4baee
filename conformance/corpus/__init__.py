"""The case language, the corpus that is written in it, and choosing from it."""
