"""The certificates of one server: those it presents, and the authorities that others verify with."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hydrofoil.clock import Clock, machine_seconds
from hydrofoil.endpoints import tls
from hydrofoil.files import Files
from hydrofoil.folders import state_folder
from hydrofoil.server.config import Config
from hydrofoil.server.listening import Listener, StartError, is_local, reason

if TYPE_CHECKING:
    from hydrofoil.authentication.guests import Guests
    from hydrofoil.server.identity import Identity
    from hydrofoil.server.in_memory_certificate import InMemoryCertificate
    from hydrofoil.server.serving import Serving


class Certificates:
    """What a server presents: files of the user, an identity of its own, a certificate in memory, or nothing."""

    def __init__(self, config: Config, listener: Listener, identity: Identity | None, serving: Serving | None) -> None:
        self._config = config
        self._listener = listener
        self.identity = identity
        """What the server made itself."""
        self.serving = serving
        """What it presents; None for plain HTTP."""
        self.in_memory: InMemoryCertificate | None = None
        """What clients of a test may use on the port of plain HTTP."""

    @classmethod
    async def load(cls, config: Config, listener: Listener, clock: Clock, guests: Guests | None) -> Certificates:
        """Return the certificates that the flags name or imply. Raise StartError."""
        identity, serving = await _load(config, listener, clock)
        found = cls(config, listener, identity, serving)
        if serving is None and guests is not None and not listener.unix:
            from hydrofoil.server.identity import own_names
            from hydrofoil.server.in_memory_certificate import InMemoryCertificate

            found.in_memory = InMemoryCertificate(partial(own_names, listener.host, config.service_cluster_ip_range))
        return found

    async def root_ca(self, *, secured: bool) -> bytes:
        """Return the authority that pods verify the server with, in PEM; empty without TLS.

        A server that asks for nothing has no pods that verify it: its namespaces stay empty.
        """
        if self.identity is not None:
            return self.identity.authority
        if self._config.tls_cert_file and secured:
            return await asyncio.to_thread(Path(self._config.tls_cert_file).read_bytes)
        return b""

    def watch(self, files: Files) -> None:
        """Read the user's files again when they change.

        An identity stays as it is: another server may make certificates of its own in the same folder.
        """
        if self.serving is not None and self.identity is None:
            self.serving.watch(files)

    def sessions(self, make: tls.Make) -> tls.Listener | None:
        """Return the sessions of TLS for connections; None for plain HTTP alone."""
        seconds = self._config.header_timeout
        if (serving := self.serving) is not None:
            return tls.Listener(lambda: serving.config, make, seconds)
        if self.in_memory is not None:
            return tls.Listener(self.in_memory.settings, make, seconds, plain=True)
        return None


def _default_folder() -> Path:
    """Return the folder of the certificates that a server makes. Raise StartError."""
    try:
        return state_folder()
    except OSError as e:
        raise StartError(f"cannot keep certificates: {reason(e)} (--cert-dir takes a folder)") from None


async def _load(config: Config, listener: Listener, clock: Clock) -> tuple[Identity | None, Serving | None]:
    """Return the certificates that this server makes itself, and those that it presents; None without TLS."""
    cert, key = config.tls_cert_file, config.tls_private_key_file
    if key and not cert:
        raise StartError("cannot use the TLS certificate: --tls-private-key-file needs --tls-cert-file")
    identity = None
    if not cert:
        if not config.cert_dir and (listener.unix or is_local(config.host)):
            return None, None
        place = Path(config.cert_dir) if config.cert_dir else _default_folder()
        from hydrofoil.server.identity import given_pair

        cert, key = await asyncio.to_thread(given_pair, place)
    if not cert:
        from hydrofoil.server.identity import identity as make_identity
        from hydrofoil.server.identity import own_names

        try:
            names = own_names(listener.host, config.service_cluster_ip_range)
            now = int(clock.seconds())
            identity = await asyncio.to_thread(make_identity, place, names, now, machine_seconds())
        except (OSError, ValueError) as e:
            why = reason(e) if isinstance(e, OSError) else str(e)
            raise StartError(f"cannot keep certificates in {place}: {why} (--cert-dir takes a folder)") from None
        cert, key = identity.cert, identity.key
    # Servers of plain HTTP start without these modules.
    from hydrofoil.server.serving import BadCertificate, Serving

    try:
        asks = bool(identity or config.client_ca_file or config.requestheader_client_ca_file)
        return identity, await asyncio.to_thread(partial(Serving, asks=asks), config, cert, key or cert)
    except BadCertificate as e:
        raise StartError(f"cannot use the TLS certificate: {e}") from None
