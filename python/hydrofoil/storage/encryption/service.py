"""The encryption of a server, and changes of its file (apiserver `server/options/encryptionconfig/controller`)."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import Callable

from hydrofoil import engine
from hydrofoil.clock import Clock
from hydrofoil.errors import FAULTS, aggregate
from hydrofoil.reloads import Reloads, hash_text
from hydrofoil.storage.encryption.configuration import settings
from hydrofoil.storage.encryption.document import read

LOG = logging.getLogger("hydrofoil")
AGAIN = 60.0
"""The time in seconds after which a file that could not be used is read again."""
SOON = 1.0
"""The time in seconds between two looks at plug-ins that objects wait for."""


def load(path: str, clock: Clock) -> engine.Encryption:
    """Return the encryption of a file. Raise ValueError with one line. It blocks, and may wait for plug-ins."""
    return _make_encryption(settings(read_file(path), path), clock)


def read_file(path: str) -> bytes:
    """Return the content of the file. Raise ValueError with one line."""
    try:
        return read(path)
    except ValueError as e:
        raise ValueError(f"error while parsing file: {e}") from None


def _make_encryption(text: str, clock: Clock, beside: engine.Encryption | None = None) -> engine.Encryption:
    try:
        return engine.Encryption(text, clock.native, beside)
    except ValueError as e:
        raise ValueError(f"error while building transformers: {e}") from None


def problem(encryption: engine.Encryption) -> str:
    """Return why a plug-in is not healthy; empty if all are (`kmsHealthChecker`)."""
    found = [f"kms-provider-{at}: {why}" for at, (_, why) in enumerate(encryption.health()) if why is not None]
    return aggregate(found) if found else ""


class Service:
    """The encryption by a file, which may be read again when it changes."""

    def __init__(self, path: str, clock: Clock, *, reload: bool) -> None:
        """Read the file and wait for its plug-ins, off the loop. Raise ValueError with one line."""
        self.path = path
        self.reloads_file = reload
        self._clock = clock
        self._server = f"apiserver-{socket.gethostname()}"
        data = read_file(path)
        self.native = _make_encryption(settings(data, path, self._server, reload=reload), clock)
        self.reloads = Reloads("encryption", clock, "ALPHA")
        self.reloads.loaded(data)
        self._hash = hash_text(data)
        """The hash of the content in force, which itself has keys."""
        self._unread: Callable[[], int] = lambda: 0
        self._read_again: Callable[[], None] = lambda: None
        self._recovering: asyncio.Task[None] | None = None
        self._reloading: asyncio.Task[None] | None = None
        self._again = asyncio.Event()

    def serve(self, unread: Callable[[], int], read_again: Callable[[], None]) -> None:
        """Serve a log: `unread` is the number of objects that cannot be decrypted, `read_again` tries them again."""
        self._unread, self._read_again = unread, read_again

    def start(self) -> None:
        """Wait for plug-ins that were not ready when objects were loaded."""
        if self._unread() and self._recovering is None and self.native.health():
            self._recovering = asyncio.create_task(self._recover(), name="encryption plug-ins")

    async def _recover(self) -> None:
        while self._unread():
            await self._clock.machine.sleep(SOON)
            try:
                if not self.problem():
                    await asyncio.to_thread(self._read_again)
                    if self._unread():
                        # They need another key than the plug-in has.
                        await self._clock.machine.sleep(AGAIN)
            except FAULTS:
                LOG.exception("objects could not be decrypted again")

    def changed(self) -> None:
        """Read the file again, off the loop."""
        self._again.set()
        if self._reloading is None:
            self._reloading = asyncio.create_task(self._reload(), name="encryption configuration")

    async def _reload(self) -> None:
        try:
            while self._again.is_set():
                self._again.clear()
                if not await self._once():
                    # Its plug-in may be ready later, without a change of the file.
                    waits = [
                        asyncio.ensure_future(self._again.wait()),
                        asyncio.ensure_future(self._clock.machine.sleep(AGAIN)),
                    ]
                    try:
                        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
                    finally:
                        for wait in waits:
                            wait.cancel()
                    self._again.set()
        finally:
            self._reloading = None

    async def _once(self) -> bool:
        """Put new content in force; content that is not good leaves the old one in force. Report whether it is good."""
        try:
            data = await asyncio.to_thread(read_file, self.path)
            if hash_text(data) == self._hash:
                return True
            native = await asyncio.to_thread(self._next, data)
        except FAULTS as e:
            LOG.error("error processing encryption config file %s: %s", self.path, e)
            self.reloads.failed()
            return False
        self._hash = hash_text(data)
        self.native.adopt(native)
        await asyncio.to_thread(self._read_again)
        self.start()
        self.reloads.succeeded(data)
        LOG.info("reloaded encryption config")
        return True

    def _next(self, data: bytes) -> engine.Encryption:
        """Return the encryption of new content. Raise ValueError if a plug-in of it is not ready."""
        native = _make_encryption(settings(data, self.path, self._server, reload=True), self._clock, self.native)
        if why := problem(native):
            raise ValueError(f"health check for new transformers failed: {why}")
        return native

    def problem(self) -> str:
        """Return why a plug-in is not healthy, as far as is known; empty if all are."""
        return problem(self.native)

    @property
    def has_health(self) -> bool:
        """Report whether there is a health check: another file may name plug-ins, too."""
        return self.reloads_file or bool(self.native.health())

    async def close(self) -> None:
        """Stop reading the file."""
        for task in (self._reloading, self._recovering):
            if task is not None:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task
