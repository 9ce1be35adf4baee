"""The commands of the gradconf program; those that go together share a module."""
