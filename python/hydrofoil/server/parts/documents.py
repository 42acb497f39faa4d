"""Discovery, OpenAPI and the version: what a server says of itself."""

from __future__ import annotations

from collections.abc import Mapping

from hydrofoil.endpoints.context import Handler
from hydrofoil.server.metrics import Collects
from hydrofoil.server.nonresource import NonResource
from hydrofoil.server.part import Core, Part
from hydrofoil.server.parts.extensions import Aggregation


def documents(core: Core, aggregation: Aggregation, paths: Mapping[str, Handler]) -> Part[NonResource]:
    """Return the handler of everything that is no resource; `paths` are those of other parts."""
    registrations, services = aggregation.registrations, aggregation.services
    found = NonResource(
        core.registry,
        registrations,
        aggregation.documents,
        core.site.authority,
        core.version,
        paths,
        hashes=core.gates.enabled("StorageVersionHash"),
    )

    def snapshot() -> Collects:
        from hydrofoil.server.extension_metrics import ExtensionMetrics

        return ExtensionMetrics(found.aggregated.count, registrations.available(), services.outages.copy())

    return Part(feature=found, snapshots=[snapshot])
