"""Confinement: what a target's process may not reach, with whatever the platform has for it.

A target is somebody else's program, and so are the cases that it runs. Namespaces and Landlock are
Linux's; where one of them is not permitted, the others still hold. `held` says what does.
"""

import contextlib
import ctypes
import glob
import os
import resource
import sys

CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
PR_SET_NO_NEW_PRIVS = 38
LANDLOCK_CREATE_RULESET, LANDLOCK_ADD_RULE, LANDLOCK_RESTRICT_SELF = 444, 445, 446
LANDLOCK_CREATE_RULESET_VERSION = 1
LANDLOCK_RULE_PATH_BENEATH = 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
TRUNCATE, IOCTL_DEV = 1 << 14, 1 << 15
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
"""The rights that a file can have; the others are a folder's."""
READ = EXECUTE | READ_FILE | READ_DIR
RIGHTS = {1: 1 << 13, 2: 1 << 14, 3: 1 << 15, 5: 1 << 16}
"""Up to which right each version of Landlock knows them."""
TCP = 3
SCOPED = 3
"""Connecting and binding; abstract sockets of others, and signals to them."""
SYSTEM = (
    *("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/opt", "/nix", "/proc", "/sys"),
    *("/etc/ld.so.cache", "/etc/localtime", "/etc/passwd", "/etc/group", "/etc/hosts"),
    *("/etc/nsswitch.conf", "/etc/os-release", "/etc/ssl", "/etc/alternatives"),
)
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")
ACCELERATORS = ("/dev/nvidia*", "/dev/dri", "/dev/kfd")
MAX_FILE_SIZE = 256 * 1024 * 1024
MAX_FILES = 4096
MAX_PROCESSES = 2048
"""More than a user's that are there already."""


def enter_namespaces() -> list:
    """Have this process's children in namespaces of their own; what of them is permitted."""
    if not sys.platform.startswith("linux"):
        return []
    user, group = os.getuid(), os.getgid()
    if not _unshare(CLONE_NEWPID | CLONE_NEWNET):
        if not _unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET):
            return []
        maps = {"setgroups": "deny", "uid_map": f"{user} {user} 1", "gid_map": f"{group} {group} 1"}
        for name, text in maps.items():
            with contextlib.suppress(OSError), open(f"/proc/self/{name}", "w") as file:
                file.write(text)
    return ["processes", "network"]


def _unshare(flags: int) -> bool:
    return ctypes.CDLL(None, use_errno=True).unshare(flags) == 0


def confine(limits: dict, readable: list) -> list:
    """Confine this process and its children for good; what holds.

    `limits` has the `folder` that it may write to and the bytes of `memory` that it may have;
    `readable` is what it may read beside the interpreter, its modules and the system.
    """
    folder = limits["folder"]
    for name in ("HOME", "TMPDIR", "KERAS_HOME", "XDG_CACHE_HOME", "MPLCONFIGDIR"):
        os.environ[name] = folder
    held = [name for name, bound in _bounds(limits).items() if _bound(*bound)]
    readable = [*readable, *_interpreters_own(), *SYSTEM]
    return held + (_landlock(folder, readable) if sys.platform.startswith("linux") else [])


def _bounds(limits: dict) -> dict:
    bounds = {
        "memory": (resource.RLIMIT_DATA, limits["memory"]),
        "file size": (resource.RLIMIT_FSIZE, MAX_FILE_SIZE),
        "open files": (resource.RLIMIT_NOFILE, MAX_FILES),
    }
    if os.getuid():  # of root no process is refused
        bounds["number of processes"] = (resource.RLIMIT_NPROC, _processes() + MAX_PROCESSES)
    return bounds


def _bound(what: int, most: int) -> bool:
    hard = resource.getrlimit(what)[1]
    most = most if hard == resource.RLIM_INFINITY else min(hard, most)
    try:
        resource.setrlimit(what, (most, most))
    except (OSError, ValueError):
        return False
    return True


def _processes() -> int:
    """The processes and threads that there are."""
    with open("/proc/loadavg") as file:
        return int(file.read().split()[3].split("/")[1])


def _interpreters_own() -> list:
    """The folders of the interpreter and of all that it can import."""
    own = [sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix]
    own += [os.path.dirname(os.path.realpath(sys.executable)), os.path.dirname(__file__)]
    own += [path for path in sys.path if path]
    own += os.environ.get("LD_LIBRARY_PATH", "").split(":")
    for finder in sys.meta_path:  # packages that are installed to be edited
        mapping = getattr(sys.modules.get(getattr(finder, "__module__", "")), "MAPPING", {})
        own += mapping.values() if isinstance(mapping, dict) else []
    return [path for path in own if path]


class _Ruleset(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("files", "network", "scoped")]


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed", ctypes.c_uint64), ("descriptor", ctypes.c_int32)]


def _landlock(folder: str, readable: list) -> list:
    """Allow this process these files alone, and no network; what of it the kernel knows."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    version = libc.syscall(LANDLOCK_CREATE_RULESET, None, 0, LANDLOCK_CREATE_RULESET_VERSION)
    if version < 1:
        return []
    every = RIGHTS[max(known for known in RIGHTS if known <= version)] - 1
    attributes = _Ruleset(every, TCP if version >= 4 else 0, SCOPED if version >= 6 else 0)
    size = 8 if version < 4 else 16 if version < 6 else 24
    rules = libc.syscall(LANDLOCK_CREATE_RULESET, ctypes.byref(attributes), size, 0)
    if rules < 0:
        return []
    devices = [*DEVICES, *(path for name in ACCELERATORS for path in glob.glob(name))]
    allowed = [(path, READ) for path in readable] + [(path, every) for path in [folder, *devices]]
    for path, rights in allowed:
        with contextlib.suppress(OSError):
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
            own = rights & every & (-1 if os.path.isdir(path) else OF_FILES)
            rule = _PathBeneath(own, descriptor)
            libc.syscall(
                LANDLOCK_ADD_RULE, rules, LANDLOCK_RULE_PATH_BENEATH, ctypes.byref(rule), 0
            )
            os.close(descriptor)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    confined = libc.syscall(LANDLOCK_RESTRICT_SELF, rules, 0) == 0
    os.close(rules)
    return ["files", *(["TCP"] if version >= 4 else [])] if confined else []
