"""Runs a command as on a kernel that lacks Landlock, namespaces, or both: a filter refuses them.

python -m tests.drivers.bare_kernel landlock,namespaces COMMAND [WORDS...]
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000
UNSHARE = {"x86_64": 272, "aarch64": 97}
CALLS = {
    "landlock": [(number, errno.ENOSYS) for number in (444, 445, 446)],
    "namespaces": [(UNSHARE.get(platform.machine(), 0), errno.EPERM)],
}
"""What the kernel says of a call that it does not have, or does not permit."""


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


def lack(calls: list[tuple[int, int]]) -> bool:
    """Have the kernel refuse these calls to this process and its children, each by its error."""
    rows = [(LOAD, 0, 0, 0)]  # the number of the call
    for number, error in calls:
        rows += [(EQUAL, 0, 1, number), (RETURN, 0, 0, REFUSE | error)]
    data = b"".join(struct.pack("HBBI", *row) for row in [*rows, (RETURN, 0, 0, ALLOW)])
    program = _Program(len(data) // 8, data)
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) == 0


if __name__ == "__main__":
    lacking, *command = sys.argv[1:]
    if not lack([call for name in lacking.split(",") for call in CALLS[name]]):
        sys.exit("this kernel filters no calls")
    os.execvp(command[0], command)
