"""The election of the server that runs the controllers (client-go `tools/leaderelection`)."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import orjson

from hydrofoil.apis.catalog import Resource
from hydrofoil.clock import stopwatch
from hydrofoil.controllers.options import ControllerOptions
from hydrofoil.engine import Draft, Stored
from hydrofoil.errors import ApiError
from hydrofoil.registry.store import Registry
from hydrofoil.registry.write import Write
from hydrofoil.storage.errors import StorageError

LOG = logging.getLogger("hydrofoil")
NAMESPACE, NAME = "kube-system", "hydrofoil-controllers"
JITTER = 1.2
"""The most that the time between two attempts to be elected is stretched by."""
Act = Callable[[], Awaitable[None]]
Spec = dict[str, Any]


class _Held(Exception):
    """Another server has the lease."""


class Leader:
    """Hold a Lease, and run the controllers as long as that is certain.

    Another server takes the lease when it has seen no change of it for its duration, by its own clock: the clocks of
    machines are not compared. This one has stopped by then, because its deadline is shorter.
    """

    def __init__(self, registry: Registry, options: ControllerOptions, elected: Act, deposed: Act) -> None:
        """Call `elected` when this server leads, `deposed` when it does not any more."""
        self._registry = registry
        self._options = options
        self._elected = elected
        self._deposed = deposed
        self.identity = f"{socket.gethostname()}_{os.getpid()}_{registry.chance.uid()}"
        self.leads = False
        self._observed = (0, 0.0)
        """The revision of the lease, and when it was first seen, in seconds of the stopwatch."""
        self._renewed = 0.0
        """The time of the last success, in seconds of the stopwatch."""
        self._task: asyncio.Task[None] | None = None

    @property
    def resource(self) -> Resource | None:
        """Return the resource of leases, if it is served."""
        return self._registry.catalog.find("coordination.k8s.io", "v1", "leases")

    def start(self) -> None:
        """Begin to apply for the lease."""
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """Stop the controllers, and release the lease so that another server need not wait for its end."""
        if self._task is None:
            return
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        if self.leads:
            await self._resign()
            try:
                async with asyncio.timeout(self._options.leader_elect_renew_deadline):
                    await self._release()
            except (ApiError, StorageError, TimeoutError, _Held) as e:
                LOG.warning("the lease of the controllers stays until its end, it was not released: %r", e)

    async def _release(self) -> None:
        """Release the lease, also after a renewal that was cut short and is done nevertheless."""
        while True:
            try:
                return await self._write(self._released)
            except ApiError as e:
                if e.reason != "Conflict":
                    raise

    async def _run(self) -> None:
        while True:
            begun, left = stopwatch(), self._options.leader_elect_renew_deadline
            if self.leads:
                left = max(self._renewed + left - begun, 0.0)
            try:
                async with asyncio.timeout(left):
                    await self._attempt()
                self._renewed = begun
                if not self.leads:
                    self.leads = True
                    LOG.info("this server runs the controllers: %s", self.identity)
                    await self._elected()
            except _Held:
                if self.leads:
                    await self._resign()
            except (ApiError, StorageError, TimeoutError) as e:
                LOG.warning("cannot renew the lease of the controllers: %s", e)
                if self.leads and stopwatch() - self._renewed >= self._options.leader_elect_renew_deadline:
                    await self._resign()
            pause = self._options.leader_elect_retry_period
            if not self.leads:
                pause *= 1 + (JITTER - 1) * self._registry.chance.below(1000) / 1000
            elif (left := self._renewed + self._options.leader_elect_renew_deadline - stopwatch()) < pause:
                pause = max(left, 0.0)
            await self._registry.clock.machine.sleep(pause)

    async def _resign(self) -> None:
        LOG.info("this server no longer runs the controllers: %s", self.identity)
        await self._deposed()
        self.leads = False

    async def _attempt(self) -> None:
        """Take or renew the lease. Raise _Held, ApiError, StorageError."""
        resource = self.resource
        if resource is None:
            raise ApiError(404, "NotFound", "leases.coordination.k8s.io are not served")
        collection = self._registry.collection(resource)
        if not collection.ready():
            await collection.wait()
        if collection.get(resource.native, NAMESPACE, NAME) is None:
            await self._create(resource)
        else:
            await self._write(self._renewal)

    async def _create(self, resource: Resource) -> None:
        body = {"metadata": {"name": NAME, "namespace": NAMESPACE}, "spec": self._spec(0)}
        draft, _ = resource.native.decode(orjson.dumps(body), "json")
        try:
            await self._registry.create(resource, NAMESPACE, draft, Write(manager="hydrofoil"))
        except ApiError as e:
            if e.reason == "AlreadyExists":
                raise _Held from None
            raise

    async def _write(self, renew: Callable[[Spec], Spec]) -> None:
        """Replace the specification of the present lease. Raise _Held."""
        resource = self.resource
        assert resource is not None

        def change(old: Stored) -> Draft:
            spec: Spec = orjson.loads(old.json).get("spec") or {}
            if self._observed[0] != old.revision:
                self._observed = (old.revision, stopwatch())
            draft = old.thaw()
            draft.set(["spec"], orjson.dumps(renew(spec)))
            return draft

        stored = await self._registry.update(resource, NAMESPACE, NAME, change, Write(manager="hydrofoil"))
        self._observed = (stored.revision, stopwatch())

    def _renewal(self, spec: Spec) -> Spec:
        """Return the next specification, if the lease is this server's, or has ended. Raise _Held."""
        holder, transitions = spec.get("holderIdentity") or "", int(spec.get("leaseTransitions") or 0)
        if holder == self.identity:
            return {**self._spec(transitions), "acquireTime": spec.get("acquireTime")}
        lasts = float(spec.get("leaseDurationSeconds") or 0)
        if holder and self._observed[1] + lasts > stopwatch():
            raise _Held
        return self._spec(transitions + 1)

    def _released(self, spec: Spec) -> Spec:
        """Return the specification without a holder. Raise _Held."""
        if spec.get("holderIdentity") != self.identity:
            raise _Held
        return {**self._spec(int(spec.get("leaseTransitions") or 0)), "holderIdentity": "", "leaseDurationSeconds": 1}

    def _spec(self, transitions: int) -> Spec:
        now = self._registry.clock.now().strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        return {
            "holderIdentity": self.identity,
            "leaseDurationSeconds": max(int(self._options.leader_elect_lease_duration), 1),
            "acquireTime": now,
            "renewTime": now,
            "leaseTransitions": transitions,
        }
