"""Charges of writes to the quotas of a namespace (apiserver `pkg/admission/plugin/resourcequota/controller.go`)."""

from __future__ import annotations

import asyncio

from msgspec import Struct, field

from hydrofoil import errors
from hydrofoil.admission.attributes import Attributes
from hydrofoil.apis.catalog import Resource
from hydrofoil.engine import Draft, Stored, quota_charge
from hydrofoil.registry.store import Registry
from hydrofoil.registry.write import Write

MANAGER = "kube-apiserver"


class Waiter(Struct, eq=False):
    """One write that is to be charged."""

    attributes: Attributes
    settled: bool = False
    refusal: errors.ApiError | None = None


class Line(Struct, eq=False):
    """The writes of one namespace: those that arrive while quotas are written are charged together."""

    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    waiters: list[Waiter] = field(default_factory=list)


class Running:
    """A quota, and its usage with the charges that are not written yet."""

    __slots__ = ("_charged", "used", "written")

    def __init__(self, written: Stored) -> None:
        self.written = written
        self._charged: Stored | None = written
        self.used: bytes | None = None
        """The new usage, as JSON; None while nothing was charged."""

    def charge(self, used: bytes) -> None:
        """Take a new usage."""
        self.used, self._charged = used, None

    def charged(self) -> Stored:
        """Return the quota as it would be with the usage, for the next write to be judged by."""
        if self._charged is None:
            draft = self.written.thaw()
            draft.set(["status", "used"], self.used or b"{}")
            self._charged = draft.preview(self.written.revision)
        return self._charged


class Charges:
    """Charge by a write on the condition that a quota is as it was judged, so that every server of a log counts."""

    def __init__(self, registry: Registry, resource: Resource, limited: bytes) -> None:
        """`resource` is that of quotas, `limited` the resources that need one (JSON), or empty."""
        self._registry = registry
        self._resource = resource
        self._limited = limited
        self._lines: dict[str, Line] = {}

    async def charge(self, a: Attributes) -> None:
        """Add a write to the usage of the quotas that it concerns. Raise ApiError 403 if one would be exceeded.

        The usage stays if the write fails later, as upstream's does: the quota controller counts again.
        """
        line, waiter = self._lines.setdefault(a.namespace, Line()), Waiter(a)
        line.waiters.append(waiter)
        try:
            async with line.turn:
                if not waiter.settled:
                    await self._settle(a.namespace, list(line.waiters))
        finally:
            line.waiters.remove(waiter)
            if not line.waiters:
                del self._lines[a.namespace]
        if waiter.refusal is not None:
            raise waiter.refusal

    async def _settle(self, namespace: str, waiters: list[Waiter]) -> None:
        """Judge writes in their order, then write the usage (`checkQuotas`).

        A quota that another server has changed is judged again, alone. Upstream gives up after three times; each time
        here means that another server got ahead, so one of them always does.
        """
        limited, missed = self._limited, None
        while True:
            quotas = [
                Running(quota)
                for quota in self._registry.all(self._resource, namespace)
                if missed is None or quota.name in missed
            ]
            charged = [w for w in waiters if not w.settled and self._judge(w, quotas, limited)]
            try:
                missed = await self._write(quotas)
            except errors.ApiError as e:
                for waiter in charged:
                    waiter.settled, waiter.refusal = True, e
                return
            if not missed:
                for waiter in charged:
                    waiter.settled = True
                return
            # The quotas of this attempt covered what has to be covered.
            limited = b""

    def _judge(self, waiter: Waiter, quotas: list[Running], limited: bytes) -> bool:
        """Charge a write to quotas that are not written yet; return whether that changes any of them."""
        a = waiter.attributes
        group, plural = a.key
        written = (group, plural, a.subresource)
        changed, refusal, forbidden = quota_charge(a.object, a.old, written, [q.charged() for q in quotas], limited)
        if refusal is not None:
            if forbidden:
                waiter.refusal = errors.forbidden(group, plural, a.object.metadata().name, refusal)
            else:
                waiter.refusal = errors.ApiError(500, "", refusal)
        if refusal is not None or a.dry_run or not changed:
            waiter.settled = True
            return False
        for i, used in changed:
            quotas[i].charge(used)
        return True

    async def _write(self, quotas: list[Running]) -> set[str]:
        """Write the new usage of quotas; return the names of those that have changed meanwhile, or are gone."""
        missed = set()
        for quota in quotas:
            if quota.used is None:
                continue
            try:
                await self._write_one(quota.written, quota.used)
            except errors.ApiError as e:
                if e.code not in (404, 409):
                    raise
                missed.add(quota.written.name)
        return missed

    async def _write_one(self, quota: Stored, used: bytes) -> None:
        def change(present: Stored) -> Draft:
            if present.revision != quota.revision:
                raise errors.conflict("", self._resource.plural, quota.name, errors.MODIFIED)
            draft = present.thaw()
            draft.set(["status", "used"], used)
            return draft

        write = Write(manager=MANAGER, subresource="status")
        await self._registry.update(self._resource, quota.namespace, quota.name, change, write)
