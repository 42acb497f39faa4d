"""Tokens in secrets, which do not expire (`pkg/serviceaccount/legacy.go`)."""

from __future__ import annotations

import base64
import hmac
import logging
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import orjson

from hydrofoil.authentication.accounts import claims as read
from hydrofoil.authentication.accounts.keys import Keys
from hydrofoil.authentication.accounts.service_account import name_of, user_of
from hydrofoil.authentication.accounts.tokens import Counts, Signed
from hydrofoil.authentication.login import Rejected
from hydrofoil.clock import Clock
from hydrofoil.engine import Draft, Stored
from hydrofoil.errors import ApiError
from hydrofoil.registry.store import Registry
from hydrofoil.registry.write import Write
from hydrofoil.request import User

LOG = logging.getLogger("hydrofoil")
ISSUER = "kubernetes/serviceaccount"
CLAIM = "kubernetes.io/serviceaccount/"
LAST_USED, INVALID_SINCE = "kubernetes.io/legacy-token-last-used", "kubernetes.io/legacy-token-invalid-since"
INSTEAD = "Use tokens from the TokenRequest API or manually created secret-based tokens"
WARNING = f"{INSTEAD} instead of auto-generated secret-based tokens."
INVALIDATED = "Token has been invalidated"


class LegacyTokens(Signed):
    """Tokens that are good as long as their secret holds them."""

    def __init__(
        self, keys: Keys, implied: Sequence[str], counts: Counts, registry: Registry, clock: Clock, *, lookup: bool
    ) -> None:
        """Without `lookup` neither secret nor account are looked at."""
        super().__init__(keys, (ISSUER,), implied, counts)
        self._registry = registry
        self._clock = clock
        self._lookup = lookup

    async def user(self, token: str, claims: dict[str, Any]) -> tuple[User, tuple[str, ...]]:
        if not (subject := read.text(claims, "sub")):
            raise Rejected("sub claim is missing")
        namespace = self._claim(claims, "namespace", "namespace")
        secret = self._claim(claims, "secret.name", "secretName")
        name = self._claim(claims, "service-account.name", "serviceAccountName")
        uid = self._claim(claims, "service-account.uid", "serviceAccountUID")
        if subject != name_of(namespace, name):
            raise Rejected("sub claim is invalid")
        warnings = await self._look_up(token, namespace, secret, name, uid) if self._lookup else ()
        return user_of(namespace, name, uid), warnings

    @staticmethod
    def _claim(claims: dict[str, Any], name: str, shown: str) -> str:
        if not (found := read.text(claims, CLAIM + name)):
            raise Rejected(f"{shown} claim is missing")
        return found

    async def _look_up(self, token: str, namespace: str, secret: str, name: str, uid: str) -> tuple[str, ...]:
        """Check secret and account; return warnings. Raise Rejected."""
        kept = self._registry.find("", "secrets", namespace, secret)
        if kept is None:
            raise Rejected(INVALIDATED)
        raw = orjson.loads(kept.json)
        if raw["metadata"].get("deletionTimestamp"):
            raise Rejected(INVALIDATED)
        held = base64.b64decode((raw.get("data") or {}).get("token", ""))
        if not hmac.compare_digest(held, token.encode()):
            raise Rejected("Token does not match server's copy")
        found = self._registry.find("", "serviceaccounts", namespace, name)
        if found is None:
            raise Rejected(f'serviceaccounts "{name}" not found')
        account = orjson.loads(found.json)
        if account["metadata"].get("deletionTimestamp"):
            raise Rejected(f"ServiceAccount {namespace}/{name} has been deleted")
        if found.uid != uid:
            raise Rejected(f"ServiceAccount UID ({found.uid}) does not match claim ({uid})")
        listed = any(reference.get("name") == secret for reference in account.get("secrets") or ())
        labels: dict[str, str] = raw["metadata"].get("labels") or {}
        await self._mark(namespace, secret, labels)
        if labels.get(INVALID_SINCE):
            self.counts.invalid_uses += 1
            where = f"the token in secret {namespace}/{secret} for service account {namespace}/{name}"
            mend = f"remove the '{INVALID_SINCE}' label from the secret to temporarily allow use of this token"
            raise Rejected(f"{where} has been marked invalid. {INSTEAD}, or {mend}")
        if listed:
            self.counts.auto_uses += 1
            return (WARNING,)
        self.counts.manual_uses += 1
        return ()

    async def _mark(self, namespace: str, secret: str, labels: dict[str, str]) -> None:
        """Write the day of the last use; a day ahead is another server's clock."""
        today = self._clock.now()
        days = [(today + timedelta(days=ahead)).strftime("%Y-%m-%d") for ahead in (0, 1)]
        resource = self._registry.catalog.find("", "v1", "secrets")
        if labels.get(LAST_USED) in days or resource is None:
            return

        def change(present: Stored) -> Draft:
            draft = present.thaw()
            given = orjson.loads(draft.get(["metadata", "labels"]) or b"{}")
            draft.set(["metadata", "labels"], orjson.dumps(given | {LAST_USED: days[0]}))
            return draft

        try:
            await self._registry.update(resource, namespace, secret, change, Write(patch=True))
        except ApiError as e:
            LOG.warning("the last use of secret %s/%s was not noted: %s", namespace, secret, e.message)
