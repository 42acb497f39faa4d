"""Acts of a test on a running server beside its controls: apply, wait, make users, restart."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from hydrofoil.authentication.guests import Guests
from hydrofoil.controls.apply import Kinds, Reply, apply_objects
from hydrofoil.controls.documents import Document
from hydrofoil.controls.objects import ObjectClient
from hydrofoil.controls.waiting import Waits
from hydrofoil.controls.where import check_resources
from hydrofoil.request import ADMIN
from hydrofoil.server.kubeconfig_file import Credentials, of_token
from hydrofoil.server.memory import Pipe, ask
from hydrofoil.server.part import Core
from hydrofoil.storage.errors import Unsupported


class Running(NamedTuple):
    """What acts of a test need of a server that has started."""

    dial: Callable[[asyncio.BaseProtocol], Pipe]
    """Connect a client in memory, whose requests are the server's own."""
    settle: Callable[[], Awaitable[None]]
    """Wait until the controllers have processed all writes."""
    reach: Callable[[str], tuple[str, str | None]]
    """Return the URL and the authority for the kubeconfig of a user."""
    disconnect: Callable[[asyncio.BaseTransport | None], None]
    """Break the connections of all clients but for one that is kept."""


class Controlling:
    """The acts of a test on one server."""

    def __init__(self, core: Core, running: Running, guests: Guests) -> None:
        self._running = running
        self._guests = guests
        self._core = core
        # A clock is moved once at a time: each move runs what is due at its moments.
        self._moving = asyncio.Lock()
        self._kinds = Kinds(core.catalog, core.listeners)
        self.objects = ObjectClient(self.ask, core.registry, running.settle)
        self.waits = Waits(core.registry, core.hub, core.listeners, self.objects.explain)

    @property
    def admin(self) -> str:
        """Return the token of the administrator."""
        return self._guests.token(ADMIN.name, ADMIN.groups)

    async def ask(self, method: str, target: str, media: str, body: bytes) -> Reply:
        """Send a request of the administrator, which the journal does not have and faults do not hit."""
        running = self._running
        headers = {
            "Host": self._core.site.authority,
            "Authorization": f"Bearer {self.admin}",
            "Content-Type": media,
            "Accept": "application/json",
            "User-Agent": "hydrofoil",
        }
        return await ask(running.dial, method, target, headers, body)

    async def apply(
        self, documents: Iterable[Document], namespace: str | None, status: bool = False
    ) -> list[dict[str, Any]]:
        """Apply objects, maybe with their status; return them once they are served.

        Raise ApiError that names their origin.
        """
        settle = self._running.settle
        made = await apply_objects(self.ask, self._kinds.find, documents, namespace, settle, status=status)
        await settle()
        return made

    async def move(self, moments: Iterator[None]) -> None:
        """Move the clock, and let the controllers do their work at each moment; one after another."""
        async with self._moving:
            for _ in moments:
                await self._running.settle()
        await self._running.settle()

    def check_resources(self, given: Any) -> None:
        """Raise ValueError for a resource that is not served under that name."""
        check_resources(self._core.catalog, given)

    def restart(self, kept: asyncio.BaseTransport | None = None) -> None:
        """Break connections, and forget the history: a client sees a server that has started again.

        The connection of the test is kept, if it asks for this over HTTP.
        """
        self._running.disconnect(kept)
        with suppress(Unsupported):
            self._core.storage.compact()

    def user(self, name: str, groups: Sequence[str]) -> dict[str, Any]:
        """Return the headers and the kubeconfig of a user."""
        token, url, ca = self.account(name, groups)
        return {"headers": {"Authorization": f"Bearer {token}"}, "kubeconfig": of_token(url, ca, name, token)}

    def account(self, name: str, groups: Sequence[str]) -> Credentials:
        """Return the credentials of a user."""
        return Credentials(self._guests.token(name, tuple(groups)), *self._running.reach(name))
