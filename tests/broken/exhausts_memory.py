"""A target that takes all the memory that there is: no more than two gigabytes, for the machine."""

import resource

from oracle_but import __getattr__, tape


def exhaust(right):
    with open("/proc/self/statm") as file:
        in_use = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (in_use + 2 * 1024**3,) * 2)
    return bytes(1024**4)


GradientTape = tape(exhaust)
