"""Tokens of one issuer (apiserver `plugin/pkg/authenticator/token/oidc/oidc.go`)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection

from hydrofoil.authentication.compact import Compact
from hydrofoil.authentication.jwt.claims import Mapper
from hydrofoil.authentication.jwt.configuration import Authenticator
from hydrofoil.authentication.jwt.distributed import Distributed
from hydrofoil.authentication.jwt.metrics import JwtMetrics
from hydrofoil.authentication.jwt.provider import Provider
from hydrofoil.authentication.jwt.validation import Compiled
from hydrofoil.authentication.jwt.verifier import Verifier
from hydrofoil.authentication.login import Rejected
from hydrofoil.clock import Clock, stopwatch
from hydrofoil.outbound.target import Target
from hydrofoil.outbound.trust import Trust
from hydrofoil.pace.sizes import TOKEN
from hydrofoil.request import User


class IssuerTokens:
    """The tokens of one issuer, once it has answered."""

    def __init__(
        self,
        of: Authenticator,
        compiled: Compiled,
        algorithms: Collection[str],
        clock: Clock,
        metrics: JwtMetrics,
        ready: Callable[[], None],
    ) -> None:
        issuer = of.issuer
        self.url = issuer.url
        self._target = Target(issuer.url, Trust(issuer.certificate_authority.encode()))
        self._provider = Provider(issuer.url, issuer.discovery_url, self._target, clock, metrics, ready)
        self._verifier = Verifier(issuer.audiences, algorithms, clock)
        self._mapper = Mapper(of, compiled)
        self._metrics = metrics
        self._distributed: Distributed | None = None
        if of.groups.claim:
            self._distributed = Distributed(of.groups.claim, self._target, self._verifier, clock, metrics)

    @property
    def ready(self) -> bool:
        """Report whether the issuer has answered."""
        return self._provider.ready

    def start(self) -> None:
        """Begin to fetch the keys."""
        self._provider.start()

    async def close(self) -> None:
        """Stop fetching; calls in flight end first."""
        await self._provider.close()
        if self._distributed is not None:
            await self._distributed.close()
        self._target.retire()

    async def user(self, token: str, parsed: Compact) -> User:
        """Return the user of a token that names this issuer. Raise Rejected."""
        began, good = stopwatch(), False
        try:
            if not self.ready:
                raise Rejected("oidc: authenticator not initialized")
            await self._verified(token, parsed)
            claims = parsed.claims
            if self._distributed is not None:
                claims = await self._distributed.expanded(claims)
            # The length of its input does not bound the time of an expression.
            if len(token) < TOKEN and not self._mapper.evaluates:
                found = self._mapper.user(claims)
            else:
                found = await asyncio.to_thread(self._mapper.user, claims)
            good = True
            return found
        finally:
            self._metrics.took(self.url, stopwatch() - began, good=good)

    async def _verified(self, token: str, parsed: Compact) -> None:
        try:
            await self._verifier.verify(self._provider, token, parsed)
        except Rejected as e:
            raise Rejected(f"oidc: verify token: {e}") from None
