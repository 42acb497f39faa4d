"""Clients on their way from the port to a worker."""

from __future__ import annotations

import array
import asyncio
import errno
import logging
import socket
from collections.abc import Callable, Iterable
from functools import partial

from hydrofoil import engine

LOG = logging.getLogger("hydrofoil")
CLOSED = 0
"""The counter of connections that workers have closed, which memory has a share of for each."""
MOST_ACCEPTED = 32
"""The number of clients accepted in one turn of the loop: some ten microseconds each."""
RETRY_SECONDS = 0.1
"""The wait for descriptors, or for a worker, when there are none."""
EXHAUSTED = frozenset((errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM))


class Place:
    """A worker as the dispatcher sees it."""

    def __init__(self, slot: int, end: socket.socket) -> None:
        self.slot = slot
        self.end = end
        self.sent = 0
        """How many clients it was handed."""


class Dispatcher:
    """Accept clients, and hand each to the worker with the fewest open connections.

    The kernel's own balance, by the hash of addresses, leaves some workers with twice as many long watches as others,
    and has clients wait at a worker that has ended.
    """

    def __init__(self, listener: socket.socket, region: engine.Region, places: Callable[[], Iterable[Place]]) -> None:
        self._listener = listener
        self._region = region
        self._places = places
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._open = True

    def start(self) -> None:
        """Accept from now on."""
        if self._open:
            self._timer = None
            self._loop.add_reader(self._listener.fileno(), self._accept)

    def close(self) -> None:
        """Accept no more."""
        if not self._open:
            return
        self._open = False
        if self._timer is not None:
            self._timer.cancel()
        self._loop.remove_reader(self._listener.fileno())

    def _pause(self) -> None:
        self._loop.remove_reader(self._listener.fileno())
        self._timer = self._loop.call_later(RETRY_SECONDS, self.start)

    def _accept(self) -> None:
        for _ in range(MOST_ACCEPTED):
            places = sorted(self._places(), key=self._load)
            if not places:
                self._pause()
                return
            try:
                client, _ = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as e:
                if e.errno in EXHAUSTED:
                    LOG.error("cannot accept clients: %s", e.strerror)
                self._pause()
                return
            with client:
                if not any(self._hand_over(client, place) for place in places):
                    LOG.error("a client was refused: no worker takes connections")

    def _load(self, place: Place) -> tuple[int, int]:
        # Of several that have equally many, the one that has had the fewest: short connections are spread, too.
        return place.sent - self._region.count(CLOSED, place.slot), place.sent

    def _hand_over(self, client: socket.socket, place: Place) -> bool:
        try:
            socket.send_fds(place.end, [b"\0"], [client.fileno()], socket.MSG_DONTWAIT)
        except OSError:
            # It has ended, or stands still with its queue full.
            return False
        place.sent += 1
        return True


class Receiver:
    """Take the clients that the owner hands over."""

    def __init__(self, end: socket.socket, region: engine.Region) -> None:
        self._end = end
        self._region = region
        self._tasks: set[asyncio.Task[None]] = set()
        """The loop holds no task by itself."""
        end.setblocking(False)

    def start(self, make: Callable[[], asyncio.BaseProtocol]) -> None:
        """Take clients from now on; `make` returns the protocol of each."""
        self._loop = asyncio.get_running_loop()
        self._make = make
        self._loop.add_reader(self._end.fileno(), self._receive)

    def close(self) -> None:
        """Take no more. The owner may close first."""
        if self._end.fileno() >= 0:
            self._loop.remove_reader(self._end.fileno())
            self._end.close()

    def _receive(self) -> None:
        for _ in range(MOST_ACCEPTED):
            try:
                data, ancillary, _, _ = self._end.recvmsg(1, socket.CMSG_LEN(4), socket.MSG_CMSG_CLOEXEC)
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                data, ancillary = b"", []
            if not data:
                self.close()
                return
            for level, kind, content in ancillary:
                if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                    for descriptor in array.array("i", content):
                        self._begin(Client(fileno=descriptor))

    def _begin(self, client: Client) -> None:
        client.ended = partial(self._region.add, CLOSED, 1)
        client.setblocking(False)
        task = self._loop.create_task(self._connect(client))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _connect(self, client: Client) -> None:
        # A client that has gone meanwhile is none.
        try:
            await self._loop.connect_accepted_socket(self._make, client)
        except OSError:
            client.close()


class Client(socket.socket):
    """The socket of a client, whose end counts. Loops close it, or take its descriptor from it to close that."""

    ended: Callable[[], None] | None = None

    def close(self) -> None:
        """Close it."""
        super().close()
        self._count()

    def detach(self) -> int:
        """Give up the descriptor."""
        self._count()
        return super().detach()

    def _count(self) -> None:
        ended, self.ended = self.ended, None
        if ended is not None:
            ended()
