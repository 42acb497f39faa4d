"""Kubeconfigs: of a server whose address needs no certificate of ours, and of a user with a token."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import orjson

from hydrofoil import engine
from hydrofoil.request import ADMIN
from hydrofoil.server.certificates import Certificates
from hydrofoil.server.config import Config as Settings
from hydrofoil.server.identity import write_private
from hydrofoil.server.kubeconfig_file import NAME, Config, cluster_of, kubeconfig, write
from hydrofoil.server.listening import StartError, reason
from hydrofoil.server.part import Site

if TYPE_CHECKING:
    from hydrofoil.authentication.guests import Guests


ADMIN_TOKEN = "admin"
"""The token in a kubeconfig of a server that asks for no credentials: it takes any."""


class Written(NamedTuple):
    """The kubeconfig that a server has written."""

    path: str = ""
    """Empty if there is none."""
    current_context: str = ""
    """The current context of the file, if it is another server's."""


class Kubeconfigs:
    """The kubeconfigs of one server."""

    def __init__(self, config: Settings, site: Site, certificates: Certificates, guests: Guests | None) -> None:
        self._config = config
        self._site = site
        self._certificates = certificates
        self._guests = guests

    def reach(self, name: str) -> tuple[str, str | None]:
        """Return the URL and the authority in the kubeconfig of a user of a test."""
        assert self._guests is not None
        in_memory = self._certificates.in_memory
        if in_memory is None or (name == ADMIN.name and not self._guests.required):
            # Without credentials it is the same user.
            return reachable(self._site.url), self._site.root_ca.decode() or None
        return reachable(f"https://{self._site.authority}"), in_memory.authority

    def _admin(self) -> Config:
        """Return the kubeconfig of the administrator."""
        url, identity = reachable(self._site.address), self._certificates.identity
        if identity is not None:
            return identity.kubeconfig(url)
        cluster, token = cluster_of(url, None), ADMIN_TOKEN
        if self._config.tls_cert_file:
            cluster["certificate-authority"] = str(Path(self._config.tls_cert_file).absolute())
        if self._guests is not None:
            # A server of a test knows its own users alone.
            token = self._guests.token(ADMIN.name, ADMIN.groups)
            secure, ca = self.reach(ADMIN.name)
            if self._certificates.in_memory is not None and ca:
                cluster = cluster_of(secure, ca.encode())
        return kubeconfig(cluster, {"token": token})

    async def write(self) -> Written:
        """Write those that the flags ask for. Raise StartError."""
        identity, path = self._certificates.identity, self._config.kubeconfig
        if identity is None and not path:
            return Written()
        own, current = self._admin(), NAME
        if identity is not None:
            # The server's own folder: nobody else's entries are there.
            text = engine.json_to_yaml(orjson.dumps(own)).decode()
            await self._keep(identity.folder / "admin.conf", lambda place: write_private(place, text))
            if not path:
                return Written(str(identity.folder / "admin.conf"))
        set_context = self._config.set_context

        def add(place: Path) -> None:
            nonlocal current
            current = write(place, own, set_context=set_context)

        await self._keep(Path(path), add)
        return Written(path, "" if current == NAME else current)

    async def _keep(self, place: Path, keep: Callable[[Path], None]) -> None:
        """Write one file. Raise StartError."""
        try:
            await asyncio.to_thread(keep, place)
        except (OSError, ValueError) as e:
            why = reason(e) if isinstance(e, OSError) else str(e)
            raise StartError(f"cannot write the kubeconfig {place}: {why} (--kubeconfig takes a file)") from None


def reachable(url: str) -> str:
    """Return the URL for clients, which do not connect to the address that stands for all."""
    return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")
