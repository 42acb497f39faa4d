"""The issue of service account tokens (`pkg/serviceaccount/claims.go`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
from msgspec import Struct

from hydrofoil.authentication.accounts.keys import Keys
from hydrofoil.authentication.accounts.service_account import name_of
from hydrofoil.authentication.options import AccountOptions
from hydrofoil.clock import Chance, Clock
from hydrofoil.engine import Stored

WARN_SECONDS = 3607
"""The life of the tokens that the ServiceAccount plug-in asks for: clients are known not to read all of them again."""
EXTENDED_SECONDS = 365 * 86400


class Bound(Struct, frozen=True):
    """The objects that a token is bound to, each by name and uid; a pod's node may have no uid."""

    pod: tuple[str, str] | None = None
    secret: tuple[str, str] | None = None
    node: tuple[str, str] | None = None


class Issue:
    """Make tokens of accounts."""

    def __init__(
        self,
        options: AccountOptions,
        keys: Keys,
        issuer: str,
        audiences: Sequence[str],
        clock: Clock,
        chance: Chance,
    ) -> None:
        self._keys = keys
        self._issuer = issuer
        self.audiences = tuple(audiences)
        """The audiences of tokens whose request names none."""
        self.longest = int(options.service_account_max_token_expiration)
        """The longest life in seconds of a requested token; 0: no limit."""
        self._extends = options.service_account_extend_token_expiration
        self._clock = clock
        self._chance = chance

    async def token(self, account: Stored, bound: Bound, seconds: int, audiences: Sequence[str]) -> str:
        """Return a token of an account.

        One of a pod that asks for the life of the plug-in's tokens lives a year, and is counted once it is used
        beyond the life it asked for.
        """
        now = int(self._clock.seconds())
        private: dict[str, Any] = {
            "namespace": account.namespace,
            "serviceaccount": {"name": account.name, "uid": account.uid},
        }
        for kind in ("node", "pod", "secret"):
            if (found := getattr(bound, kind)) is not None:
                private[kind] = {"name": found[0]} | ({"uid": found[1]} if found[1] else {})
        ours = all(audience in self.audiences for audience in audiences)
        life = seconds
        if self._extends and bound.pod is not None and seconds == WARN_SECONDS and ours:
            private["warnafter"] = now + seconds
            life = EXTENDED_SECONDS
        claims = {
            "aud": list(audiences),
            "exp": now + life,
            "iat": now,
            "iss": self._issuer,
            "jti": self._chance.uid(),
            "kubernetes.io": private,
            "nbf": now,
            "sub": name_of(account.namespace, account.name),
        }
        await self._keys.ready()
        return self._keys.sign(orjson.dumps(claims))

    async def legacy(self, account: Stored, secret: str) -> str:
        """Return a token to be kept in a secret: it does not expire (`LegacyClaims`)."""
        prefix = "kubernetes.io/serviceaccount/"
        claims = {
            "iss": "kubernetes/serviceaccount",
            f"{prefix}namespace": account.namespace,
            f"{prefix}secret.name": secret,
            f"{prefix}service-account.name": account.name,
            f"{prefix}service-account.uid": account.uid,
            "sub": name_of(account.namespace, account.name),
        }
        await self._keys.ready()
        return self._keys.sign(orjson.dumps(claims))
