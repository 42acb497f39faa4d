"""Requests and measurements against one server, until SIGINT."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NamedTuple

import orjson

from hydrofoil import engine
from hydrofoil.bench.failure import INTERRUPTED, Stopped, Unreachable, mend, unreachable
from hydrofoil.bench.options import LoadOptions
from hydrofoil.bench.processes import Usage, usage
from hydrofoil.clock import stopwatch

JSON = "application/json"
LOOK = 0.05
"""Seconds between two looks at a measurement."""
SAMPLE = 0.25
SAMPLES = 240
"""The number of samples of a long measurement."""
ATTEMPTS = 4
"""How often in a row a request may be lost before the server has ever answered."""
PATIENCE = 10.0
"""Seconds without any event after which the rest is lost."""
Part = dict[str, Any]


class Sample(NamedTuple):
    """A moment of a measurement."""

    t: float
    per_second: float
    p50_ms: float | None
    p99_ms: float | None
    cpu_percent: float | None
    rss_mb: float | None


class Measured(NamedTuple):
    """The outcome of a measurement, and its cost."""

    outcome: dict[str, Any]
    samples: list[Sample]
    server: Usage | None
    """CPU seconds and greatest memory of the server."""
    client: float
    """CPU seconds of this process."""


Watcher = Callable[[float, Sample], None]
"""Called with the share of the measurement that is over, and the last sample."""


@contextmanager
def interruptible(*sessions: Session) -> Iterator[None]:
    """Note the first SIGINT or SIGTERM, so that everything is cleaned up; end at once at the second."""
    signals = 0

    def note(_number: int, _frame: FrameType | None) -> None:
        # The flag is not asked: it is down while everything is removed.
        nonlocal signals
        signals += 1
        if signals > 1:
            os._exit(INTERRUPTED)
        for session in sessions:
            session.interrupted = True

    try:
        before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:
        # Not in the main thread: the caller has the signals.
        yield
        return
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Session:
    """A server, and the namespace and label of a run."""

    def __init__(self, target: engine.ClientTarget, load: LoadOptions, run: str, pids: tuple[int, ...] = ()) -> None:
        self.target = target
        self.load = load
        self.run = run
        self.namespace = load.namespace or f"hydrofoil-bench-{run}"
        self.pids = pids
        self.interrupted = False
        self._met = False
        """Whether the server has ever answered."""

    def plan(self, parts: list[Part], **changed: Any) -> bytes:
        """Return the plan of a run of the client."""
        plan = {
            "parts": parts,
            "resource": self.load.resource,
            "namespace": self.namespace,
            "run": self.run,
            "objects": self.load.objects,
            "size": self.load.size,
            "seconds": self.load.duration,
            "rate": 0.0,
            "encoding": "json",
            "gzip": False,
            "patience": PATIENCE,
        }
        return orjson.dumps({**plan, **changed})

    def call(
        self, method: str, path: str, body: Any = None, media: str = JSON, accept: str = JSON
    ) -> tuple[int, bytes]:
        """Send one request; return status and body. Raise Stopped if there is no answer, or SIGINT precedes it."""
        sent = "" if body is None else orjson.dumps(body).decode()
        part = {
            "part": "call",
            "method": method,
            "path": path,
            "accept": accept,
            "media": media if sent else "",
            "body": sent,
        }
        plan = self.plan([part], seconds=0, **({} if self._met else {"attempts": ATTEMPTS}))
        run = engine.ClientRun(self.target, plan)
        run.go()
        before, phase = self.interrupted, run.wait("", 0)
        while phase != "over":
            phase = run.wait(phase, LOOK)
            if self.interrupted and not before:
                run.stop()
        outcome, answer = run.outcome()
        self._met = self._met or answer is not None
        if answer is None and self.interrupted and not before:
            raise Stopped("interrupted before an answer", "run it again", INTERRUPTED)
        if answer is None:
            raise Unreachable(*unreachable(str(orjson.loads(outcome)["error"])))
        return answer

    def get(self, path: str, accept: str = JSON) -> Any:
        """Return an object, or None if there is none. Raise Stopped for any other answer."""
        status, body = self.call("GET", path, accept=accept)
        if status == 404:
            return None
        if status != 200:
            raise Stopped(f"GET {path}: status {status}: {message(body)}", mend(status, body))
        try:
            found = orjson.loads(body)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise Stopped(f"GET {path}: no object: {message(body)}", mend(status, body))
        return found

    def metas(self, path: str, accept: str = JSON) -> list[dict[str, Any]]:
        """Return the metadata of the objects of a list, which must have names, uids and versions. Raise Stopped."""
        listed = self.get(path, accept) or {}
        try:
            metas = [item["metadata"] for item in listed["items"] or ()]
            if all(isinstance(meta[name], str) for meta in metas for name in ("name", "uid", "resourceVersion")):
                return metas
        except (TypeError, KeyError):
            pass
        raise Stopped(f"GET {path}: no list of objects", mend(404))

    def _until(self, run: engine.ClientRun, phase: str) -> None:
        """Wait for a phase; signals are handled meanwhile."""
        known = ("opening", "ready", "running", "closing", "over")
        now = run.wait("", 0)
        while known.index(now) < known.index(phase):
            now = run.wait(now, LOOK)

    def measure(self, parts: list[Part], watcher: Watcher | None = None, **changed: Any) -> Measured:
        """Run parts side by side, and sample them. SIGINT ends the run."""
        run = engine.ClientRun(self.target, self.plan(parts, **changed))
        phase = run.wait("", 0)
        while phase == "opening":
            phase = run.wait(phase, LOOK)
            if self.interrupted:
                run.stop()
        began, mine = usage(self.pids), time.process_time()
        run.go()
        samples, peak = self._follow(run, began, changed.get("seconds", self.load.duration), watcher)
        ended, spent = usage(self.pids), time.process_time() - mine
        self._until(run, "over")
        outcome, _ = run.outcome()
        server = Usage(ended.cpu - began.cpu, max(peak, ended.rss)) if self.pids else None
        return Measured(orjson.loads(outcome), samples, server, spent)

    def _follow(
        self, run: engine.ClientRun, began: Usage, seconds: float, watcher: Watcher | None
    ) -> tuple[list[Sample], float]:
        """Return samples and the greatest memory, once the measurement has ended."""
        samples: list[Sample] = []
        step = max(min(SAMPLE, seconds / 4), seconds / SAMPLES, LOOK)
        last, used, peak, start = (0.0, 0), began, began.rss, stopwatch()
        phase = run.wait("", 0)
        while phase in ("ready", "running"):
            phase = run.wait(phase if phase == "running" else "opening", LOOK)
            if self.interrupted:
                run.stop()
            if self.pids:
                peak = max(peak, usage(self.pids).rss)
            over = phase not in ("ready", "running")
            if stopwatch() - start < step * (len(samples) + 1) and not (over and not samples):
                continue
            _, _, ops, at, _, _, latency = run.progress()
            if at <= last[0]:
                continue
            now, wide = usage(self.pids), at - last[0]
            p50, p99 = latency or (None, None)
            cpu = round((now.cpu - used.cpu) / wide * 100, 1) if self.pids else None
            rss = round(now.rss, 1) if self.pids else None
            samples.append(Sample(round(at, 3), round((ops - last[1]) / wide, 1), p50, p99, cpu, rss))
            last, used = (at, ops), now
            if watcher is not None:
                watcher(min(at / seconds, 1.0) if seconds else 1.0, samples[-1])
        return samples, peak


def meta(found: dict[str, Any] | None) -> dict[str, Any]:
    """Return the metadata of an object; empty without any."""
    inside = (found or {}).get("metadata")
    return inside if isinstance(inside, dict) else {}


def uid(body: bytes, what: str) -> str:
    """Return the uid of the answer to a creation. Raise Stopped."""
    try:
        return str(orjson.loads(body)["metadata"]["uid"])
    except (ValueError, TypeError, KeyError):
        raise Stopped(f"the creation of {what}: no object: {message(body)}", mend(404)) from None


def message(body: bytes) -> str:
    """Return the message of a Status, or the start of another body."""
    try:
        found = orjson.loads(body)["message"]
    except (ValueError, TypeError, KeyError):
        found = None
    if body.lstrip()[:1] == b"<":
        return "the answer is a page, and no Status"
    return found if isinstance(found, str) else body[:300].decode(errors="replace").strip() or "an empty body"
