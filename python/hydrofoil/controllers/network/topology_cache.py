"""Hints of endpoints by the share of each zone in the CPUs of the cluster (`k8s.io/endpointslice/topologycache`)."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil
from typing import NamedTuple

from msgspec.structs import replace

from hydrofoil.controllers.network.slice_plan import SliceDraft, SlicePlan, draft_of
from hydrofoil.controllers.network.traffic_distribution import remove_hints
from hydrofoil.controllers.objects.endpoint_slices import EndpointHints, EndpointSlice, Hint
from hydrofoil.controllers.objects.nodes import Node
from hydrofoil.controllers.objects.quantities import parse_amount
from hydrofoil.controllers.runtime.recorder import NORMAL, WARNING
from hydrofoil.watch.queue import Key

OVERLOAD = 0.2
"""By how much more than its share an endpoint may be used (`overloadThreshold`)."""
ZONE = "topology.kubernetes.io/zone"
EXCLUDED = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")
"""The labels of nodes that do not count."""
ENABLED, DISABLED = "TopologyAwareHintsEnabled", "TopologyAwareHintsDisabled"
Zones = dict[str, int]


class Occurrence(NamedTuple):
    """An event about a service."""

    kind: str
    reason: str
    message: str


class Allocation(NamedTuple):
    """How many endpoints a zone should have."""

    least: int
    most: int
    desired: float


def disabled(message: str, address_type: str) -> Occurrence:
    """Return the event for hints that are not given."""
    return Occurrence(WARNING, DISABLED, f"{message}, addressType: {address_type}")


class TopologyCache:
    """The zones of the nodes, and those of the endpoints of each service that asks for hints."""

    def __init__(self) -> None:
        self._shares: dict[str, float] = {}
        """The part of all CPUs that each zone has; empty where it is unknown or there is one zone."""
        self._hints: dict[Key, dict[str, Zones]] = {}
        """The endpoints of each zone, by service and type of addresses."""
        self._populated: set[Key] = set()

    def has_hints(self, service: Key) -> bool:
        """Report whether a service was given hints."""
        return service in self._populated

    def forget(self, service: Key, address_type: str) -> None:
        """Forget the hints of a service (`RemoveHints`)."""
        types = self._hints.get(service, {})
        types.pop(address_type, None)
        if not types:
            self._hints.pop(service, None)
        self._populated.discard(service)

    def set_nodes(self, nodes: Iterable[Node]) -> list[Key]:
        """Count the CPUs of all zones anew; return the services that have too few endpoints in a zone."""
        cpus: dict[str, int] = {}
        for node in nodes:
            if not node.is_ready or any(label in node.metadata.labels for label in EXCLUDED):
                continue
            zone, cpu = node.metadata.labels.get(ZONE, ""), parse_amount("cpu", node.status.allocatable.get("cpu", "0"))
            if not zone or not cpu:
                cpus = {}
                break
            cpus[zone] = cpus.get(zone, 0) + cpu
        total = sum(cpus.values())
        self._shares = {zone: cpu / total for zone, cpu in cpus.items()} if len(cpus) > 1 else {}
        return [key for key, types in self._hints.items() if any(map(self._is_overloaded, types.values()))]

    def _is_overloaded(self, zones: Zones) -> bool:
        if not zones:
            return False
        if not self._shares:
            return True
        total = sum(zones.values())
        return any(zones.get(zone, 0) < _least(total * share) for zone, share in self._shares.items())

    def _allocations(self, count: int) -> dict[str, Allocation] | str:
        """Return how many endpoints each zone should have, or why that cannot be said (`getAllocations`)."""
        shares = self._shares
        if not shares:
            return "Insufficient Node information: allocatable CPU or zone not specified on one or more nodes"
        of = f"({count} endpoints, {len(shares)} zones)"
        if len(shares) > count:
            return f"Insufficient number of endpoints {of}"
        least = {zone: _least(share * count) for zone, share in shares.items()}
        spare = count - sum(least.values())
        if spare < 0:
            return (
                f"Unable to allocate minimum required endpoints to each zone without exceeding overload threshold {of}"
            )
        return {
            zone: Allocation(least[zone], least[zone] + spare, max(share * count, least[zone]))
            for zone, share in shares.items()
        }

    def add_hints(
        self, service: Key, address_type: str, plan: SlicePlan, unchanged: list[EndpointSlice]
    ) -> list[Occurrence]:
        """Set the hints of all slices, or remove them where zones cannot be served (`AddHints`)."""
        slices = [draft.endpoints for draft in (*plan.create, *plan.update)]
        slices += [[*(present.endpoints or ())] for present in unchanged]
        allocations = self._allocations(sum(one.is_ready for endpoints in slices for one in endpoints))
        if isinstance(allocations, str):
            return self._give_up(service, address_type, plan, unchanged, allocations)
        zones = _allocated(allocations, plan, unchanged)
        drafts = [*plan.create, *plan.update]
        if any(one.is_ready and not one.zone for draft in drafts for one in draft.endpoints):
            why = "One or more endpoints do not have a zone specified"
            return self._give_up(service, address_type, plan, unchanged, why)
        for draft in drafts:
            _hint_own_zones(draft, zones)
        _redistribute(drafts, zones, *_giving_and_receiving(allocations, zones))
        if not zones:
            return self._give_up(service, address_type, plan, unchanged, "No hints allocated for zones")
        is_new = service not in self._populated
        self._hints.setdefault(service, {})[address_type] = zones
        self._populated.add(service)
        if not is_new:
            return []
        return [Occurrence(NORMAL, ENABLED, f"Topology Aware Hints has been enabled, addressType: {address_type}")]

    def _give_up(
        self, service: Key, address_type: str, plan: SlicePlan, unchanged: list[EndpointSlice], why: str
    ) -> list[Occurrence]:
        self.forget(service, address_type)
        changed = plan.changed()
        remove_hints(plan, [present for present in unchanged if present.metadata.name not in changed])
        return [disabled(why, address_type)]


def _least(desired: float) -> int:
    return ceil(desired * (1 / (1 + OVERLOAD)))


def _allocated(allocations: dict[str, Allocation], plan: SlicePlan, unchanged: list[EndpointSlice]) -> Zones:
    """Count the hints of slices that stay as they are; those with wrong ones are updated."""
    zones: Zones = {}
    for present in unchanged:
        hints = _hints_by_zone(present, zones, allocations)
        if hints is None:
            plan.update.append(draft_of(present, ""))
        else:
            for zone, count in hints.items():
                zones[zone] = zones.get(zone, 0) + count
    return zones


def _hints_by_zone(present: EndpointSlice, zones: Zones, allocations: dict[str, Allocation]) -> Zones | None:
    """Return the hints of a slice by zone; None if an endpoint lacks one, or a zone has too many."""
    hints: Zones = {}
    for endpoint in present.endpoints or ():
        if not endpoint.is_ready:
            continue
        if endpoint.hints is None or not endpoint.hints.for_zones:
            return None
        for hint in endpoint.hints.for_zones:
            if hint.name not in allocations:
                return None
            hints[hint.name] = hints.get(hint.name, 0) + 1
    if any(count + zones.get(zone, 0) > allocations[zone].most for zone, count in hints.items()):
        return None
    return hints


def _hint_own_zones(draft: SliceDraft, zones: Zones) -> None:
    for number, endpoint in enumerate(draft.endpoints):
        if endpoint.is_ready and endpoint.zone:
            zones[endpoint.zone] = zones.get(endpoint.zone, 0) + 1
            draft.endpoints[number] = replace(endpoint, hints=EndpointHints((Hint(endpoint.zone),)))


def _giving_and_receiving(allocations: dict[str, Allocation], zones: Zones) -> tuple[Zones, Zones]:
    """Return how many endpoints each zone gives to others, and gets (`getGivingAndReceivingZones`)."""
    surplus = {zone: zones.get(zone, 0) - allocation.desired for zone, allocation in allocations.items()}
    gives = {zone: number for zone, number in surplus.items() if number > 0}
    gets = {zone: -number for zone, number in surplus.items() if number < 0}
    giving: Zones = {}
    receiving: Zones = {}
    while gives and gets:
        giver, getter = max(gives, key=gives.__getitem__), max(gets, key=gets.__getitem__)
        most, wanted = gives[giver], gets[getter]
        if (most < 1 and wanted < 1) or most < 0.5 or wanted < 0.5:
            break
        giving[giver] = giving.get(giver, 0) + 1
        receiving[getter] = receiving.get(getter, 0) + 1
        gives[giver] -= 1
        gets[getter] -= 1
    return giving, receiving


def _redistribute(drafts: list[SliceDraft], zones: Zones, giving: Zones, receiving: Zones) -> None:
    """Give endpoints of some zones to others (`redistributeHints`)."""
    for draft in drafts:
        for number, endpoint in enumerate(draft.endpoints):
            if not endpoint.is_ready or not giving.get(endpoint.zone or ""):
                continue
            getter = next((zone for zone, count in receiving.items() if count), None)
            if getter is None:
                return
            giver = endpoint.zone or ""
            draft.endpoints[number] = replace(endpoint, hints=EndpointHints((Hint(getter),)))
            giving[giver] -= 1
            receiving[getter] -= 1
            zones[giver] -= 1
            zones[getter] = zones.get(getter, 0) + 1
