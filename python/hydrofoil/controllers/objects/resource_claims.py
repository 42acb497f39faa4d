"""Claims of devices."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from hydrofoil.controllers.objects.meta import ObjectMeta


class Consumer(Struct, frozen=True, gc=False, rename="camel"):
    """Who has a claim."""

    resource: str
    name: str
    uid: str
    api_group: str = ""

    def value(self) -> dict[str, str]:
        """Return it as objects have it."""
        found = {"resource": self.resource, "name": self.name, "uid": self.uid}
        return {**found, "apiGroup": self.api_group} if self.api_group else found


class ResourceClaimStatus(Struct, frozen=True, gc=False, rename="camel"):
    """What a claim has."""

    allocation: dict[str, Any] | None = None
    reserved_for: tuple[Consumer, ...] = ()


class ResourceClaim(Struct, frozen=True, gc=False):
    """A claim of devices."""

    metadata: ObjectMeta
    status: ResourceClaimStatus = ResourceClaimStatus()


class ResourceClaimTemplate(Struct, frozen=True, gc=False):
    """A template of claims."""

    metadata: ObjectMeta
    spec: dict[str, Any] = {}
