"""Verification of tokens with the keys of an issuer, which are fetched again where they do not fit."""

from __future__ import annotations

import asyncio
from collections.abc import Collection

from hydrofoil.authentication.compact import Compact
from hydrofoil.authentication.jose import find_malformation, understands
from hydrofoil.authentication.jwt.provider import Provider
from hydrofoil.authentication.jwt.verify import MANY, check, fitting, signed
from hydrofoil.authentication.login import Rejected
from hydrofoil.clock import Clock
from hydrofoil.pace.sizes import TOKEN


class Verifier:
    """The audiences and algorithms that tokens must have."""

    def __init__(self, audiences: Collection[str], algorithms: Collection[str], clock: Clock) -> None:
        self._audiences = audiences
        self._algorithms = algorithms
        self._clock = clock

    async def verify(self, provider: Provider, token: str, parsed: Compact) -> None:
        """Verify a token of an issuer. Raise Rejected."""
        if why := find_malformation(token, parsed.header):
            raise Rejected(f"oidc: malformed jwt: {why}")
        check(parsed, provider.url, self._audiences, self._algorithms, self._clock.seconds())
        if await self._signed(provider, token, parsed):
            provider.age()
        # The issuer may have new keys.
        elif not (await provider.refresh() and await self._signed(provider, token, parsed)):
            raise Rejected("failed to verify signature: failed to verify id token signature")

    async def _signed(self, provider: Provider, token: str, parsed: Compact) -> bool:
        if not understands(parsed.header):
            return False
        algorithm = str(parsed.header.get("alg"))
        candidates = fitting(provider.keys, parsed)
        if len(candidates) > MANY or len(token) > TOKEN:
            return await asyncio.to_thread(signed, token, candidates, algorithm)
        return signed(token, candidates, algorithm)
