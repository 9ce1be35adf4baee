"""The error of words that cannot be obeyed."""


class UsageError(Exception):
    """What a user wrote cannot be obeyed; the message says what to write instead, one line each."""
