"""The front of a server: its socket, and the connections of its clients."""

from __future__ import annotations

import asyncio
import contextlib

from aiohttp import web

from hydrofoil.endpoints.plain_connection import PlainConnections, missing_names, warn_of_missing
from hydrofoil.endpoints.wire import Wire
from hydrofoil.server.certificates import Certificates
from hydrofoil.server.config import Config
from hydrofoil.server.listening import BACKLOG, Listener
from hydrofoil.server.part import Core, Part
from hydrofoil.server.parts.access import needs_credentials
from hydrofoil.server.store_metrics import Handshakes

DRAIN_SECONDS = 4.0
"""The time that open requests have to finish after a signal."""
HEADERS = 10_000
"""The number of headers, which upstream does not limit: more take longer than a turn of the loop."""


def front(core: Core, wire: Wire, listener: Listener, certificates: Certificates) -> Part[web.Server]:
    """Return the connections, in memory too; clients of the socket are accepted from the start on."""
    config = core.config
    # With credentials a page has no right that its user's programs have without asking.
    own_host = "" if certificates.serving or listener.unix or needs_credentials(config) else listener.host
    connections = make_connections(config, wire, own_host)
    sessions = certificates.sessions(connections)
    servers: list[asyncio.Server] = []
    certificates.watch(core.files)

    async def start() -> None:
        if core.crew is not None:
            await core.crew.serve(listener.socket)
            return
        if core.worker is not None:
            core.worker.receiver.start(sessions or connections)
            return
        loop = asyncio.get_running_loop()
        create = loop.create_unix_server if listener.unix else loop.create_server
        servers.append(await create(sessions or connections, sock=listener.socket, backlog=BACKLOG))

    async def close() -> None:
        """Refuse new clients, end watches, let open requests finish, and close the connections."""
        for server in servers:
            server.close()
        if core.crew is not None:
            core.crew.close_port()
        if core.worker is not None:
            core.worker.receiver.close()
        await listener.close()
        if core.crew is not None:
            # They have the connections, and write to what is closed after this.
            await core.crew.end_workers()
        if sessions is not None:
            sessions.close()
        core.hub.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_SECONDS):
                await wire.idle()
        connections.pre_shutdown()
        await connections.shutdown(0.2)

    failed = (lambda: 0) if sessions is None else (lambda: sessions.failed)
    return Part(feature=connections, start=start, close=close, collectors=lambda: [Handshakes(failed)])


def make_connections(config: Config, wire: Wire, own_host: str) -> web.Server:
    """Return the connections: by aiohttp's public names, with a warning, where it lacks the private ones."""
    accepted = tuple(pattern.lower() for pattern in config.accept_hosts)
    if missing := missing_names():
        warn_of_missing(missing)
        return PlainConnections(wire, own_host=own_host, accepted_hosts=accepted, keepalive_timeout=config.idle_timeout)
    from hydrofoil.endpoints.connection import Connections

    return Connections(
        wire,
        keepalive_timeout=config.idle_timeout,
        header_timeout=config.header_timeout,
        answer_timeout=config.request_timeout,
        own_host=own_host,
        accepted_hosts=accepted,
        memos=config.request_memos,
        max_headers=HEADERS,
        auto_decompress=False,
        # A watch ends when its client disconnects. A write has no point of rest between its checks and its commit.
        handler_cancellation=True,
    )
