"""The resources that a server has, each in the version that it prefers."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import orjson
from msgspec import Struct

from hydrofoil.cli.client import Client
from hydrofoil.cli.failure import USAGE, WRONG, Failure
from hydrofoil.dumps.names import full_name, name_resources

JSON = "application/json"
LATER = {
    "events.events.k8s.io": "events",
    "ingresses.extensions": "ingresses.networking.k8s.io",
    "deployments.extensions": "deployments.apps",
    "daemonsets.extensions": "daemonsets.apps",
    "replicasets.extensions": "replicasets.apps",
    "networkpolicies.extensions": "networkpolicies.networking.k8s.io",
}
"""Resources whose objects are those of another one, and the one that has them."""


class Resource(Struct, frozen=True):
    """A resource in one version."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool
    verbs: frozenset[str]
    subresources: frozenset[str]
    aliases: tuple[str, ...]
    """Its further names: kind, singular, and short ones."""

    @property
    def full_name(self) -> str:
        """Return `deployments.apps`; `pods` in the core group."""
        return full_name(self.group, self.plural)

    @property
    def api_version(self) -> str:
        """Return `apps/v1`; `v1` in the core group."""
        return f"{self.group}/{self.version}" if self.group else self.version


class ServedResources:
    """What discovery shows of one server."""

    def __init__(self) -> None:
        self.by_kind: dict[tuple[str, str], Resource] = {}
        """All of them, by apiVersion and kind."""
        self.preferred: list[Resource] = []
        """Each once."""
        self.problems: list[str] = []
        """A line on each group whose resources could not be found."""

    def aliases(self) -> dict[str, str]:
        """Return the full names by all names."""
        return name_resources((r.group, r.plural, r.aliases) for r in self.preferred)

    def once(self, included: Collection[str]) -> list[Resource]:
        """Return the resources without those whose objects another one has, unless they are included by name."""
        names = {resource.full_name for resource in self.preferred}
        return [
            resource
            for resource in self.preferred
            if resource.full_name in included or LATER.get(resource.full_name) not in names
        ]


async def get(client: Client, path: str) -> tuple[int, Any]:
    """Return the code and the content of an answer. Raise Failure for a body that is no JSON."""
    reply = await client.ask("GET", path, JSON, b"")
    try:
        return reply.status, orjson.loads(reply.body)
    except ValueError:
        raise Failure(f"the answer to GET {path} is no JSON", "is it the URL of an API server?", WRONG) from None


async def discover(client: Client) -> ServedResources:
    """Return the resources of a server. Raise Failure if it has no API, or does not allow to see it."""
    found = ServedResources()
    status, core = await get(client, "/api")
    if status != 200 or not isinstance(core, dict) or "versions" not in core:
        message = core.get("message", "") if isinstance(core, dict) else ""
        raise Failure(f"the server shows no API: {message}", "check address and credentials", WRONG)
    status, groups = await get(client, "/apis")
    if status != 200:
        raise Failure(f"the server shows no API groups: {groups.get('message', '')}", code=WRONG)
    await _add_group(client, found, "", [f"/api/{version}" for version in core["versions"]])
    for group in groups.get("groups") or ():
        versions = [version["groupVersion"] for version in group["versions"]]
        preferred = (group.get("preferredVersion") or {}).get("groupVersion") or versions[0]
        versions.sort(key=lambda version: version != preferred)
        await _add_group(client, found, group["name"], [f"/apis/{version}" for version in versions])
    return found


async def _add_group(client: Client, found: ServedResources, group: str, paths: Iterable[str]) -> None:
    """Add the resources of a group, whose preferred version is first."""
    known: set[str] = set()
    for path in paths:
        status, content = await get(client, path)
        if status != 200:
            found.problems.append(f"{path}: {content.get('message', '')}")
            continue
        listed = content.get("resources") or []
        names = {resource["name"] for resource in listed}
        for resource in listed:
            if "/" in resource["name"]:
                continue
            made = _read_resource(group, path.rpartition("/")[2], resource, names)
            found.by_kind[made.api_version, made.kind] = made
            if made.plural not in known:
                known.add(made.plural)
                found.preferred.append(made)


def _read_resource(group: str, version: str, content: dict[str, Any], names: set[str]) -> Resource:
    plural = content["name"]
    below = frozenset(name.partition("/")[2] for name in names if name.startswith(f"{plural}/"))
    others = (content.get("singularName") or content["kind"].lower(), *(content.get("shortNames") or ()))
    verbs = frozenset(content.get("verbs") or ())
    return Resource(group, version, plural, content["kind"], bool(content["namespaced"]), verbs, below, others)


def refuse_unknown(error: ValueError) -> Failure:
    """Return the failure of a name in `--include` or `--exclude` that no resource has."""
    return Failure(str(error), "the names are those of kubectl api-resources, such as deployments.apps", USAGE)
