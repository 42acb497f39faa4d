"""Additions of a run under chaos to a soak: the end of the faults, and the limits of the server's state after it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

from bench.soak.state import Soak

LIVEZ_SECONDS = 0.05
"""The time limit of 99 of 100 answers of `/livez`."""
GROWTH = 0.10
"""By how much memory may grow from the first minute to the end."""
REST_SECONDS = 15
"""The time limit of a server to release disconnected clients."""
BAD = ("never awaited", "never retrieved", "was destroyed but", "Exception in callback")


class Chaos:
    """The server with faults, and its state before the first client."""

    def __init__(self, server: subprocess.Popen[str]) -> None:
        self._server = server
        self.before = self.state()
        self.after: dict[str, Any] = {}
        self.latencies: list[float] = []

    def state(self) -> dict[str, Any]:
        """Return the state of the server, as it reports it."""
        os.kill(self._server.pid, signal.SIGUSR2)
        assert self._server.stdout is not None
        found: dict[str, Any] = json.loads(self._server.stdout.readline())
        return found

    def end(self) -> None:
        """Let nothing fail any more."""
        os.kill(self._server.pid, signal.SIGUSR1)

    async def rest(self, soak: Soak) -> None:
        """Wait until the server holds what it held before."""
        wrong: list[str] = []
        for _ in range(REST_SECONDS):
            await asyncio.sleep(1)
            self.after = await asyncio.to_thread(self.state)
            wrong = [
                f"{what}: {self.before[what]}, {self.after[what]}"
                for what in ("streams", "files")
                if self.after[what] > self.before[what]
            ]
            places = {p: n for p, n in self.after["tasks"].items() if n > self.before["tasks"].get(p, 0)}
            if sum(self.after["tasks"].values()) > sum(self.before["tasks"].values()):
                wrong.append(f"tasks: {places}")
            if not wrong:
                return
        for text in wrong:
            soak.fail(f"left behind: {text}")

    def check(self, soak: Soak, memory: list[int], log: str) -> None:
        """Note what must not be after a run."""
        slowest = sorted(self.latencies)[len(self.latencies) * 99 // 100] if self.latencies else 1.0
        if slowest > LIVEZ_SECONDS:
            soak.fail(f"the 99th percentile of /livez took {1000 * slowest:.0f} ms")
        first = memory[min(60, len(memory) - 1)]
        if memory[-1] > first * (1 + GROWTH):
            soak.fail(f"memory grew from {first >> 20} MiB after a minute to {memory[-1] >> 20} MiB")
        Path(os.environ.get("CHAOS_LOG", os.devnull)).write_text(log)
        for line in log.splitlines():
            if any(bad in line for bad in BAD):
                soak.fail(line[:500])
        if not self.after.get("faults"):
            soak.fail("no fault was made")

    def report(self) -> dict[str, Any]:
        """Figures of the run."""
        ordered = sorted(self.latencies) or [0.0]
        shown = {f"p{p}": round(1000 * ordered[min(len(ordered) - 1, len(ordered) * p // 100)], 2) for p in (50, 99)}
        shown["most"] = round(1000 * ordered[-1], 2)
        return {"faults": self.after.get("faults"), "places": self.after.get("places of faults"), "livez (ms)": shown}
