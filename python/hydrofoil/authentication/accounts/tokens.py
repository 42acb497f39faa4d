"""Tokens of service accounts, checked against the live objects (`pkg/serviceaccount/{jwt,claims}.go`)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import orjson
from msgspec import Struct

from hydrofoil.authentication import compact
from hydrofoil.authentication.accounts import claims as read
from hydrofoil.authentication.accounts.keys import Keys
from hydrofoil.authentication.accounts.service_account import user_of
from hydrofoil.authentication.jose import find_malformation, find_repeated_member
from hydrofoil.authentication.login import Login, Rejected
from hydrofoil.clock import Clock
from hydrofoil.engine import Stored
from hydrofoil.go_text import quote, quote_slice
from hydrofoil.registry.objects import Objects
from hydrofoil.request import User

INVALIDATED = "service account token has been invalidated"


class Counts(Struct):
    """The numbers of accepted and refused tokens of service accounts since the start."""

    legacy: int = 0
    """Tokens without audiences."""
    stale: int = 0
    """Tokens used after their client should have replaced them."""
    valid: int = 0
    auto_uses: int = 0
    """Uses of legacy tokens that their account lists."""
    manual_uses: int = 0
    invalid_uses: int = 0
    """Uses of legacy tokens that are marked as invalid."""


class Signed:
    """Tokens that the server's keys have signed, of some issuers."""

    def __init__(self, keys: Keys, issuers: Sequence[str], implied: Sequence[str], counts: Counts) -> None:
        """Take `implied` as the audiences of tokens without any."""
        self._keys = keys
        self._issuers = frozenset(issuers)
        self._implied = tuple(implied)
        self.counts = counts

    async def authenticate(self, token: str, audiences: Sequence[str]) -> Login | None:
        """Return the login of a token; None for one of another issuer. Raise Rejected."""
        found = compact.read(token)
        if found is None or found.issuer not in self._issuers:
            return None
        if self._keys.exist:
            await self._keys.ready()
        if find_malformation(token, found.header):
            return None
        self._keys.verify(token, found.header)
        if why := find_repeated_member(token.split(".")[1]):
            raise Rejected(why)
        named = read.audiences(found.claims)
        if not named:
            self.counts.legacy += 1
            named = self._implied
        among = frozenset(named)
        good = tuple(audience for audience in audiences if audience in among)
        if not good and self._implied:
            text = f"token audiences {quote_slice(named)} is invalid for the target audiences {quote_slice(audiences)}"
            raise Rejected(text)
        user, warnings = await self.user(token, found.claims)
        return Login(user, good, warnings)

    async def user(self, token: str, claims: dict[str, Any]) -> tuple[User, tuple[str, ...]]:
        """Return the user in the claims of a signed token, and warnings. Raise Rejected."""
        raise NotImplementedError


class AccountTokens(Signed):
    """Tokens from TokenRequest: of an account, and possibly bound to a pod, a secret or a node."""

    def __init__(
        self,
        keys: Keys,
        issuers: Sequence[str],
        implied: Sequence[str],
        counts: Counts,
        objects: Objects,
        clock: Clock,
    ) -> None:
        super().__init__(keys, issuers, implied, counts)
        self._objects = objects
        self._clock = clock

    async def user(self, token: str, claims: dict[str, Any]) -> tuple[User, tuple[str, ...]]:
        now = self._clock.seconds()
        private = read.members(claims, "kubernetes.io") or {}
        namespace = read.text(private, "namespace")
        account = read.members(private, "serviceaccount") or {}
        bound = {kind: read.members(private, kind) for kind in ("pod", "secret", "node")}
        warn_after = read.number(private, "warnafter")
        read.check_times(claims, now)
        name, uid = read.text(account, "name"), read.text(account, "uid")
        self._account(namespace, name, uid, now)
        if (secret := bound["secret"]) is not None:
            self._alive("secrets", namespace, secret, now, "secret")
        pod, node = bound["pod"], bound["node"]
        if pod is not None:
            self._alive("pods", namespace, pod, now, "pod")
        elif node is not None:
            self._alive("nodes", "", node, now, "node")
        if warn_after:
            if now > warn_after:
                self.counts.stale += 1
            else:
                self.counts.valid += 1
        user = user_of(
            namespace,
            name,
            uid,
            pod=reference_of_claim(pod),
            node=reference_of_claim(node),
            credential=read.text(claims, "jti"),
        )
        return user, ()

    def _account(self, namespace: str, name: str, uid: str, now: float) -> None:
        found = self._objects.find("", "serviceaccounts", namespace, name) if name else None
        if found is None:
            raise Rejected(f"serviceaccounts {quote(name)} not found")
        if deleted_before(found, now - read.LEEWAY):
            raise Rejected(f"service account {namespace}/{name} has been deleted")
        if found.uid != uid:
            raise Rejected(f"service account UID ({found.uid}) does not match claim ({uid})")

    def _alive(self, plural: str, namespace: str, reference: dict[str, Any], now: float, kind: str) -> None:
        """Check what a token is bound to. Raise Rejected."""
        name, uid = reference_of_claim(reference)
        found = self._objects.find("", plural, namespace, name) if name else None
        if found is None or deleted_before(found, now - read.LEEWAY):
            raise Rejected(INVALIDATED)
        if found.uid != uid:
            shown = kind.capitalize() if kind == "pod" else kind
            text = f"does not match service account {kind} ref claim ({uid})"
            raise Rejected(f"{shown} UID ({found.uid}) {text}")


def reference_of_claim(reference: dict[str, Any] | None) -> tuple[str, str]:
    """Return name and uid in a reference of the claims. Raise Rejected."""
    return (read.text(reference, "name"), read.text(reference, "uid")) if reference else ("", "")


def deleted_before(stored: Stored, moment: float) -> bool:
    """Report whether the deletion of an object was due before a moment."""
    if b'"deletionTimestamp"' not in stored.json:
        return False
    due = orjson.loads(stored.json)["metadata"].get("deletionTimestamp")
    return due is not None and datetime.fromisoformat(due).timestamp() < moment
