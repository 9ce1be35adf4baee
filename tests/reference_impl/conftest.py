"""Every test leaves the recorders as it found them: none active, also after an exception."""

from collections.abc import Iterator

import pytest

from reference_impl import recording


@pytest.fixture(autouse=True)
def _no_recorder_is_left_behind() -> Iterator[None]:
    yield
    thread = recording.thread
    left = (len(thread.recorders), thread.stopped, thread.quiet)
    thread.__init__()  # type: ignore[misc]  # the next test is innocent
    assert left == (0, False, False)
