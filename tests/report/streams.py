"""Streams that tests print on: a terminal that is none, in any encoding."""

import io


class Stream(io.TextIOWrapper):
    """A text stream in memory that says whether it is a terminal."""

    def __init__(self, *, terminal=False, encoding="utf-8"):
        super().__init__(io.BytesIO(), encoding=encoding, newline="")
        self.terminal = terminal

    def isatty(self):
        return self.terminal

    @property
    def text(self):
        self.flush()
        return self.buffer.getvalue().decode(self.encoding)
