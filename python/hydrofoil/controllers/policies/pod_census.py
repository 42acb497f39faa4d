"""What the status of a budget needs to know of its pods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from hydrofoil.controllers.objects.meta import OwnerReference
from hydrofoil.controllers.objects.pods import Pod
from hydrofoil.pace.pacer import Pacer


class PodCensus(Struct):
    """The pods of a budget, counted in one pass: there may be thousands."""

    total: int = 0
    ready: int = 0
    """Those that are ready and neither deleted nor evicted."""
    evicted: list[Pod] = []
    """Those that were evicted and are not deleted yet."""
    owners: dict[str, tuple[OwnerReference, str]] = {}
    """The owners by uid, each with the name of one of its pods."""
    has_unmanaged: bool = False
    """Whether a pod has no owner."""


async def take_census(pods: Iterable[Pod], evicted: Mapping[str, str]) -> PodCensus:
    """Count pods; `evicted` are those that the status names."""
    found, pacer = PodCensus(), Pacer()
    for pod in pods:
        meta = pod.metadata
        found.total += 1
        owner = meta.controller
        if owner is None:
            found.has_unmanaged = True
        else:
            found.owners.setdefault(owner.uid, (owner, meta.name))
        if not pod.is_deleting:
            if meta.name in evicted:
                found.evicted.append(pod)
            else:
                found.ready += pod.is_ready
        await pacer.pause()
    return found
