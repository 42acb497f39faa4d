"""The objects created before the first request."""

from __future__ import annotations

import hashlib
import socket
from contextlib import suppress
from functools import cache, partial
from importlib.resources import files
from ipaddress import ip_network
from typing import Any, NamedTuple

import orjson

from hydrofoil import errors
from hydrofoil.apis.catalog import Resource
from hydrofoil.apis.gates import Gates
from hydrofoil.authorization.rbac.reconcile import AGGREGATED, SPLIT, reconcile
from hydrofoil.clock import Chance, Clock
from hydrofoil.engine import Draft, Stored
from hydrofoil.registry.store import Registry
from hydrofoil.registry.write import Write
from hydrofoil.request import parse
from hydrofoil.storage.unreadable import Unreadable

RBAC = "rbac.authorization.k8s.io"
CONTINUED = frozenset(AGGREGATED) | frozenset(SPLIT)


def fill(value: Any, places: dict[str, Any]) -> Any:
    """Replace placeholders in the data by values of this machine."""
    if isinstance(value, dict):
        return {k: fill(v, places) for k, v in value.items()}
    if isinstance(value, list):
        # A placeholder for several values is alone in its list.
        several = places.get(value[0]) if len(value) == 1 and isinstance(value[0], str) else None
        return several if isinstance(several, list) else [fill(v, places) for v in value]
    if isinstance(value, str) and "<" in value:
        if value in places:
            return places[value]
        for place, text in places.items():
            value = value.replace(place, str(text))
    return value


REMOTE = {4: (socket.AF_INET, "10.255.255.255", "192.0.2.1"), 6: (socket.AF_INET6, "2001:4860::1", "2001:db8::1")}
"""By version of IP: its family, an address elsewhere, and a documentation address."""
EXAMPLES = frozenset(example for _, _, example in REMOTE.values())


def advertised_address(version: int) -> str:
    """Return an address of this machine other than the loopback one; a documentation address if it has none."""
    family, remote, example = REMOTE[version]
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            # Nothing is sent: connecting a datagram socket only selects the source address.
            probe.connect((remote, 1))
            address: str = probe.getsockname()[0]
    except OSError:
        return example
    return example if address.startswith("127.") or address == "::1" else address


def places(port: int, ranges: str, clock: Clock, chance: Chance) -> dict[str, Any]:
    """Return the values of the data's placeholders; `ranges` are those of cluster IPs.

    The service of the API has its address from the first range, and this server one of the same family.
    """
    cidrs = ranges.split(",")
    primary = ip_network(cidrs[0])
    address = advertised_address(primary.version)
    now = clock.now()
    return {
        "<address>": address,
        "<peer>": f"[{address}]:{port}" if primary.version == 6 else f"{address}:{port}",
        "<service-ip>": str(primary[1]),
        "<service-cidrs>": cidrs,
        "<family>": f"IPv{primary.version}",
        "<port>": port,
        "<date>": now.strftime("%Y-%m-%d"),
        # Six decimals suit both kinds of time: the coarser one drops them.
        "<time>": now.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "<host>": socket.gethostname(),
        "<id>": hashlib.sha256(socket.gethostname().encode()).hexdigest()[:26],
        "<uid>": chance.uid(),
    }


MADE = "<made>"
"""The placeholder of the second in which objects are made."""


class Packaged(NamedTuple):
    """One object of the package data."""

    namespace: str
    name: str
    """Empty if it depends on placeholders."""
    text: bytes
    """Its JSON."""
    has_places: bool
    """Whether it has placeholders."""


@cache
def load_package_data() -> dict[str, list[Packaged]]:
    """Return the package data by path, which all servers of a process share.

    Namespaces are first, since their content requires them; so are the levels of flow schemas.
    """
    data = (files("hydrofoil.apis") / "data" / "bootstrap.json").read_bytes()
    objects: dict[str, list[dict[str, Any]]] = orjson.loads(data)
    found = {}
    for path in sorted(objects, key=lambda p: (p != "/api/v1/namespaces", p.endswith("flowschemas"))):
        made = found[path] = list[Packaged]()
        for obj in objects[path]:
            metadata, has_places = obj["metadata"], b"<" in orjson.dumps(obj)
            for entry in metadata.get("managedFields", ()):
                entry["time"] = MADE
            name = metadata.get("name", "")
            text = orjson.dumps(obj)
            made.append(Packaged(metadata.get("namespace", ""), "" if "<" in name else name, text, has_places))
    return found


async def load(
    registry: Registry, port: int, ranges: str, gates: Gates, *, roles: bool = True, group: str | None = None
) -> None:
    """Create every object of the package data whose resource is served, or of one group.

    `roles`: bring back default roles, too.
    """
    filled = places(port, ranges, registry.clock, registry.chance)
    made = f"{filled['<time>'][:19]}Z".encode()
    for path, objects in load_package_data().items():
        info = parse("GET", path)
        resource = registry.catalog.find(info.group, info.version, info.resource)
        if not resource or info.resource == "apiservices":
            # The data has the API services of a server with the default group versions; these are its own.
            continue
        if (info.group == RBAC and not roles) or (group is not None and info.group != group):
            continue
        if info.resource == "leases" and not gates.enabled("APIServerIdentity"):
            continue
        for obj in objects:
            # An object that cannot be decrypted exists.
            with suppress(Unreadable):
                await bring(registry, resource, obj, filled, made)


async def bring(registry: Registry, resource: Resource, obj: Packaged, filled: dict[str, Any], made: bytes) -> None:
    """Create an object of the package data that is absent, and bring back default roles. Raise Unreadable."""
    text = obj.text.replace(MADE.encode(), made)
    present = await there(registry, resource, obj.namespace, obj.name)
    if resource.group == RBAC and (present or obj.name in CONTINUED):
        body = orjson.loads(text)
        await reconcile(registry, resource, body, partial(decode_packaged, resource))
        if obj.name in CONTINUED:
            # It began as a copy of another, and may lack what it is expected to have.
            await reconcile(registry, resource, body, partial(decode_packaged, resource))
        return
    body = fill(orjson.loads(text), filled) if obj.has_places or b'"status"' in text else {}
    draft = decode_packaged(resource, body) if obj.has_places else resource.native.decode(text, "json")[0]
    namespace, name = obj.namespace, draft.metadata().name
    if present or (not obj.name and await there(registry, resource, namespace, name)):
        return
    try:
        stored = await registry.create(resource, namespace, draft, Write())
    except errors.ApiError as e:
        if await there(registry, resource, namespace, name):
            # Another server of the same log creates it, too.
            return
        if e.reason == "InternalError":
            raise
        raise RuntimeError(f"{resource.plural} {name}: {e.message}") from e
    # A status that the server itself has set on a new object is kept.
    reported = registry.get(resource, namespace, stored.name).revision != stored.revision
    if "status" in body and "status" in resource.subresources and not reported:
        # Read by its type, which a member that is set is not: its times have whole seconds.
        status = decode_packaged(resource, body).get(["status"])
        draft = stored.thaw()
        draft.set(["status"], status)
        write = Write(subresource="status")
        await registry.update(resource, namespace, stored.name, partial(_complete_draft, draft), write)


def decode_packaged(resource: Resource, body: dict[str, Any]) -> Draft:
    """Return an object of the package data."""
    draft, _ = resource.native.decode(orjson.dumps(body), "json")
    return draft


async def there(registry: Registry, resource: Resource, namespace: str, name: str) -> bool:
    """Report whether an object exists: one of an earlier start or of another server is kept as it is."""
    collection = registry.collection(resource)
    if not name:
        return False
    if not collection.ready():
        await collection.wait()
    return collection.get(resource.native, namespace, name) is not None


def _complete_draft(draft: Draft, _: Stored) -> Draft:
    return draft
