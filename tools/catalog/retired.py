"""Group versions that the release has taken out of its servers, while its modules still have their types."""

from __future__ import annotations

from collections.abc import Iterator

from .model import Json

GROUP = "apiextensions.k8s.io"
CUSTOM = ((GROUP, "v1beta1"), "v1")
"""Definitions of custom resources as they were until 1.22, and the version that has all their facts but the types."""
PRIORITY = {CUSTOM[0]: (16700, 9)}
"""As the aggregator of release 1.21 registered them."""


def retired(resources: list[Json]) -> Iterator[Json]:
    """Yield the resources of retired group versions, made from those of their successor."""
    (group, version), successor = CUSTOM

    def older(name: str) -> str:
        return name.replace(f".{successor}.", f".{version}.")

    for resource in resources:
        if (resource["group"], resource["version"]) == (group, successor):
            subresources = [{**sub, "version": version} for sub in resource["subresources"]]
            types = {key: older(resource[key]) for key in ("type", "listType")}
            yield {**resource, "version": version, "subresources": subresources, "retired": True, **types}
