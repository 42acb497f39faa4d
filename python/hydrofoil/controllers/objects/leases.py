"""Leases."""

from __future__ import annotations

from msgspec import Struct

from hydrofoil.controllers.objects.meta import ObjectMeta


class LeaseSpec(Struct, frozen=True, gc=False, rename="camel"):
    """Who holds a lease, and since when."""

    holder_identity: str | None = None
    renew_time: str = ""


class Lease(Struct, frozen=True, gc=False):
    """A lease."""

    metadata: ObjectMeta
    spec: LeaseSpec = LeaseSpec()
