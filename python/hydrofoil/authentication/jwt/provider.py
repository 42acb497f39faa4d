"""The keys of an issuer: its discovery document and its key set, fetched beside requests (coreos/go-oidc)."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from typing import Any

import orjson

from hydrofoil.authentication.jwt.metrics import JwtMetrics
from hydrofoil.authentication.jwt.verify import Key, keys
from hydrofoil.clock import Clock
from hydrofoil.errors import FAULTS
from hydrofoil.outbound.bounds import decode_json
from hydrofoil.outbound.target import Target
from hydrofoil.outbound.trust import Unreachable

LOG = logging.getLogger("hydrofoil")
WELL_KNOWN = "/.well-known/openid-configuration"
AGAIN = 10.0
"""Seconds between attempts to reach an issuer, and between two fetches of its keys that tokens cause."""
OLD = 3600.0
"""The age in seconds at which keys are fetched again although no token needs others: the issuer may withdraw some."""
CALL = 30.0
"""The time limit in seconds of one call."""
LARGEST = 1 << 20
"""The greatest size in bytes of a document of an issuer."""


class Provider:
    """One issuer. Until its document has been fetched, and while it is away, no request waits for it."""

    def __init__(
        self,
        url: str,
        discovery_url: str,
        target: Target,
        clock: Clock,
        metrics: JwtMetrics,
        ready: Callable[[], None] = lambda: None,
    ) -> None:
        """`ready` is called once the document has been fetched."""
        self.url = url
        self.keys: list[Key] = []
        self._discovery = discovery_url or url.removesuffix("/") + WELL_KNOWN
        self._target = target
        self._clock = clock
        self._metrics = metrics
        self._told = ready
        self._keys_url = ""
        self._fetched_at = float("-inf")
        self._fetch: asyncio.Task[bool] | None = None
        self._begin: asyncio.Task[None] | None = None

    @property
    def ready(self) -> bool:
        """Report whether the issuer has answered."""
        return bool(self._keys_url)

    def start(self) -> None:
        """Begin to fetch the documents."""
        self._begin = asyncio.create_task(self._init(), name="issuer")

    async def close(self) -> None:
        """Stop fetching."""
        for task in (self._begin, self._fetch):
            if task is not None:
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task

    async def _init(self) -> None:
        while not self.ready:
            try:
                self._keys_url = await self._discovered()
            except (Unreachable, ValueError) as e:
                LOG.error("oidc authenticator: initializing plugin for issuer %s: %s", self.url, e)
            except FAULTS:
                LOG.exception("oidc authenticator: initializing plugin for issuer %s", self.url)
            if not self.ready:
                await self._clock.machine.sleep(AGAIN)
        await self.refresh()
        self._told()

    async def _discovered(self) -> str:
        """Return where the keys are. Raise Unreachable or ValueError."""
        document, _ = await self._document(self._discovery)
        found = document.get("issuer") if isinstance(document, dict) else None
        if found != self.url:
            why = "issuer did not match the issuer returned by provider"
            raise ValueError(f"oidc: {why}, expected {self.url!r} got {str(found)[:200]!r}")
        where = document.get("jwks_uri")
        if not isinstance(where, str) or not where.startswith("https://"):
            raise ValueError("oidc: the jwks_uri of the provider must be an https:// URL")
        return where

    async def _document(self, url: str) -> tuple[Any, bytes]:
        reply = await self._target.get(url, CALL, LARGEST)
        if reply.status != 200:
            raise ValueError(f"Get {url}: status {reply.status}")
        try:
            return await decode_json(reply.body), reply.body
        except orjson.JSONDecodeError as e:
            raise ValueError(f"Get {url}: failed to decode: {e}") from None

    async def refresh(self) -> bool:
        """Fetch the keys, unless that happened a moment ago; return whether they were fetched.

        Callers share one fetch, and it continues when they leave.
        """
        if self._fetch is None or self._fetch.done():
            if self._clock.seconds() - self._fetched_at < AGAIN:
                return False
            self._fetched_at = self._clock.seconds()
            self._fetch = asyncio.create_task(self._fetch_keys(), name="issuer keys")
        fetch = self._fetch
        try:
            return await asyncio.shield(fetch)
        except asyncio.CancelledError:
            if fetch.cancelled():
                # The issuer left the configuration; the request continues.
                return False
            raise

    def age(self) -> None:
        """Fetch keys that are old, beside the request that uses them."""
        if self._clock.seconds() - self._fetched_at > OLD and (self._fetch is None or self._fetch.done()):
            self._fetched_at = self._clock.seconds()
            self._fetch = asyncio.create_task(self._fetch_keys(), name="issuer keys")

    async def _fetch_keys(self) -> bool:
        try:
            document, data = await self._document(self._keys_url)
            self.keys = await asyncio.to_thread(keys, document)
        except (Unreachable, ValueError) as e:
            LOG.error("oidc authenticator: fetching keys of issuer %s: %s", self.url, e)
            self._metrics.fetched(self.url, None)
            return False
        except FAULTS:
            LOG.exception("oidc authenticator: fetching keys of issuer %s", self.url)
            self._metrics.fetched(self.url, None)
            return False
        self._metrics.fetched(self.url, data)
        return True
