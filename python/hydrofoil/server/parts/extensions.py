"""Definitions of custom resources, and API services that other servers answer."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from hydrofoil.admission.chain import Chain
from hydrofoil.aggregation.apiservices import ApiServices, ApiServiceStrategy
from hydrofoil.aggregation.availability import Availability
from hydrofoil.aggregation.backends import Backends
from hydrofoil.aggregation.content import RemoteContent
from hydrofoil.aggregation.documents import Documents
from hydrofoil.aggregation.passing_on import PassingOn
from hydrofoil.aggregation.registrations import Registrations
from hydrofoil.aggregation.remote import RemoteClient
from hydrofoil.apiextensions.definitions import DefinitionStrategy, Extensions
from hydrofoil.registry.strategy import Strategy
from hydrofoil.server.part import Core, Part
from hydrofoil.watch.follow import Followed
from hydrofoil.watch.queue import Queue


class Aggregation(Struct, frozen=True):
    """The API services of one server, and what is known of those behind other addresses."""

    services: ApiServices
    registrations: Registrations
    documents: Documents
    content: RemoteContent
    route: PassingOn


def aggregation(core: Core) -> Part[Aggregation]:
    """Return the API services."""
    registry, hub, clock = core.registry, core.hub, core.clock
    calls = core.config.calls_services
    registrations = Registrations(calls=calls)
    services = ApiServices(registry, registrations, hub, clock)
    backends = Backends(core.services)
    availability = Availability(registry, hub, registrations, backends, services.report) if calls else None
    documents = Documents(registrations, backends, clock)
    content = RemoteContent(registrations, RemoteClient(backends))

    async def close() -> None:
        await documents.close()
        if availability is not None:
            await availability.close()
        await services.close()

    return Part(
        feature=Aggregation(services, registrations, documents, content, PassingOn(registrations, documents, backends)),
        close=close,
        strategies={("apiregistration.k8s.io", "apiservices"): ApiServiceStrategy(services)},
        followed=services.followed,
        queues={"APIServiceRegistrationController": services.queue},
    )


def definitions(core: Core, admission: Chain, aggregation: Aggregation) -> Part[None]:
    """Return the custom resources, if definitions are served themselves."""
    group, plural = "apiextensions.k8s.io", "customresourcedefinitions"
    resource = core.catalog.collected(group, plural)
    if resource is None:
        return Part(feature=None)

    def swapped(collection: tuple[str, str] | None) -> None:
        admission.changed()
        if collection is not None:
            core.hub.cut(collection)
        for listener in core.listeners:
            listener()

    converters = core.services if core.config.calls_converters else None
    made = Extensions(core.registry, resource, core.hub, core.clock, swapped, converters)
    strategies: dict[tuple[str, str], Strategy] = {
        (group, plural): DefinitionStrategy(core.registry, made, aggregation.services.defined)
    }
    followed: list[Followed[Any]] = [made.followed]
    queues: dict[str, Queue] = {
        "crd_finalizer": made.finalizer.queue,
        "crd_naming_condition_controller": made.status.queue,
    }
    return Part(feature=None, close=made.close, strategies=strategies, followed=followed, queues=queues)
