"""The issuers of one server, by flags or in a file that is read again when it changes."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from hydrofoil.authentication import compact
from hydrofoil.authentication.jwt import flags
from hydrofoil.authentication.jwt.configuration import Anonymous, Configuration, parse
from hydrofoil.authentication.jwt.issuer import IssuerTokens
from hydrofoil.authentication.jwt.metrics import JwtMetrics
from hydrofoil.authentication.jwt.validation import Compiled, validate
from hydrofoil.authentication.jwt.verify import issuer
from hydrofoil.authentication.login import Login
from hydrofoil.authentication.options import AuthenticationOptions
from hydrofoil.clock import Clock
from hydrofoil.errors import FAULTS
from hydrofoil.files import Files
from hydrofoil.pace.sizes import TOKEN
from hydrofoil.reloads import Reloads

LOG = logging.getLogger("hydrofoil")
PATIENCE = 60.0
"""How long in seconds the issuers of new content may take to answer before it counts as bad."""
LARGEST = 8 << 20
"""The greatest size of a configuration file in bytes."""


class Issuers:
    """The tokens of the issuers in one configuration."""

    def __init__(
        self,
        configuration: Configuration,
        compiled: Sequence[Compiled],
        algorithms: Collection[str],
        clock: Clock,
        metrics: JwtMetrics,
    ) -> None:
        self.stirred = asyncio.Event()
        """Set when an issuer has answered."""
        pairs = zip(configuration.authenticators, compiled, strict=True)
        self._by_url = {
            of.issuer.url: IssuerTokens(of, found, algorithms, clock, metrics, self.stirred.set) for of, found in pairs
        }

    @property
    def urls(self) -> Collection[str]:
        """Return the URLs of the issuers."""
        return self._by_url.keys()

    @property
    def ready(self) -> bool:
        """Report whether all issuers have answered."""
        return all(found.ready for found in self._by_url.values())

    def start(self) -> None:
        """Begin to fetch their keys."""
        for found in self._by_url.values():
            found.start()

    async def close(self) -> None:
        """Stop fetching."""
        for found in self._by_url.values():
            await found.close()

    async def authenticate(self, token: str) -> Login | None:
        """Return the login of a token; None if no issuer of these made it. Raise Rejected."""
        parsed = compact.read(token) if len(token) < TOKEN else await asyncio.to_thread(compact.read, token)
        found = None if parsed is None else self._by_url.get(issuer(parsed))
        if found is None or parsed is None:
            return None
        return Login(await found.user(token, parsed))


class JwtTokens:
    """The tokens of JWT issuers, as the present configuration has them."""

    def __init__(
        self,
        options: AuthenticationOptions,
        disallowed: Collection[str],
        clock: Clock,
        files: Files,
        swapped: Callable[[], None] = lambda: None,
    ) -> None:
        """Refuse flags that do not fit together. Raise ValueError with one line.

        `disallowed` are the issuers of service account tokens; `swapped` is called when new content is in force.
        """
        flags.check(options)
        self.anonymous: Anonymous | None = None
        """The part of the configuration on anonymous requests, which holds from the start to the end."""
        self.metrics = JwtMetrics(clock)
        self.reloads: Reloads | None = None
        self._path = options.authentication_config
        self._algorithms = flags.ALGORITHMS if self._path else tuple(options.oidc_signing_algs)
        self._disallowed = disallowed
        self._clock = clock
        self._files = files
        self._options = options
        self._data = b""
        self._current: Issuers | None = None
        self._changed = asyncio.Event()
        self._swapped = swapped
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Read the configuration and begin to fetch keys, without a wait for them. Raise ValueError with one line."""
        if self._path:
            self._data, configuration, compiled = await asyncio.to_thread(self._read)
            self.reloads = Reloads("authentication", self._clock)
            self.reloads.loaded(self._data)
            self.anonymous = configuration.anonymous
            if self.anonymous is not None and self._options.anonymous_auth is not None:
                why = "cannot be set when anonymous field is configured in authentication configuration file"
                raise ValueError(f"--anonymous-auth flag {why}")
        else:
            configuration = await asyncio.to_thread(flags.configuration, self._options)
            compiled = validate(configuration, self._disallowed)
        self._current = self._issuers(configuration, compiled)
        self._current.start()
        if self._path:
            self._files.watch(self._path, changed=self._changed.set)
            self._task = asyncio.create_task(self._follow(), name="authentication configuration")

    async def close(self) -> None:
        """Stop all work beside requests."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        if self._current is not None:
            await self._current.close()

    async def authenticate(self, token: str, audiences: Sequence[str]) -> Login | None:
        """Return the login of a token; None if no issuer made it. Raise Rejected.

        It is good for the audiences of this server: those of the token are its issuer's matter.
        """
        return None if self._current is None else await self._current.authenticate(token)

    def _issuers(self, configuration: Configuration, compiled: Sequence[Compiled]) -> Issuers:
        return Issuers(configuration, compiled, self._algorithms, self._clock, self.metrics)

    def _read(self) -> tuple[bytes, Configuration, list[Compiled]]:
        """Read and check the file. Raise ValueError with one line."""
        try:
            with Path(self._path).open("rb") as file:
                data = file.read(LARGEST + 1)
        except OSError as e:
            raise ValueError(f"open {self._path}: {(e.strerror or str(e)).lower()}") from None
        if len(data) > LARGEST:
            raise ValueError(f"{self._path} is larger than {LARGEST} bytes")
        if not data.strip():
            raise ValueError(f'empty config file "{self._path}"')
        configuration = parse(data)
        return data, configuration, validate(configuration, self._disallowed)

    async def _follow(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            try:
                await self._reload()
            except ValueError as e:
                LOG.error("failed to load authentication config %s: %s", self._path, e)
                self._failed()
            except FAULTS:
                LOG.exception("failed to load authentication config %s", self._path)
                self._failed()

    def _failed(self) -> None:
        if self.reloads is not None:
            self.reloads.failed()

    async def _reload(self) -> None:
        """Put new content in force once its issuers have answered. Raise ValueError; then the old one stays."""
        data, configuration, compiled = await asyncio.to_thread(self._read)
        if data == self._data:
            return
        if configuration.anonymous != self.anonymous:
            raise ValueError("anonymous: Forbidden: changed from initial configuration file")
        fresh = self._issuers(configuration, compiled)
        fresh.start()
        try:
            await self._answered(fresh)
        except BaseException:
            await fresh.close()
            raise
        old, self._current, self._data = self._current, fresh, data
        self.metrics.keep(fresh.urls)
        self._swapped()
        if self.reloads is not None:
            self.reloads.succeeded(data)
        LOG.info("reloaded authentication config %s", self._path)
        if old is not None:
            await old.close()

    async def _answered(self, fresh: Issuers) -> None:
        """Wait for all issuers. Raise ValueError if they take too long, or the file changes meanwhile."""
        limit = self._clock.seconds() + PATIENCE
        while not fresh.ready:
            fresh.stirred.clear()
            if self._changed.is_set():
                raise ValueError("the file changed again before all issuers answered")
            left = limit - self._clock.seconds()
            if left <= 0:
                raise ValueError("not all issuers answered in time")
            # Each second, to see another change of the file.
            await self._clock.machine.wait(fresh.stirred, min(left, 1.0))
