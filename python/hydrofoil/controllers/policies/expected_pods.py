"""How many pods there should be, by the scales of their owners (`pkg/controller/disruption/disruption.go`)."""

from __future__ import annotations

from collections.abc import Mapping

from hydrofoil.controllers.objects.meta import OwnerReference
from hydrofoil.controllers.policies.scales import controller_of, find_scale, group_resource, has_scale, resources_of
from hydrofoil.errors import ApiError
from hydrofoil.registry.objects import Objects

GROUPS = ("apps", "extensions")
"""The groups in which replica sets and deployments are, and were."""


class UnknownScale(Exception):
    """A pod whose owner has no scale; the text says why."""


def expected_pods(registry: Objects, namespace: str, owners: Mapping[str, tuple[OwnerReference, str]]) -> int:
    """Return how many pods owners should have in all (`getExpectedScale`). Raise UnknownScale.

    Each has the name of one of its pods. Two may have the same scale: the replica sets of a deployment.
    """
    scales: dict[str, int] = {}
    for owner, pod in owners.values():
        found = _scale(registry, namespace, owner)
        if found is None:
            raise UnknownScale(f'found no controllers for pod "{pod}"')
        scales[found[0]] = found[1]
    return sum(scales.values())


def _scale(registry: Objects, namespace: str, owner: OwnerReference) -> tuple[str, int] | None:
    """Return the uid of what scales an owner, which may be its own owner, and the number; None if it is gone."""
    group = owner.api_version.rpartition("/")[0]
    if owner.kind == "ReplicaSet" and group in GROUPS:
        deployment = _deployment(registry, namespace, owner)
        if deployment is not None:
            return deployment
    version = owner.api_version.rpartition("/")[2]
    resource = next(resources_of(registry, group, owner.kind, version), None)
    if resource is None:
        raise UnknownScale(f'no matches for kind "{owner.kind}" in version "{owner.api_version}"')
    if not has_scale(resource):
        raise UnknownScale(f"{group_resource(resource)} does not implement the scale subresource")
    try:
        scale = find_scale(registry, resource, namespace, owner.name)
    except ApiError as e:
        if e.code == 404:
            return None
        raise UnknownScale(e.message) from e
    return (owner.uid, scale.replicas) if scale.stored.uid == owner.uid else None


def _deployment(registry: Objects, namespace: str, owner: OwnerReference) -> tuple[str, int] | None:
    """Return the deployment of a replica set, and its number (`getPodDeployment`)."""
    stored = registry.find("apps", "replicasets", namespace, owner.name)
    manager = None if stored is None or stored.uid != owner.uid else controller_of(stored)
    if manager is None or manager["kind"] != "Deployment" or manager["apiVersion"].partition("/")[0] not in GROUPS:
        return None
    resource = registry.catalog.find("apps", "v1", "deployments")
    if resource is None:
        return None
    try:
        scale = find_scale(registry, resource, namespace, manager["name"])
    except ApiError:
        return None
    return (scale.stored.uid, scale.replicas) if scale.stored.uid == manager["uid"] else None
