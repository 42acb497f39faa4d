"""Groups that another server has (OpenID Connect Core 1.0, section 5.6.2; upstream's `claimResolver`)."""

from __future__ import annotations

from hydrofoil.authentication import compact
from hydrofoil.authentication.jwt.claims import Claims
from hydrofoil.authentication.jwt.metrics import JwtMetrics
from hydrofoil.authentication.jwt.provider import CALL, Provider
from hydrofoil.authentication.jwt.verifier import Verifier
from hydrofoil.authentication.jwt.verify import issuer
from hydrofoil.authentication.login import Rejected
from hydrofoil.clock import Clock
from hydrofoil.outbound.target import Target
from hydrofoil.outbound.trust import Unreachable

MOST = 16
"""The largest number of issuers of such claims: upstream has no bound, and their servers choose the names."""


class Distributed:
    """One claim that a verified token may refer to another server for."""

    def __init__(self, claim: str, target: Target, verifier: Verifier, clock: Clock, metrics: JwtMetrics) -> None:
        self._claim = claim
        self._target = target
        self._verifier = verifier
        self._clock = clock
        self._metrics = metrics
        self._providers: dict[str, Provider] = {}

    async def close(self) -> None:
        """Stop fetching keys."""
        for provider in self._providers.values():
            await provider.close()

    async def expanded(self, claims: Claims) -> Claims:
        """Return the claims with the one that is elsewhere. Raise Rejected."""
        if self._claim in claims or "_claim_names" not in claims:
            return claims
        try:
            return await self._expanded(claims)
        except Rejected as e:
            raise Rejected(f"oidc: could not expand distributed claims: {e}") from None

    async def _expanded(self, claims: Claims) -> Claims:
        names, sources = claims["_claim_names"], claims.get("_claim_sources")
        if not isinstance(names, dict) or not all(isinstance(name, str) for name in names.values()):
            raise Rejected("oidc: error parsing distributed claim names")
        if "_claim_sources" not in claims:
            raise Rejected("oidc: no claim sources")
        if not isinstance(sources, dict) or not all(isinstance(source, dict) for source in sources.values()):
            raise Rejected("oidc: could not parse claim sources")
        if (name := names.get(self._claim)) is None:
            return claims
        if (source := sources.get(name)) is None:
            raise Rejected(f"id token _claim_names contained a source {name} missing in _claims_sources")
        endpoint, access = source.get("endpoint") or "", source.get("access_token") or ""
        if not isinstance(endpoint, str) or not isinstance(access, str):
            raise Rejected("oidc: could not parse claim sources")
        if not endpoint:
            # It may be an aggregated claim, which upstream does not read.
            return claims
        return claims | {self._claim: await self._resolved(endpoint, access)}

    async def _resolved(self, endpoint: str, access: str) -> object:
        token = await self._fetched(endpoint, access)
        parsed = compact.read(token)
        if parsed is None:
            raise Rejected(f"getting untrusted issuer from endpoint {endpoint} failed: malformed token")
        provider = self._provider(issuer(parsed))
        try:
            await self._verifier.verify(provider, token, parsed)
        except Rejected as e:
            raise Rejected(f"verify distributed claim token: {e}") from None
        if self._claim not in parsed.claims:
            raise Rejected(f'jwt returned by distributed claim endpoint "{endpoint}" did not contain {self._claim}')
        return parsed.claims[self._claim]

    async def _fetched(self, endpoint: str, access: str) -> str:
        if not endpoint.startswith("https://") or any(ord(c) < 32 for c in endpoint + access):
            raise Rejected(f'while getting distributed claim "{self._claim}": the endpoint must be an https:// URL')
        try:
            reply = await self._target.get(endpoint, CALL, compact.LONGEST, f"Bearer {access}" if access else "")
        except Unreachable as e:
            raise Rejected(f'while getting distributed claim "{self._claim}": {e}') from None
        if not 200 <= reply.status <= 226:
            raise Rejected(f"error while getting distributed claim JWT: {reply.status}")
        return reply.body.decode(errors="replace").strip()

    def _provider(self, url: str) -> Provider:
        """Return the issuer of a claim; the first token of one does not wait for its keys. Raise Rejected."""
        found = self._providers.get(url)
        if found is None:
            if len(self._providers) >= MOST or not url.startswith("https://"):
                raise Rejected("verifying untrusted issuer failed")
            found = self._providers[url] = Provider(url, "", self._target, self._clock, self._metrics)
            found.start()
        if not found.ready:
            raise Rejected(f'verifier not initialized for issuer: "{url}"')
        return found
