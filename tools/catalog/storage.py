"""Which group, version and kind the reference server stores a resource as."""

from __future__ import annotations

from .model import VERSION, Json

GroupVersionKind = tuple[str, str, str]

# Cohabitation, as in pkg/kubeapiserver/default_storage_factory_builder.go: two groups, one object.
COHABITANTS: dict[tuple[str, str], GroupVersionKind] = {
    ("events.k8s.io", "events"): ("", "v1", "Event"),
    # cmd/kube-apiserver/app/server.go stores the more compact v1beta1 of these objects.
    ("apiextensions.k8s.io", "customresourcedefinitions"): (
        "apiextensions.k8s.io",
        "v1beta1",
        "CustomResourceDefinition",
    ),
}


def number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


# A server must stay readable for the release before it, so it stores nothing newer than that.
OLDEST_READER = (number(VERSION)[0], number(VERSION)[1] - 1)


def stored_as(resource: Json, resources: list[Json], lifecycle: dict[str, Json]) -> GroupVersionKind | None:
    """Return the stored form, or None if no objects of the resource are stored.

    `resources` lists the versions of a group by priority, the preferred one first.
    """
    if "watch" not in resource["verbs"]:
        return None
    key = (resource["group"], resource["plural"])
    if key in COHABITANTS:
        return COHABITANTS[key]
    for other in resources:
        if (other["group"], other["plural"]) != key:
            continue
        introduced = lifecycle.get(other["type"], {}).get("introduced", "1.0")
        if number(introduced) <= OLDEST_READER:
            return other["group"], other["version"], other["kind"]
    return resource["group"], resource["version"], resource["kind"]
