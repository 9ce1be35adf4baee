"""A Dask cluster: its scheduler, its nodes, and how it is lost."""

from __future__ import annotations

import logging

from conformance.asking.address import LOCAL
from conformance.closing import UsageError
from conformance.text import clean

CONNECT = 10.0
"""Seconds for a scheduler to answer."""
WAIT = 30.0
"""Seconds for a first node to join, and for another one where the last is gone."""


class ClusterLost(Exception):
    """The cluster cannot be asked any more; the message says why."""


class Cluster:
    """The nodes behind a scheduler. Close it, and a local one ends."""

    def __init__(self, address: str, nodes: int) -> None:
        """Connect to a scheduler, or start a `local` one with so many nodes.

        Raises UsageError where none answers, or it has no node.
        """
        try:
            from distributed import Client, LocalCluster
        except ImportError as error:
            raise UsageError(
                f"--cluster needs Dask's scheduler: pip install 'gradconf[cluster]' ({error})"
            ) from error
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
        self.shares = nodes if address == LOCAL else 1
        """The nodes of one machine, which share its memory."""
        self.answered: set[str] = set()
        """The nodes that answered something."""
        self._local = None
        try:
            if address == LOCAL:
                self._local = LocalCluster(
                    n_workers=nodes,
                    threads_per_worker=1,
                    host="127.0.0.1",
                    dashboard_address="127.0.0.1:0",  # any free port, on which nothing is shown
                    scheduler_kwargs={"dashboard": False},
                )
            self.client = Client(self._local or address, timeout=CONNECT)
            self.address = address
            self.client.wait_for_workers(1, timeout=WAIT)
        except (OSError, ValueError, TypeError) as error:
            self.close()
            raise UsageError(f"--cluster {address}: {clean(str(error))}") from error

    def close(self) -> None:
        """Leave the cluster."""
        for one in (getattr(self, "client", None), self._local):
            if one is not None:
                one.close()

    def threads(self) -> dict[str, int]:
        """How many threads each node has, by its address. Errors: ClusterLost."""
        try:
            return dict(self.client.nthreads()) if self.client.status == "running" else {}
        except OSError as error:
            raise self.lost(clean(str(error))) from error

    def lost(self, why: str) -> ClusterLost:
        """The error to raise where it cannot be asked any more."""
        return ClusterLost(f"the cluster {self.address} is lost: {why}")
