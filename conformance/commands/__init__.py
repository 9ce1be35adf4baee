"""The commands of the gradconf program, one module each."""
