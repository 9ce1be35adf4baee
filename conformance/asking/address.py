"""Where a cluster's scheduler is, and whether the way there may be trusted."""

from __future__ import annotations

import ipaddress
import re

from conformance.closing import UsageError

LOCAL = "local"
"""A scheduler and nodes that are started on this machine, for one run."""
ADDRESS = re.compile(r"(?:(tcp|tls)://)?(\[[0-9a-fA-F:]+\]|[\w.-]+):([0-9]{1,5})")


def parse_address(word: str, *, insecure: bool = False) -> str:
    """The address of a scheduler, or `local`; raises UsageError.

    One on another machine has to be reached by TLS, or `insecure` says that it need not.

    >>> parse_address("127.0.0.1:8786")
    'tcp://127.0.0.1:8786'
    """
    if word == LOCAL:
        return word
    match = ADDRESS.fullmatch(word)
    if not match:
        raise UsageError(f"--cluster '{word}': write local, HOST:PORT or tls://HOST:PORT")
    scheme, host, port = match[1] or "tcp", match[2], match[3]
    if scheme == "tcp" and not insecure and not _is_loopback(host.strip("[]")):
        raise UsageError(
            f"--cluster {word}: whoever can read or write that network could run code on every"
            f" machine: write tls://{host}:{port}, or add --insecure"
        )
    return f"{scheme}://{host}:{port}"


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
