"""Hints of endpoints by `trafficDistribution` of the service (upstream `k8s.io/endpointslice/trafficdist`)."""

from __future__ import annotations

from msgspec.structs import replace

from hydrofoil.controllers.network.slice_plan import SliceDraft, SlicePlan, draft_of
from hydrofoil.controllers.objects.endpoint_slices import Endpoint, EndpointHints, EndpointSlice, Hint

PREFER_CLOSE, PREFER_SAME_ZONE, PREFER_SAME_NODE = "PreferClose", "PreferSameZone", "PreferSameNode"
VALUES = (PREFER_CLOSE, PREFER_SAME_ZONE, PREFER_SAME_NODE)


def hints_of(endpoint: Endpoint, *, by_node: bool) -> EndpointHints | None:
    """Return the hints of a ready endpoint: its own zone, and its own node."""
    zones = (Hint(endpoint.zone),) if endpoint.zone is not None else ()
    nodes = (Hint(endpoint.node_name),) if by_node and endpoint.node_name is not None else ()
    return EndpointHints(zones, nodes) if zones or nodes else None


def _needs_update(present: EndpointSlice, *, by_node: bool) -> bool:
    for endpoint in present.endpoints or ():
        if endpoint.is_ready:
            wanted = hints_of(endpoint, by_node=by_node) or EndpointHints()
            if (endpoint.hints or EndpointHints()) != wanted:
                return True
    return False


def set_hints(plan: SlicePlan, unchanged: list[EndpointSlice], distribution: str) -> None:
    """Set the hints of all slices (`ReconcileHints`): those that lack one are updated, too."""
    by_node = distribution == PREFER_SAME_NODE
    plan.update += [draft_of(present, "") for present in unchanged if _needs_update(present, by_node=by_node)]
    for draft in (*plan.create, *plan.update):
        _update(draft, by_node=by_node)


def _update(draft: SliceDraft, *, by_node: bool) -> None:
    draft.endpoints = [
        replace(endpoint, hints=hints_of(endpoint, by_node=by_node)) if endpoint.is_ready else endpoint
        for endpoint in draft.endpoints
    ]


def remove_hints(plan: SlicePlan, unchanged: list[EndpointSlice]) -> None:
    """Remove the hints of all slices (`RemoveHintsFromSlices`)."""
    plan.update += [
        draft_of(present, "") for present in unchanged if any(one.hints is not None for one in present.endpoints or ())
    ]
    for draft in (*plan.create, *plan.update):
        draft.endpoints = [
            endpoint if endpoint.hints is None else replace(endpoint, hints=None) for endpoint in draft.endpoints
        ]
