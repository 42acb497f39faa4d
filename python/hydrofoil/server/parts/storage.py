"""What is stored: the objects of a new cluster, and their encryption."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING

from hydrofoil.aggregation.apiservices import ApiServices
from hydrofoil.authorization.service import Authorization
from hydrofoil.errors import ApiError
from hydrofoil.server import bootstrap
from hydrofoil.server.health import KMS, Health
from hydrofoil.server.listening import StartError
from hydrofoil.server.part import Core, Part

if TYPE_CHECKING:
    from hydrofoil.storage.encryption.service import Service as Encryption

FLOW_CONTROL = "flowcontrol.apiserver.k8s.io"
Restore = Callable[[], Awaitable[None]]


def encryption(core: Core, health: Health, found: Encryption | None) -> Part[None]:
    """Return the encryption of the storage, whose plug-ins may become ready later."""
    if found is None:
        return Part(feature=None)
    from hydrofoil.storage.encryption.metrics import Conversions

    if found.reloads_file:
        core.files.watch(found.path, changed=found.changed)
    if found.has_health:
        health.add(KMS, found.problem, "informer-sync")

    async def start() -> None:
        found.start()

    return Part(
        feature=None,
        start=start,
        close=found.close,
        collectors=lambda: [found.reloads, Conversions(found.native)],
    )


def first_objects(core: Core, authorization: Authorization, services: ApiServices) -> Part[Restore]:
    """Create the objects that every cluster has; the feature creates missing ones of priority and fairness again."""
    objects = partial(bootstrap.load, core.registry, core.site.port, core.config.service_cluster_ip_range, core.gates)

    async def start() -> None:
        if core.config.read_only:
            return
        if core.worker is not None:
            # The owner makes them.
            await core.worker.has_objects.wait()
            return
        try:
            await services.load()
            await objects(roles=authorization.reconciles)
        except ApiError as e:
            # The disk takes no writes, or a plug-in that encrypts them is not there.
            raise StartError(f"cannot create the first objects: {e.message}") from None

    return Part(feature=partial(objects, roles=False, group=FLOW_CONTROL), start=start)
