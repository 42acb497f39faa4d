"""Bound volumes and their secrets (plugin/pkg/auth/authorizer/node `graph.go`, `AddPV`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import orjson

from hydrofoil.engine import Stored
from hydrofoil.registry import references

Named = tuple[str, str]
"""Namespace and name."""


class Volumes:
    """The claims of persistent volumes, and the volumes that need a secret."""

    def __init__(self) -> None:
        self.claims: dict[str, Named] = {}
        """The claim of each bound volume, by the volume's name."""
        self._secrets: dict[str, tuple[Named, ...]] = {}
        self._volumes: dict[Named, set[str]] = {}

    def replace(self, objects: Iterable[Stored]) -> None:
        """Replace the state by all present volumes."""
        self.claims.clear()
        self._secrets.clear()
        self._volumes.clear()
        for stored in objects:
            self.apply(None, stored)

    def apply(self, old: Stored | None, new: Stored | None) -> None:
        """Apply a change."""
        if old is not None:
            self._remove(old.name)
        if new is None:
            return
        raw = orjson.loads(new.json)
        claim = raw.get("spec", {}).get("claimRef")
        if not claim:
            return
        self.claims[new.name] = (claim.get("namespace", ""), claim.get("name", ""))
        if secrets := tuple(references.volume_secrets(raw)):
            self._secrets[new.name] = secrets
            for secret in secrets:
                self._volumes.setdefault(secret, set()).add(new.name)

    def _remove(self, name: str) -> None:
        self.claims.pop(name, None)
        for secret in self._secrets.pop(name, ()):
            if (volumes := self._volumes.get(secret)) is not None:
                volumes.discard(name)
                if not volumes:
                    del self._volumes[secret]

    async def settle(self) -> None:
        """Return at once: nothing is pending."""

    def with_secret(self, namespace: str, name: str) -> Iterator[Named]:
        """Yield the claims of the volumes that need a secret."""
        for volume in self._volumes.get((namespace, name), ()):
            yield self.claims[volume]
