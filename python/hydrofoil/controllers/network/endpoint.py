"""Endpoints of services (`pkg/controller/endpoint/endpoints_controller.go`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil
from typing import Any

import msgspec
from msgspec.structs import replace

from hydrofoil.apis.catalog import Catalog
from hydrofoil.controllers.network.service_controller import ServiceController
from hydrofoil.controllers.network.service_pods import (
    HEADLESS_LABEL,
    LAST_CHANGE_TRIGGER_TIME,
    LEADER_ANNOTATION,
    find_port,
    has_hostname,
    is_endpoint,
    pod_addresses,
)
from hydrofoil.controllers.network.subsets import NO_PORT, Subsets, repack
from hydrofoil.controllers.objects.endpoint_slices import IPV6
from hydrofoil.controllers.objects.endpoints import (
    EndpointAddress,
    Endpoints,
    EndpointSubset,
    ObjectReference,
    SubsetPort,
)
from hydrofoil.controllers.objects.pods import Pod
from hydrofoil.controllers.objects.services import HEADLESS, Service
from hydrofoil.controllers.pod_control import is_namespace_terminating
from hydrofoil.controllers.runtime.controller import ValueWatch, all_served
from hydrofoil.controllers.runtime.recorder import WARNING, Reference
from hydrofoil.controllers.runtime.runtime import Runtime
from hydrofoil.controllers.runtime.writes import service_account
from hydrofoil.controllers.written_versions import WrittenVersions, revision_of
from hydrofoil.engine import Draft
from hydrofoil.errors import ApiError
from hydrofoil.pace.pacer import Pacer
from hydrofoil.watch.queue import Key

CONTROLLER = "endpoint-controller"
MANAGED_BY = "endpoints.kubernetes.io/managed-by"
OVER_CAPACITY = "endpoints.kubernetes.io/over-capacity"
CAPACITY = 1000
"""The most addresses of Endpoints (`maxCapacity`)."""
START = ("start",)
"""The key of the look at the start."""
encode = msgspec.json.encode


class EndpointController(ServiceController):
    """Keep Endpoints of the name of each service that selects pods."""

    name = "endpoint"
    user = service_account("endpoint-controller")

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(runtime)
        self._recorder = runtime.recorder(CONTROLLER, self.user)
        self._written = WrittenVersions(lambda: self.registry.storage.epoch)

    @classmethod
    def served(cls, catalog: Catalog) -> bool:
        """Report whether all resources it reads are served."""
        return all_served(catalog, ("", "services"), ("", "pods"), ("", "endpoints"))

    def watches(self) -> Iterable[ValueWatch[Any]]:
        return [*super().watches(), self.watch("", "endpoints", Endpoints, self._on_endpoints)]

    def start(self) -> None:
        super().start()
        self._endpoints = self.lister("", "endpoints", Endpoints)
        self.put(*START)

    async def stop(self) -> None:
        await super().stop()
        await self._recorder.close()

    def _on_endpoints(self, old: Endpoints | None, new: Endpoints | None) -> None:
        either = old if new is None else new
        assert either is not None
        key = either.metadata.namespace, either.metadata.name
        observed = self._written.observe(key, key[1], revision_of(new))
        # What others create or change stays until the service or a pod changes.
        if new is None or observed.is_awaited:
            self.put(*key)

    async def work(self, key: Key) -> bool:
        """Sync a service; or at the start look for Endpoints whose service has gone (`checkLeftoverEndpoints`)."""
        if key != START:
            return await super().work(key)
        for endpoints in list(self._endpoints):
            self.put(endpoints.metadata.namespace, endpoints.metadata.name)
        return True

    async def remove(self, namespace: str, name: str) -> None:
        """Delete the Endpoints of a service that is gone; a lock of leader election has none."""
        present = self._endpoints.get(namespace, name)
        if present is None or LEADER_ANNOTATION in present.metadata.annotations:
            return
        try:
            await self.client.delete(self.resource("", "endpoints"), namespace, name)
        except ApiError as e:
            if e.code != 404:
                raise

    async def sync(self, service: Service, pods: list[Pod], time: str) -> bool:
        """Write the Endpoints of a service if they differ."""
        meta = service.metadata
        key = meta.namespace, meta.name
        if self._written.is_stale(key):
            return True
        subsets = await subsets_of(service, pods)
        present = self._endpoints.get(*key)
        if present is not None and is_up_to_date(present, service, subsets):
            return True
        annotations = dict(present.metadata.annotations) if present is not None else {}
        set_or_remove(annotations, LAST_CHANGE_TRIGGER_TIME, time)
        subsets, is_truncated = truncate(subsets)
        set_or_remove(annotations, OVER_CAPACITY, "truncated" if is_truncated else "")
        labels = {**meta.labels, MANAGED_BY: CONTROLLER}
        if service.has_ip:
            labels.pop(HEADLESS_LABEL, None)
        else:
            labels[HEADLESS_LABEL] = ""
        try:
            await self._write(service, present, labels, annotations, subsets)
        except ApiError as e:
            return self._refused(service, present, e)
        return True

    async def _write(
        self,
        service: Service,
        present: Endpoints | None,
        labels: dict[str, str],
        annotations: dict[str, str],
        subsets: Sequence[EndpointSubset],
    ) -> None:
        resource, meta = self.resource("", "endpoints"), service.metadata
        key = meta.namespace, meta.name
        if present is None:
            body = {
                "apiVersion": "v1",
                "kind": "Endpoints",
                "metadata": {"name": meta.name, "labels": labels, "annotations": annotations},
                "subsets": subsets,
            }
            stored = await self.client.create(resource, meta.namespace, encode(body))
        else:

            def change(draft: Draft) -> None:
                draft.set(["metadata", "labels"], encode(labels))
                draft.set(["metadata", "annotations"], encode(annotations) if annotations else None)
                draft.set(["subsets"], encode(subsets) if subsets else None)

            version = present.metadata.resource_version
            stored = await self.client.update(resource, *key, change, version=version)
        shown = self._endpoints.get(*key)
        self._written.note(key, meta.name, stored.revision, revision_of(shown))

    def _refused(self, service: Service, present: Endpoints | None, error: ApiError) -> bool:
        """Record that a write was refused; report whether it is not to be tried again."""
        meta = service.metadata
        place = f"{meta.namespace}/{meta.name}"
        if present is None:
            if is_namespace_terminating(error):
                return True
            # As upstream's, whose new object has no namespace yet.
            about: Reference = {"kind": "Endpoints", "name": meta.name, "apiVersion": "v1"}
            text = f"Failed to create endpoint for service {place}: {error.message}"
            self._recorder.record(about, WARNING, "FailedToCreateEndpoint", text)
        else:
            about = present.metadata.reference("v1", "Endpoints")
            text = f"Failed to update endpoint {place}: {error.message}"
            self._recorder.record(about, WARNING, "FailedToUpdateEndpoint", text)
        return False


def set_or_remove(annotations: dict[str, str], name: str, value: str) -> None:
    """Set an annotation; an empty value removes it."""
    if value:
        annotations[name] = value
    else:
        annotations.pop(name, None)


async def subsets_of(service: Service, pods: list[Pod]) -> tuple[EndpointSubset, ...]:
    """Return the subsets of a service."""
    spec, found, pacer = service.spec, Subsets(), Pacer()
    for pod in pods:
        if is_endpoint(pod, with_terminating=spec.publish_not_ready_addresses):
            address = address_of(service, pod)
            if address is not None:
                _add(found, service, pod, address)
        await pacer.pause()
    return found.pack()


def _add(found: Subsets, service: Service, pod: Pod, address: EndpointAddress) -> None:
    spec = service.spec
    ready = spec.publish_not_ready_addresses or pod.is_ready
    if not spec.ports:
        if spec.cluster_ip == HEADLESS:
            found.add(address, NO_PORT, ready=ready)
        return
    for port in spec.ports:
        number = find_port(pod, port)
        if number is not None:
            found.add(address, SubsetPort(port.name, number, port.protocol, port.app_protocol), ready=ready)


def address_of(service: Service, pod: Pod) -> EndpointAddress | None:
    """Return the address of a pod, of the first family of the service; None if it has none."""
    families = service.spec.ip_families
    addresses = pod_addresses(pod, ipv6=bool(families) and families[0] == IPV6)
    if not addresses:
        return None
    meta = pod.metadata
    return EndpointAddress(
        addresses[0],
        pod.spec.hostname if has_hostname(pod, service) else "",
        pod.spec.node_name,
        ObjectReference("Pod", meta.namespace, meta.name, meta.uid),
    )


def is_up_to_date(present: Endpoints, service: Service, subsets: tuple[EndpointSubset, ...]) -> bool:
    """Report whether Endpoints need no write."""
    meta = present.metadata
    if meta.labels.get(MANAGED_BY) != CONTROLLER:
        return False
    rest = {name: value for name, value in meta.labels.items() if name not in (HEADLESS_LABEL, MANAGED_BY)}
    if rest != service.metadata.labels:
        return False
    known = tuple(map(without_versions, present.subsets or ()))
    if known != subsets and repack(known) != subsets:
        return False
    return OVER_CAPACITY not in meta.annotations and sum(subset.count for subset in known) <= CAPACITY


def without_versions(subset: EndpointSubset) -> EndpointSubset:
    """Return a subset without the versions of its targets, which do not count."""

    def those(addresses: Iterable[EndpointAddress] | None) -> tuple[EndpointAddress, ...] | None:
        return None if addresses is None else tuple(map(_without_version, addresses))

    return replace(subset, addresses=those(subset.addresses), not_ready_addresses=those(subset.not_ready_addresses))


def _without_version(address: EndpointAddress) -> EndpointAddress:
    target = address.target_ref
    if target is None or not target.resource_version:
        return address
    return replace(address, target_ref=replace(target, resource_version=""))


def truncate(subsets: tuple[EndpointSubset, ...]) -> tuple[tuple[EndpointSubset, ...], bool]:
    """Return at most CAPACITY addresses, the ready ones first, each subset by its share; and whether some are missing.

    Shares are rounded up, so that the last subset may have fewer (`truncateEndpoints`).
    """
    ready = sum(len(subset.addresses or ()) for subset in subsets)
    rest = sum(len(subset.not_ready_addresses or ()) for subset in subsets)
    if ready + rest <= CAPACITY:
        return subsets, False
    of_ready = ready > CAPACITY
    most, total = (CAPACITY, ready) if of_ready else (CAPACITY - ready, rest)
    left, found = most, []
    for subset in subsets:
        addresses = (subset.addresses if of_ready else subset.not_ready_addresses) or ()
        kept = addresses[: min(ceil(len(addresses) / total * most), left)]
        left -= len(kept)
        if of_ready:
            found.append(replace(subset, addresses=kept or None, not_ready_addresses=None))
        else:
            found.append(replace(subset, not_ready_addresses=kept or None))
    return tuple(found), True
