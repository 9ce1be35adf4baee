"""The case language: what a case is, how it is read, checked and lowered. YAML and stdlib."""
