"""What a worker has of the owner, for the parts of its server."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING

from hydrofoil import engine
from hydrofoil.server.workers.channel import Channel
from hydrofoil.server.workers.connections import Receiver

if TYPE_CHECKING:
    from hydrofoil.audit.log import File
    from hydrofoil.audit.options import AuditOptions
    from hydrofoil.clock import Clock
    from hydrofoil.server.workers.crew import Beginning


class WorkerEnd:
    """What a worker has of the owner, for the parts of its server."""

    def __init__(
        self, region: engine.Region, channel: Channel, receiver: Receiver, beginning: Beginning, audit: socket.socket
    ) -> None:
        self.region = region
        self.receiver = receiver
        self.beginning = beginning
        self.has_objects = asyncio.Event()
        """Set once the objects exist that every cluster has."""
        self.problem = ""
        """The problem of the owner's log; empty if absent."""
        self._channel = channel
        self._audit = audit

    def open_audit_file(self, _options: AuditOptions, _clock: Clock) -> File:
        """Return the audit log, which the owner writes."""
        from hydrofoil.server.workers.audit_file import RemoteFile

        return RemoteFile(self._audit)

    async def latest_revision(self) -> int:
        """Return the revision that the owner's log is at. Raise ConnectionError."""
        return int.from_bytes(await self._channel.ask("revision"), "little")

    async def metrics(self) -> bytes:
        """Return the metrics of the whole server. Raise ConnectionError."""
        return await self._channel.ask("metrics")

    async def reset_metrics(self) -> None:
        """Reset the metrics of all processes. Raise ConnectionError."""
        await self._channel.ask("reset")
