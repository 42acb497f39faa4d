"""The certificates that a server presents, read again when their files change."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

from hydrofoil import engine
from hydrofoil.files import Files
from hydrofoil.server.options import ListenOptions, named_pair

LOG = logging.getLogger("hydrofoil")


class BadCertificate(Exception):
    """A certificate that cannot be used, with one line."""


class Serving:
    """The TLS settings of a server, made of files."""

    def __init__(self, options: ListenOptions, cert: str, key: str, *, asks: bool) -> None:
        """`cert` and `key` are the files of the default pair; `asks`: for certificates of clients.

        Raise BadCertificate.
        """
        self._options = options
        # No names of authorities: every client sends the certificate that it has.
        self._authorities: list[bytes] | None = [] if asks else None
        self._pair = (cert, key)
        self._named = [named_pair(text) for text in options.tls_sni_cert_key]
        self._reading: asyncio.Task[None] | None = None
        self.config = self._read()

    def watch(self, files: Files) -> None:
        """Read changed files; bad content leaves the old settings in force."""

        async def read() -> None:
            try:
                self.config = await asyncio.to_thread(self._read)
            except BadCertificate as e:
                LOG.error("the serving certificate stays as it was: %s", e)

        def changed() -> None:
            self._reading = asyncio.create_task(read(), name="serving certificate")

        paths = [*self._pair, *(file for pair in self._named for file in (pair.cert, pair.key))]
        files.watch(*paths, changed=changed)

    def _read(self) -> engine.TlsConfig:
        options = self._options
        chain, key = (_content(path) for path in self._pair)
        named = [(_content(pair.cert), _content(pair.key), list(pair.names)) for pair in self._named]
        newest = options.tls_min_version == "VersionTLS13"
        try:
            return engine.TlsConfig(chain, key, named, newest, list(options.tls_cipher_suites), self._authorities)
        except ValueError as e:
            where = " and ".join(dict.fromkeys(self._pair))
            raise BadCertificate(f"{where}: {e}") from None


def _content(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as e:
        raise BadCertificate(f"{path}: {e.strerror or e}") from None
