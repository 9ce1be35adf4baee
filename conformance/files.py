"""Files: where the suite's own are; those of users read within bounds, and written whole."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

STANDARD_INPUT = ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")


def data_folder(name: str) -> Path:
    """The folder of `cases`, `deviations`, `docs` or `examples`: in a wheel, or at the root.

    Only a checkout has one of `reports`.
    """
    package = Path(__file__).parent
    installed = package / "data" / name
    return installed if installed.is_dir() else package.parent / name


def cache_folder() -> Path:
    """Where is kept what can be made again: GRADCONF_CACHE, or gradconf in the user's cache.

    A user without a home has none: nothing can be written where this then points.
    """
    own, caches = (os.environ.get(name) for name in ("GRADCONF_CACHE", "XDG_CACHE_HOME"))
    if own:
        return Path(own)
    try:
        return Path(caches or Path.home() / ".cache") / "gradconf"
    except RuntimeError:
        return Path(os.devnull) / "gradconf"


def is_mine(path: Path) -> bool:
    """Whether a file belongs to this user, where files have owners. Errors: OSError."""
    return not hasattr(os, "getuid") or path.stat().st_uid == os.getuid()


def open_regular(path: Path) -> BinaryIO:
    """A regular file, or standard input, open for reading.

    Raises OSError for anything else: a pipe would make its reader wait, a device never ends.
    """
    if str(path) in STANDARD_INPUT:
        return path.open("rb")
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        kind = errno.EISDIR if path.is_dir() else errno.EINVAL
        words = os.strerror(kind) if kind == errno.EISDIR else "not a regular file"
        raise OSError(kind, words, str(path))
    return open(descriptor, "rb")


def read_bounded(path: Path, limit: int) -> bytes:
    """The bytes of a regular file. Raises OSError where there are more than `limit`."""
    with open_regular(path) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise OSError(errno.EFBIG, f"longer than {limit:,} bytes", str(path))
    return data


def write_whole(path: Path, text: str) -> None:
    """Write a file, compressed for .gz, or leave what stands there as it is. Errors: OSError.

    What is no regular file, such as a terminal, is written to directly.
    """
    place = Path(os.path.realpath(path))
    if place.exists() and not place.is_file():
        place.write_text(text, encoding="utf-8")
        return
    new = beside(place)
    try:
        data = text.encode()
        if place.suffix == ".gz":
            import gzip  # not at every start of the program

            data = gzip.compress(data, mtime=0)
        new.write_bytes(data)
        new.replace(place)
    except BaseException:
        with contextlib.suppress(OSError):
            new.unlink()
        raise


def beside(path: Path) -> Path:
    """A name beside a file, of this process alone, for what is to replace it."""
    return path.with_name(f".{path.name}.{os.getpid()}.new")
