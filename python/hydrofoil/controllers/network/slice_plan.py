"""EndpointSlices that are to be written (upstream `k8s.io/endpointslice`, reconciler.go)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct

from hydrofoil.controllers.network.service_pods import LAST_CHANGE_TRIGGER_TIME
from hydrofoil.controllers.objects.endpoint_slices import Endpoint, EndpointPort, EndpointSlice

Ports = tuple[EndpointPort, ...]
EndpointKey = tuple[tuple[str, ...], str, str, str]
LONGEST_NAME = 253


def key_of(endpoint: Endpoint) -> EndpointKey:
    """Return what an endpoint is known by (`hashEndpoint`): all else of it is changed in place."""
    target = endpoint.target_ref
    place = (target.namespace, target.name) if target is not None else ("", "")
    return tuple(sorted(endpoint.addresses)), endpoint.hostname or "", *place


def order_of_port(port: EndpointPort) -> tuple[str, int, str, str]:
    """Return the place of a port; upstream orders by a hash of it."""
    return port.name or "", port.port or 0, port.protocol or "", port.app_protocol or ""


def ports_key(ports: Iterable[EndpointPort] | None) -> Ports:
    """Return what slices with the same ports have in common (`NewPortMapKey`)."""
    return tuple(sorted(ports or (), key=order_of_port))


def is_same(one: Endpoint, other: Endpoint) -> bool:
    """Report whether endpoints of one key are equal (`EndpointsEqualBeyondHash`); versions of targets do not count."""
    first, second = one.target_ref, other.target_ref
    return (
        one.node_name == other.node_name
        and one.zone == other.zone
        and one.conditions == other.conditions
        and (first is second or (first is not None and second is not None and _targets_match(one, other)))
    )


def _targets_match(one: Endpoint, other: Endpoint) -> bool:
    first, second = one.target_ref, other.target_ref
    assert first is not None and second is not None
    return (first.kind, first.namespace, first.name, first.uid, first.api_version, first.field_path) == (
        second.kind,
        second.namespace,
        second.name,
        second.uid,
        second.api_version,
        second.field_path,
    )


def name_prefix(name: str) -> str:
    """Return the prefix of the names of a service's slices (`getEndpointSlicePrefix`)."""
    return f"{name}-" if len(name) < LONGEST_NAME else name


class SliceDraft(Struct):
    """A slice that is to be written."""

    prefix: str
    address_type: str
    ports: Ports
    endpoints: list[Endpoint]
    labels: dict[str, str]
    annotations: dict[str, str]
    name: str = ""
    """Empty: it is to be created."""
    version: str = ""
    """The version that it was made from; empty where all of it is replaced, whatever it is now."""
    owners: list[dict[str, Any]] = []
    """Of a new slice, or of one that is replaced."""

    def set_trigger_time(self, time: str) -> None:
        """Set the annotation for the time that caused the write, or remove it."""
        if time:
            self.annotations[LAST_CHANGE_TRIGGER_TIME] = time
        else:
            self.annotations.pop(LAST_CHANGE_TRIGGER_TIME, None)


def draft_of(present: EndpointSlice, prefix: str) -> SliceDraft:
    """Return a draft of a present slice."""
    meta = present.metadata
    return SliceDraft(
        prefix,
        present.address_type,
        present.ports or (),
        [*(present.endpoints or ())],
        dict(meta.labels),
        dict(meta.annotations),
        meta.name,
        meta.resource_version,
    )


class SlicePlan:
    """The slices that are to be created, updated and deleted."""

    def __init__(self) -> None:
        self.create: list[SliceDraft] = []
        self.update: list[SliceDraft] = []
        self.delete: list[EndpointSlice] = []

    def changed(self) -> set[str]:
        """Return the names of present slices that are updated or deleted."""
        return {draft.name for draft in self.update} | {gone.metadata.name for gone in self.delete}

    def recycle(self, is_usable: Callable[[EndpointSlice, SliceDraft], bool]) -> None:
        """Write new slices in place of those that would be deleted, where these are usable."""
        kept: list[EndpointSlice] = []
        for gone in self.delete:
            if self.create and is_usable(gone, self.create[-1]):
                draft = self.create.pop()
                draft.name = gone.metadata.name
                self.update.append(draft)
            else:
                kept.append(gone)
        self.delete = kept


class PortGroup(Struct):
    """The slices of a service that have the same ports, and what they should have."""

    ports: Ports
    present: list[EndpointSlice]
    desired: dict[EndpointKey, Endpoint]
    """Those that have no place yet: each that gets one is removed."""

    def place(
        self,
        plan: SlicePlan,
        capacity: int,
        make: Callable[[Ports], SliceDraft],
        relabel: Callable[[EndpointSlice], tuple[dict[str, str], bool]],
    ) -> None:
        """Add to a plan what brings the slices to the desired endpoints (`reconcileByPortMapping`).

        Endpoints stay where they are; others go to slices that are written anyway, the fullest first, then to one that
        has room for all of them, and to new ones. `relabel` gives the labels of a slice, and whether they differ.
        """
        updates, unchanged = self._keep(plan, make, relabel)
        for draft in sorted(updates, key=lambda draft: -len(draft.endpoints)):
            self._fill(draft, capacity)
        while self.desired:
            room = self._room(unchanged, capacity)
            draft = room or make(self.ports)
            (updates if room is not None else plan.create).append(draft)
            self._fill(draft, capacity)
        plan.update += updates

    def _keep(
        self,
        plan: SlicePlan,
        make: Callable[[Ports], SliceDraft],
        relabel: Callable[[EndpointSlice], tuple[dict[str, str], bool]],
    ) -> tuple[list[SliceDraft], dict[str, EndpointSlice]]:
        """Take the desired endpoints that have a place; return the slices that change, and those that do not."""
        prefix = make(self.ports).prefix
        updates: list[SliceDraft] = []
        unchanged: dict[str, EndpointSlice] = {}
        for present in self.present:
            endpoints, is_changed = self._take(present)
            labels, differ = relabel(present)
            if is_changed and not endpoints:
                plan.delete.append(present)
            elif is_changed or differ:
                draft = draft_of(present, prefix)
                draft.labels = labels
                if is_changed:
                    draft.endpoints = endpoints
                updates.append(draft)
            else:
                unchanged[present.metadata.name] = present
        return updates, unchanged

    def _take(self, present: EndpointSlice) -> tuple[list[Endpoint], bool]:
        endpoints: list[Endpoint] = []
        is_changed = False
        for endpoint in present.endpoints or ():
            wanted = self.desired.pop(key_of(endpoint), None)
            if wanted is None:
                is_changed = True
            else:
                endpoints.append(wanted)
                is_changed = is_changed or not is_same(wanted, endpoint)
        return endpoints, is_changed

    def _fill(self, draft: SliceDraft, capacity: int) -> None:
        while self.desired and len(draft.endpoints) < capacity:
            key = next(iter(self.desired))
            draft.endpoints.append(self.desired.pop(key))

    def _room(self, unchanged: dict[str, EndpointSlice], capacity: int) -> SliceDraft | None:
        """Return the slice that the remaining endpoints fill best (`getSliceToFill`); None if all are too full."""
        count = len(self.desired)
        if count >= capacity:
            return None
        rooms = {name: capacity - count - len(kept.endpoints or ()) for name, kept in unchanged.items()}
        name = min((name for name, room in rooms.items() if 0 <= room < capacity), key=rooms.__getitem__, default="")
        return draft_of(unchanged.pop(name), "") if name else None
