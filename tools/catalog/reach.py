"""The types that requests and answers of the server can hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from .model import Json

META = "io.k8s.apimachinery.pkg.apis.meta.v1"
RUNTIME = "io.k8s.apimachinery.pkg.runtime"

# Types that belong to no resource: envelopes, options, discovery, reviews of webhooks.
EXTRA = (
    *(
        f"{META}.{name}"
        for name in (
            "APIGroup",
            "APIGroupList",
            "APIResourceList",
            "APIVersions",
            "CreateOptions",
            "DeleteOptions",
            "GetOptions",
            "ListMeta",
            "ListOptions",
            "ObjectMeta",
            "PartialObjectMetadata",
            "PartialObjectMetadataList",
            "PatchOptions",
            "Status",
            "Table",
            "TableOptions",
            "UpdateOptions",
            "WatchEvent",
        )
    ),
    f"{RUNTIME}.Unknown",
    "io.k8s.api.admission.v1.AdmissionReview",
    "io.k8s.api.apidiscovery.v2.APIGroupDiscoveryList",
    "io.k8s.api.apidiscovery.v2beta1.APIGroupDiscoveryList",
    "io.k8s.api.authentication.v1.TokenRequest",
    "io.k8s.api.autoscaling.v1.Scale",
    "io.k8s.api.core.v1.PodLogOptions",
    # Not served, but in etcd: the node ports in use.
    "io.k8s.api.core.v1.RangeAllocation",
    "io.k8s.api.policy.v1.Eviction",
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ConversionReview",
)


def type_of_kind(types: dict[str, Json]) -> dict[tuple[str, str, str], str]:
    """Group, version and kind -> name of the type."""
    kinds: dict[tuple[str, str, str], str] = {}
    for name, type_ in types.items():
        if gvk := type_.get("groupVersionKind"):
            kinds.setdefault((gvk[0], gvk[1], gvk[2]), name)
    return kinds


def roots(resources: Iterable[Json], types: dict[str, Json]) -> Iterator[str]:
    kinds = type_of_kind(types)
    for resource in resources:
        yield resource["type"]
        if list_type := resource.get("listType"):
            yield list_type
        for sub in resource["subresources"]:
            yield kinds[sub["group"], sub["version"], sub["kind"]]
    yield from (name for name in EXTRA if name in types)


def references(type_: Json) -> Iterator[str]:
    """Names of the types that a type mentions, in JSON or in protobuf."""
    for field in type_["fields"]:
        yield from shape_references(field)
        proto = field.get("proto", {})
        yield proto.get("t", "")
        yield from proto.get("map", ())
    for part in type_.get("inline", ()):
        yield part["ref"]
    for field in type_.get("protoFields", ()):
        yield field["t"] or ""


def shape_references(shape: dict[str, Any]) -> Iterator[str]:
    if "ref" in shape:
        yield shape["ref"]
    for key in ("items", "values"):
        if isinstance(shape.get(key), dict):
            yield from shape_references(shape[key])


def reachable(types: dict[str, Json], start: Iterable[str]) -> set[str]:
    seen: set[str] = set()
    waiting = list(start)
    while waiting:
        name = waiting.pop()
        if name in seen or name not in types:
            continue
        seen.add(name)
        waiting.extend(references(types[name]))
    return seen
