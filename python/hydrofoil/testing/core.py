"""A server and its controls, on its loop: what every form of a test server calls."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from hydrofoil import engine
from hydrofoil.authentication.guests import Guests
from hydrofoil.clock import Chance, Clock, Reading
from hydrofoil.controls.conditions import Condition, State
from hydrofoil.controls.controls import Controls
from hydrofoil.controls.documents import Source, gather_documents
from hydrofoil.controls.explanation import Hints
from hydrofoil.controls.fault import Fault
from hydrofoil.controls.journal import Page
from hydrofoil.controls.record import Record
from hydrofoil.controls.waiting import within
from hydrofoil.controls.watching import WatchInfo
from hydrofoil.request import ADMIN
from hydrofoil.server.controlling import Controlling
from hydrofoil.server.kubeconfig_file import Credentials
from hydrofoil.server.run import Server as Running
from hydrofoil.server.run import StartError
from hydrofoil.storage.local import LocalLog
from hydrofoil.testing.facts import Facts, FaultState
from hydrofoil.testing.options import Given
from hydrofoil.testing.silence import SILENCE

MOVES = {"freeze": "freeze_by_moments", "advance": "advance_by_moments"}
"""The calls that move the clock, and those that do so moment by moment."""
Difference = tuple[str, bytes | None, bytes | None]


def begin_state(snapshot: Any) -> engine.Checkpoint | None:
    """Return the state to start with. Raise StartError with one line that names the file."""
    if snapshot is None:
        return None
    try:
        if isinstance(snapshot, bytes):
            return engine.Checkpoint.load(snapshot)
        return engine.Checkpoint.load(Path(snapshot).read_bytes())
    except OSError as e:
        raise StartError(f"cannot read the snapshot {snapshot}: {e.strerror or e}") from None
    except ValueError as e:
        raise StartError(f"cannot start with {snapshot}: {e}") from None


class Core:
    """One server from start to stop. All of it runs on the loop."""

    def __init__(self, given: Given) -> None:
        self.given = given
        self.clock = Clock()
        self.chance = Chance(given.seed)
        self.controls = Controls(self.clock, self.chance, given.clock)
        config = given.config
        # A test that names a mode asks what users may do; without one, a request needs no credentials.
        named = bool(config.authorization_mode or config.authorization_config)
        self.guests = Guests(strict=True, required=named)
        self.states: dict[int, engine.Checkpoint] = {}
        """The snapshots that a test holds, by number."""
        self._before: tuple[list[Fault], Reading] = [], self.clock.state()
        """The faults and the time at the beginning of a test."""
        self._numbers = 0
        self._running: Running | None = None
        self._controlling: Controlling | None = None

    @property
    def controlling(self) -> Controlling:
        """Return the acts of a test on the server. Raise RuntimeError unless it has started."""
        if self._controlling is None:
            raise RuntimeError("the server is not running")
        return self._controlling

    @property
    def running(self) -> Running:
        """Return the server. Raise RuntimeError unless it has started."""
        if self._running is None:
            raise RuntimeError("the server is not running")
        return self._running

    async def start(self) -> Facts:
        """Start, and return its properties. Raise StartError with one line; nothing is left behind then."""
        config, begin = self.given.config, begin_state(self.given.snapshot)
        log = None if config.data_dir or config.etcd_servers else LocalLog(begin)
        running = Running(config, log, self.clock, self.chance, self.controls, self.guests)
        SILENCE.begin()
        try:
            url = await running.start()
        except BaseException:
            SILENCE.end()
            raise
        self._running, self._controlling = running, running.controlling
        host, port = running.address
        ca = running.app.core.site.root_ca.decode() or None
        return Facts(url, host, port, ca, self.account(ADMIN.name, ADMIN.groups))

    async def stop(self) -> None:
        """Stop; again is no error."""
        running, self._running = self._running, None
        self._controlling = None
        self.states.clear()
        # No request is held back any longer.
        self.controls.faults.clear()
        if running is not None:
            try:
                await running.stop()
            finally:
                SILENCE.end()
        for timer in list(self.clock.timers):
            timer.cancel()

    async def settle(self) -> None:
        """Wait until the controllers are idle."""
        await self.running.settle()

    async def settle_after(self, name: str, *given: Any) -> Any:
        """Return the result of a plain call, once the controllers have done what it leads to.

        A clock is moved from moment to moment: the controllers see each of them.
        """
        if name in MOVES:
            await self.controlling.move(getattr(self, MOVES[name])(*given))
            return None
        result = getattr(self, name)(*given)
        if inspect.isawaitable(result):
            result = await result
        await self.settle()
        return result

    def account(self, name: str, groups: Sequence[str]) -> Credentials:
        """Return the credentials of a user."""
        return self.controlling.account(name, groups)

    async def apply(self, sources: Sequence[Source], namespace: str | None, status: bool) -> list[dict[str, Any]]:
        """Apply objects. Raise ApiError that names the file and the document, OSError for files."""
        documents = (
            await asyncio.to_thread(gather_documents, sources) if _has_files(sources) else gather_documents(sources)
        )
        return await self.controlling.apply(documents, namespace, status)

    async def act(self, name: str, *given: Any) -> Any:
        """Return the result of a method of `ObjectClient`. Raise ApiError and ValueError."""
        return await getattr(self.controlling.objects, name)(*given)

    def restart(self) -> None:
        """Let clients see a server that has started again."""
        self.controlling.restart()

    async def wait_for(self, object: str, condition: Condition, namespace: str, timeout: float) -> State:
        """Return an object once it meets a condition; None once it is deleted. Raise WaitTimeout."""
        return await self.controlling.waits.until(object, condition, namespace, timeout)

    async def open_wait(self, object: str, namespace: str, seconds: float) -> int | None:
        """Begin to look at an object, once its resource is served. Return the number for `next_state`; None: too late.

        Seconds are those of the machine; without any left it looks once.
        """
        found = await within(seconds, self.controlling.waits.open(object, namespace))
        return None if found is None else found[0]

    async def next_state(self, number: int, seconds: float) -> tuple[State] | None:
        """Return the next state of an object that is looked at; None if it did not come in time."""
        return await within(seconds, self.controlling.waits.next(number))

    async def wait_hints(self, object: str, namespace: str) -> Hints:
        """Return what is known about an object that was waited for in vain."""
        return await self.controlling.waits.hints(object, namespace)

    def close_wait(self, number: int) -> None:
        """Stop looking at an object."""
        if self._controlling is not None:
            self._controlling.waits.close(number)

    def snapshot(self) -> tuple[int, int]:
        """Take a snapshot; return its number and its revision."""
        self._numbers += 1
        state = self.states[self._numbers] = self.controls.snapshot()
        return self._numbers, state.revision

    def drop_snapshot(self, number: int) -> None:
        """Forget a snapshot."""
        self.states.pop(number, None)

    def saved(self, number: int) -> bytes:
        """Return a snapshot as a file has it."""
        return self.states[number].save()

    def save(self, number: int, path: str) -> None:
        """Write a snapshot to a file."""
        Path(path).write_bytes(self.saved(number))

    def restore(self, number: int) -> int:
        """Return to a snapshot; return the number of objects that differed."""
        return self.controls.restore(self.states[number])

    def reset(self) -> int:
        """Return to the state at readiness."""
        return self.controls.reset()

    def compact(self) -> None:
        """End the history."""
        self.controls.storage.compact()

    def now(self) -> datetime:
        """Return the time of the server."""
        return self.clock.now()

    def freeze(self, at: datetime | None) -> None:
        """Stop the clock."""
        self.clock.freeze(at)

    def advance(self, nanoseconds: int) -> None:
        """Move the clock forward."""
        self.clock.advance(nanoseconds)

    def freeze_by_moments(self, at: datetime | None) -> Iterator[None]:
        """Stop the clock, moment by moment."""
        return self.clock.freeze_by_moments(at)

    def advance_by_moments(self, nanoseconds: int) -> Iterator[None]:
        """Move the clock forward, moment by moment."""
        return self.clock.moments(nanoseconds)

    def run(self) -> None:
        """Let the clock run."""
        self.clock.run()

    def check_resources(self, given: Any) -> None:
        """Raise ValueError for a resource that is not served under that name."""
        self.controlling.check_resources(given)

    def add_fault(self, action: str, given: Mapping[str, Any]) -> int:
        """Add a fault; return its number. Raise TypeError and ValueError."""
        self.check_resources(given.get("resource"))
        return self.controls.faults.add(action, given).number

    def fault(self, number: int) -> FaultState | None:
        """Return a fault; None for one that was removed."""
        found = self.controls.faults.find(number)
        return None if found is None else FaultState(number, found.seen, found.hits, str(found))

    def remove_fault(self, number: int) -> None:
        """Remove a fault; again is no error."""
        found = self.controls.faults.find(number)
        if found is not None:
            self.controls.faults.remove(found)

    def all_faults(self) -> list[FaultState]:
        """Return the faults, the first added first."""
        return [FaultState(f.number, f.seen, f.hits, str(f)) for f in self.controls.faults]

    def clear_faults(self) -> None:
        """Remove all faults."""
        self.controls.faults.clear()

    def page(self, generation: int, stamp: int) -> Page:
        """Return what is new in the journal."""
        return self.controls.journal.page(generation, stamp)

    def clear_requests(self) -> None:
        """Empty the journal."""
        self.controls.journal.clear()

    def watches(self) -> list[WatchInfo]:
        """Return the open watches."""
        return [watch.show() for watch in self.controls.journal.open]

    def begin_test(self) -> tuple[int, int]:
        """Begin a test: without requests, the seed from its start. Return a snapshot to return to.

        Objects, faults and time that fixtures of wider scope made stay.
        """
        self.chance.restart()
        self.controls.journal.clear()
        self._before = list(self.controls.faults), self.clock.state()
        return self.snapshot()

    def seen(self, number: int) -> tuple[list[Record], int, list[Difference], list[WatchInfo]]:
        """Return what was seen since a snapshot: requests, dropped ones, differences and open watches."""
        journal = self.controls.journal
        return list(journal.records), journal.dropped, self.differences(number), self.watches()

    def unmatched_faults(self) -> list[str]:
        """Return the faults that a test added and no request matched; the removed ones are forgotten then."""
        return [fault.name for fault in self.controls.faults.unmatched(self._before[0])]

    async def end_test(self, number: int) -> tuple[list[Record], int, list[Difference], list[WatchInfo]]:
        """End a test: return what was seen of it, and the server to its state before it."""
        seen = self.seen(number)
        controls, (faults, time) = self.controls, self._before
        controls.faults.return_to(faults)
        controls.restore(self.states[number])
        self.clock.return_to(time)
        controls.journal.clear()
        await self.settle()
        # Controllers may have written meanwhile.
        controls.restore(self.states[number])
        return seen

    def differences(self, number: int) -> list[Difference]:
        """Return the objects that differ from a snapshot: resource, JSON now and then."""
        return self.controls.snapshot().differences(self.states[number])


def _has_files(sources: Sequence[Source]) -> bool:
    return any(not isinstance(source, dict | list | tuple) for source in sources)
