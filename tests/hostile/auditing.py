"""The audited process as tests ask it: programs and scripts, and what they reached for."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import selectors
import subprocess
import sys
from pathlib import Path
from typing import Any

HAS_TENSORFLOW = importlib.util.find_spec("tensorflow") is not None
TARGET = "tensorflow" if HAS_TENSORFLOW else "reference_impl"
SECONDS = 60.0
FRESH = 2_000
"""Programs after which a new process is started: what frameworks keep would make it slow."""


class Auditor:
    """The audited process; it is started again where a program ends or stops it."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.asked = 0

    def ask(self, source: str, parameters: list[str]) -> dict[str, Any]:
        """What happened beneath a program; `outcome` is `lost` where the process did not answer."""
        request = {"cell": 1, "source": source, "parameters": parameters, "observe": ["g"]}
        return self._answer({**request, "name": "hostile", "mode": "eager", "convert": False})

    def run_script(self, name: str, script: str) -> dict[str, Any]:
        """What a whole script observed or raised, and what happened beneath it."""
        reply = self._answer({"name": name, "script": script}, 5 * SECONDS)
        assert reply["outcome"] != "lost", f"{name}: the process ended or did not answer"
        return reply

    def _answer(self, request: dict[str, Any], seconds: float = SECONDS) -> dict[str, Any]:
        process = self.process if self.process and self.process.poll() is None else self._started()
        line = self._line(process, request, seconds)
        self.asked += 1
        if not line or self.asked > FRESH:
            self.close()
        return json.loads(line) if line else {"outcome": "lost", "events": [], "internals": []}

    def _started(self) -> subprocess.Popen[bytes]:
        """A new process, which has imported its framework and run a program of nothing."""
        self.close()
        script = str(Path(__file__).with_name("audited_worker.py"))
        self.process = subprocess.Popen(
            [sys.executable, script, TARGET],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.asked = 0
        nothing = {"name": "nothing", "script": "observed = {}"}
        assert self._line(self.process, nothing, 10 * SECONDS), "the process does not start"
        return self.process

    def _line(
        self, process: subprocess.Popen[bytes], request: dict[str, Any], seconds: float
    ) -> bytes:
        assert process.stdin
        assert process.stdout
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
        with selectors.DefaultSelector() as waiting:
            waiting.register(process.stdout, selectors.EVENT_READ)
            return process.stdout.readline() if waiting.select(seconds) else b""

    def close(self) -> None:
        """End the process."""
        if self.process:
            self.process.kill()
            self.process.communicate()
            self.process = None
