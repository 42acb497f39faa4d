"""The resources that this server serves."""

from __future__ import annotations

from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, Protocol, cast

import orjson
from msgspec import Struct

from hydrofoil import engine
from hydrofoil.apis.emulation import minor_of_introduction
from hydrofoil.apis.enablement import enablement
from hydrofoil.apis.releases.release import Release, default_release


class Subresource(Struct, frozen=True):
    """A subresource, its verbs and its kind."""

    name: str
    group: str
    version: str
    kind: str
    type_name: str
    verbs: frozenset[str]


class Converter(Protocol):
    """A converter of custom resources between versions."""

    async def to_request_version(self, stored: list[engine.Stored], api_version: str) -> None:
        """Convert objects to the requested version."""

    async def to_storage_version(self, draft: engine.Draft, api_version: str) -> None:
        """Convert a draft to the storage version."""

    async def convert(self, objects: list[bytes], api_version: str) -> list[bytes]:
        """Convert objects in JSON to any version."""


class Resource(Struct, eq=False):
    """One resource at one version, as in discovery and routing."""

    group: str
    version: str
    plural: str
    singular: str
    kind: str
    list_kind: str
    namespaced: bool
    verbs: tuple[str, ...]
    short_names: tuple[str, ...]
    categories: tuple[str, ...]
    storage_version: tuple[str, str, str] | None
    """Group, version and kind of `storageVersionHash`; None for virtual resources."""
    native: engine.ResourceType
    subresources: dict[str, Subresource]
    deprecation: str
    """The warning for each request to it; empty if absent."""
    raw: dict[str, Any]
    custom: bool = False
    """Whether it is defined by a custom resource definition."""
    terminating: bool = False
    """Whether its definition is being deleted, so that no new object may be stored."""
    webhook: Converter | None = None
    """The webhook that converts its versions; a request in flight keeps the one it began with."""
    traits: frozenset[str] | None = None
    """Properties of its type in the generic flows, once read."""
    storage: tuple[str, str] = ("", "")
    """The key of its collection: events of both groups share one, custom resources have their own."""

    def __post_init__(self) -> None:
        """Compute what each request asks for."""
        self.storage = (self.group, f"{self.plural}.{self.group}") if self.custom else (self.storage_group, self.plural)

    def deprecates(self, subresource: str) -> bool:
        """Report whether requests are to a deprecated kind; of a built-in resource, a subresource may have another."""
        if not self.deprecation or not subresource or self.custom:
            return bool(self.deprecation)
        found = self.subresources.get(subresource)
        return found is None or found.kind == self.kind

    def __repr__(self) -> str:
        return f"Resource({self.plural!r}, {self.api_version!r})"

    @property
    def api_version(self) -> str:
        """Return `v1` or `group/version`."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def default_table(self) -> bool:
        """Report whether its tables show only name and age."""
        if self.custom:
            return False
        if self.plural == "csistoragecapacities":
            # Upstream has a printer for it that its storage does not use.
            return True
        columns = self.raw.get("columns")
        return not columns or [c["name"] for c in columns] == ["Name", "Created At"]

    @property
    def storage_group(self) -> str:
        """Return the group of the stored type, as validation errors show it."""
        return "" if self.group == "events.k8s.io" and not self.custom else self.group


@cache
def load_package_data() -> dict[str, Any]:
    """Return the package data, which all servers of a process share."""
    return cast("dict[str, Any]", orjson.loads(_read_package_data()))


@lru_cache(maxsize=4)
def load_types(minor: int, gates: tuple[str, ...]) -> engine.Catalog:
    """Return the built-in types in a release with some gates on, which servers of the same release share."""
    return engine.Catalog(_read_package_data(), minor, list(gates))


def _read_package_data() -> bytes:
    return (files("hydrofoil.apis") / "data" / "catalog.json").read_bytes()


class Catalog:
    """All resources by group, version and plural, and their types.

    Raise EnablementError if `runtime_config` names an unknown version.
    """

    def __init__(self, runtime_config: dict[str, bool] | None = None, release: Release | None = None) -> None:
        """`release`: the version and gates whose resources are served, if they are not those by default."""
        raw = load_package_data()
        followed = release or default_release()
        on = tuple(name for name, _, enabled in followed.gates.states() if enabled)
        self.native = load_types(followed.minor, on)
        self.paths: list[str] = raw["paths"]
        self.checks: dict[str, list[str]] = raw["checks"]
        self.release: str = raw["release"]
        self.priorities: dict[str, tuple[int, int]] = {gv: (p[0], p[1]) for gv, p in raw["priorities"].items()}
        """The priorities of built-in group versions: of the group, and of the version in it."""
        self.groups: dict[str, dict[str, dict[str, Resource]]] = {name: {} for name in raw["groups"]}
        self.by_kind: dict[tuple[str, str, str], Resource] = {}
        config = runtime_config or {}
        if config:
            config = enablement(config, {_group_version(entry) for entry in raw["resources"]})
        self.off: set[tuple[str, str, str]] = set()
        """Group, version and plural of resources served by default but not by this server."""
        for entry in raw["resources"]:
            if followed.minor < minor_of_introduction(entry.get("lifecycle", {})):
                continue
            if _enabled(entry, config) and followed.serves(entry["group"], entry["plural"]):
                self._add(entry, followed)
            elif entry.get("served"):
                self.off.add((entry["group"], entry["version"], entry["plural"]))
        self.builtin = frozenset((r.group, r.version, r.plural) for r in self.resources())
        """Group, version and plural of resources without a definition."""
        self.groups = {g: versions for g, versions in self.groups.items() if versions}
        self._builtin = set(self.groups)
        self._custom: dict[str, list[Resource]] = {}
        self.changes = 0
        """A count that grows with each change of resources: results derived from an earlier catalog are stale."""

    def replace(self, definition: str, resources: list[Resource]) -> None:
        """Replace the resources of a custom resource definition; an empty list removes them.

        The maps are replaced, not changed: a reader in another thread sees the state before or after.
        """
        groups, fresh = dict(self.groups), set[tuple[str, str]]()

        def served(r: Resource) -> dict[str, Resource]:
            if (r.group, "") not in fresh:
                groups[r.group] = dict(groups.get(r.group, {}))
            versions = groups[r.group]
            if (r.group, r.version) not in fresh:
                versions[r.version] = dict(versions.get(r.version, {}))
            fresh.update(((r.group, ""), (r.group, r.version)))
            return versions[r.version]

        for old in self._custom.pop(definition, ()):
            if served(old).get(old.plural) is old:
                del served(old)[old.plural]
            if self.by_kind.get((old.group, old.version, old.kind)) is old:
                del self.by_kind[old.group, old.version, old.kind]
        for new in resources:
            # A built-in resource is never replaced.
            found = served(new)
            if new.plural not in found or found[new.plural].custom:
                found[new.plural] = new
                self.by_kind[new.group, new.version, new.kind] = new
        for group, version in fresh:
            if version and not groups[group][version]:
                del groups[group][version]
            elif version and self.is_custom(group):
                # Discovery does not depend on the order in which definitions were made and changed.
                groups[group][version] = dict(sorted(groups[group][version].items()))
        self.groups = {group: versions for group, versions in groups.items() if versions}
        if resources:
            self._custom[definition] = resources
        self.changes += 1

    def is_custom(self, group: str) -> bool:
        """Report whether a group has custom resources only."""
        return group not in self._builtin

    def serves(self, resource: Resource) -> bool:
        """Report whether a resource is served in any version."""
        return any(resource.plural in served for served in self.groups.get(resource.group, {}).values())

    def present(self, resource: Resource) -> Resource:
        """Return the resource as it is served now: its definition may have changed meanwhile."""
        if not resource.custom:
            return resource
        versions = self.groups.get(resource.group, {})
        found = versions.get(resource.version, {}).get(resource.plural)
        if found is None:
            found = next((served[resource.plural] for served in versions.values() if resource.plural in served), None)
        return found or resource

    def _add(self, entry: dict[str, Any], followed: Release) -> None:
        group, version, plural = entry["group"], entry["version"], entry["plural"]
        resource = Resource(
            group=group,
            version=version,
            plural=plural,
            singular=entry["singular"],
            kind=entry["kind"],
            list_kind=entry.get("listKind", ""),
            namespaced=entry.get("namespaced", False),
            verbs=tuple(entry["verbs"]),
            short_names=tuple(entry.get("shortNames", ())),
            categories=tuple(entry.get("categories", ())),
            storage_version=tuple(entry["storage"]) if entry.get("storage") else None,
            native=self.native.resource(group, version, plural),
            subresources={s["name"]: _subresource(s) for s in entry.get("subresources", ())},
            deprecation=_deprecation(entry, self.release, followed),
            raw=entry,
        )
        self.groups.setdefault(group, {}).setdefault(version, {})[plural] = resource
        self.by_kind.setdefault((group, version, resource.kind), resource)

    def find(self, group: str, version: str, plural: str) -> Resource | None:
        """Return the resource of a path, if it is served."""
        try:
            return self.groups[group][version].get(plural)
        except KeyError:
            return None

    def collected(self, group: str, plural: str) -> Resource | None:
        """Return a resource at `v1`, else at any served version; None if it is not served."""
        versions = self.groups.get(group, {})
        return self.find(group, "v1", plural) or next((v[plural] for v in versions.values() if plural in v), None)

    def kind(self, group: str, version: str, kind: str, type_name: str) -> engine.ResourceType:
        """Return a type that is not stored, such as options or a review."""
        return self.native.kind(group, version, kind, type_name)

    def protobuf(self, body: bytes) -> bytes:
        """Encode a JSON document of a known kind as enveloped protobuf (MT-05)."""
        raw = orjson.loads(body)
        # The oldest discovery documents have no apiVersion.
        group, _, version = raw.get("apiVersion", "").rpartition("/")
        kind = raw["kind"]
        resource = self.by_kind.get((group, version, kind))
        if resource is not None:
            native = resource.native
        elif (lists := self.by_kind.get((group, version, kind.removesuffix("List")))) and lists.list_kind == kind:
            native = self.kind(group, version, kind, lists.raw["listType"])
        else:
            native = self.kind(group, version, kind, UNSTORED[kind])
        return native.decode(body, "json")[0].protobuf()

    def resources(self) -> list[Resource]:
        """Return every resource of every version."""
        return [r for versions in self.groups.values() for rs in versions.values() for r in rs.values()]


def _subresource(raw: dict[str, Any]) -> Subresource:
    return Subresource(
        raw["name"],
        raw.get("group", ""),
        raw.get("version", ""),
        raw["kind"],
        raw.get("type", ""),
        frozenset(raw["verbs"]),
    )


def _group_version(entry: dict[str, Any]) -> str:
    return f"{entry['group']}/{entry['version']}" if entry["group"] else entry["version"]


def _enabled(entry: dict[str, Any], config: dict[str, bool]) -> bool:
    """Report whether a resource is served: the most specific key of --runtime-config decides (GR-03, GR-04).

    Resources that upstream has removed are served only if their version is named.
    """
    version = _group_version(entry)
    level = "alpha" if "alpha" in entry["version"] else "beta" if "beta" in entry["version"] else "ga"
    named = f"{version}/{entry['plural']}", version
    for key in named if entry.get("retired") else (*named, f"api/{level}", "api/all"):
        if key in config:
            return config[key]
    return bool(entry.get("served"))


UNSTORED = {
    "Status": "io.k8s.apimachinery.pkg.apis.meta.v1.Status",
    "Scale": "io.k8s.api.autoscaling.v1.Scale",
    "TokenRequest": "io.k8s.api.authentication.v1.TokenRequest",
    **{
        kind: f"io.k8s.apimachinery.pkg.apis.meta.v1.{kind}"
        for kind in ("APIGroup", "APIGroupList", "APIResourceList", "APIVersions", "PartialObjectMetadataList")
    },
}
"""Kinds of responses that are not resources."""


def _minor(release: str) -> int:
    return int(release.split(".")[1])


def _deprecation(entry: dict[str, Any], release: str, followed: Release) -> str:
    """Return upstream's warning for a kind deprecated in a release (apiserver `pkg/endpoints/deprecation`)."""
    if text := followed.data.warnings.get(f"{entry['group']}/{entry['plural']}"):
        return text
    life = entry.get("lifecycle", {})
    if not life.get("deprecated") or _minor(life["deprecated"]) > _minor(release):
        return ""
    version = _group_version(entry)
    text = f"{version} {entry['kind']} is deprecated in v{life['deprecated']}+"
    if life.get("removed"):
        text += f", unavailable in v{life['removed']}+"
    if life.get("replacement"):
        group, new_version, kind = life["replacement"]
        text += f"; use {group}/{new_version} {kind}" if group else f"; use {new_version} {kind}"
    return text
