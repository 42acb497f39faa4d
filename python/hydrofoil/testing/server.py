"""A server in the loop of its caller."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from hydrofoil.controls.conditions import Condition, State
from hydrofoil.testing.base import Base
from hydrofoil.testing.core import Core
from hydrofoil.testing.direct import Direct
from hydrofoil.testing.objects import AwaitableObjectCalls
from hydrofoil.testing.options import parse
from hydrofoil.testing.snapshot import own_state

if TYPE_CHECKING:
    import aiohttp
    import httpx

    from hydrofoil.testing.process import ProcessServer
    from hydrofoil.testing.thread import ThreadServer


class Server(Base, AwaitableObjectCalls):
    """A server in the caller's loop: `async with Server() as server`."""

    def __init__(self, **options: Any) -> None:
        """Options are the flags of `serve` with `_` for `-`, and `seed`, `clock`, `snapshot`. Raise TypeError."""
        super().__init__(options)
        self._core: Core | None = None
        self._direct: Direct | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @staticmethod
    def in_thread(**options: Any) -> ThreadServer:
        """Return a server with a loop in a thread of its own: `with Server.in_thread() as server`."""
        from hydrofoil.testing.thread import ThreadServer

        return ThreadServer(options)

    @staticmethod
    def in_process(**options: Any) -> ProcessServer:
        """Return a server in a process that ends with this one: `with Server.in_process() as server`."""
        from hydrofoil.testing.process import ProcessServer

        return ProcessServer(options)

    async def start(self) -> Server:
        """Start. Raise StartError with one line."""
        if self._core is None:
            core = Core(parse(own_state(self._options)))
            facts = await core.start()
            self._core, self._loop, self._direct = core, asyncio.get_running_loop(), Direct(core)
            self._begin(self._direct, facts)
        return self

    async def stop(self) -> None:
        """Stop; again is no error."""
        (core, self._core), (direct, self._direct) = (self._core, None), (self._direct, None)
        if core is not None and direct is not None:
            self._end()
            await direct.awaited(core.stop())

    async def __aenter__(self) -> Server:
        return await self.start()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    @property
    def core(self) -> Core:
        """Return the core of a server that has started."""
        if self._core is None:
            raise RuntimeError("the server is not running")
        return self._core

    def _calls(self) -> Direct:
        """Return the calls of a server that has started."""
        if self._direct is None:
            raise RuntimeError("the server is not running")
        return self._direct

    async def _act(self, name: str, *given: Any) -> Any:
        return await self._calls().awaited(getattr(self.core, name)(*given))

    async def _wait(self, object: str, condition: Condition, namespace: str, timeout: float) -> State:
        return await self._calls().awaited(self.core.wait_for(object, condition, namespace, timeout))

    def _connect(self) -> Callable[[asyncio.BaseProtocol], asyncio.Transport]:
        """Return the connection in memory. Raise RuntimeError outside of the server's loop."""
        core = self.core
        try:
            loop: asyncio.AbstractEventLoop | None = asyncio.get_running_loop()
        except RuntimeError:
            loop = None
        if loop is not self._loop:
            raise RuntimeError("connections in memory are for the loop of the server")
        return core.running.connect

    def session(self, **settings: Any) -> aiohttp.ClientSession:
        """Return a client of the administrator in memory; relative URLs work. Raise RuntimeError in another loop."""
        from hydrofoil.testing.session import session

        return session(self._connect(), self.facts.url, self.headers, settings)

    def transport(self) -> httpx.AsyncBaseTransport:
        """Return a transport in memory for `httpx.AsyncClient`. Raise RuntimeError in another loop."""
        from hydrofoil.testing.transport import MemoryTransport

        return MemoryTransport(self._connect(), self.facts.url)
