"""Measures what each turn of the event loop costs the server, in CPU time of its thread."""

from __future__ import annotations

import asyncio
import gc
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from hydrofoil.endpoints.connection import Connection
from hydrofoil.endpoints.tls import Session
from hydrofoil.pace import shares
from tests import machine

HANDLE: Any = asyncio.Handle
LOOP: Any = asyncio.BaseEventLoop
TESTS = str(Path(__file__).parent)
BOUND = float(os.environ.get("HYDROFOIL_TURN_MS", 4000 * shares.TURN)) / 1000
"""How long a turn may take, in seconds: the sum of its shares on a quiet machine, four times that on a busy one.

A machine that is slower at that moment has as much more.
"""


class Turns:
    """While it is entered, adds up what callbacks of the server cost in each turn; those of the test do not count.

    This is for the loop of the standard library: the handles of uvloop are its own, and have no place to measure.

    Collections of garbage do not count either: their cost is that of the test process's heap.
    """

    def __init__(self, bound: float = BOUND) -> None:
        self.bound = bound
        self.long: list[str] = []
        """The turns that took longer than the bound, and the callbacks run in them."""
        self._spent = 0.0
        self._costs: list[tuple[float, str]] = []
        self._collecting = 0.0
        self._collected = 0.0

    def __enter__(self) -> Self:
        run, turn = HANDLE._run, LOOP._run_once
        self._run, self._turn = run, turn
        turns = self

        def measured(handle: asyncio.Handle) -> None:
            name = served(handle)
            begun, collected = time.thread_time(), turns._collected
            run(handle)
            spent = time.thread_time() - begun - (turns._collected - collected)
            if name:
                turns._spent += spent
                turns._costs.append((spent, name))

        def once(loop: asyncio.BaseEventLoop) -> None:
            turns._spent, turns._costs = 0.0, []
            turn(loop)
            # The machine is measured at once, while it is what it was during the turn.
            if turns._spent > turns.bound and turns._spent > turns.bound * machine.slowness():
                shown = ", ".join(f"{1000 * s:.1f} ms {n}" for s, n in sorted(turns._costs, reverse=True)[:5])
                turns.long.append(f"a turn of {1000 * turns._spent:.1f} ms: {shown}")

        HANDLE._run = measured
        LOOP._run_once = once
        gc.callbacks.append(self._collect)
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, at: TracebackType | None) -> None:
        HANDLE._run = self._run
        LOOP._run_once = self._turn
        gc.callbacks.remove(self._collect)

    def _collect(self, phase: str, _: dict[str, int]) -> None:
        if phase == "start":
            self._collecting = time.thread_time()
        else:
            self._collected += time.thread_time() - self._collecting


def served(handle: Any) -> str:
    """Return a callback's part in the server; empty for the test's own."""
    callback = handle._callback
    subject = getattr(callback, "__self__", None)
    if isinstance(subject, asyncio.Task):
        coroutine: Any = subject.get_coro()
        code, frame = getattr(coroutine, "cr_code", None), getattr(coroutine, "cr_frame", None)
        if code is None or frame is None:
            return ""
        ours = "/hydrofoil/" in code.co_filename and not code.co_filename.startswith(TESTS)
        # Every request is answered in the task of its connection; services of the tests have connections too.
        if code.co_filename.endswith("aiohttp/web_protocol.py"):
            ours = isinstance(frame.f_locals.get("self"), Connection)
        return str(code.co_qualname) if ours else ""
    if isinstance(subject, asyncio.Transport):
        return "reading" if isinstance(subject.get_protocol(), Connection | Session) else ""
    module = getattr(callback, "__module__", None) or ""
    return getattr(callback, "__qualname__", repr(callback)) if module.startswith("hydrofoil.") else ""


@contextmanager
def short_turns(bound: float = BOUND) -> Iterator[Turns]:
    """Fail when a turn of the loop took longer than the bound."""
    with Turns(bound) as turns:
        yield turns
    assert not turns.long, "\n".join(turns.long)
