"""Objects as an investigation reads them: by requests to the API."""

from __future__ import annotations

import builtins
from difflib import get_close_matches
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import orjson

from hydrofoil.controls.apply import JSON, Ask
from hydrofoil.errors import ApiError

Object = dict[str, Any]


class Served(NamedTuple):
    """A resource that a server has."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool
    names: tuple[str, ...]
    """All names that people use for it."""

    @property
    def title(self) -> str:
        """Return its plural with its group, as errors name it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def path(self, namespace: str, name: str = "") -> str:
        """Return the path of its objects, or of one."""
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        within = f"/namespaces/{quote(namespace)}" if self.namespaced and namespace else ""
        return f"{root}{within}/{self.plural}" + (f"/{quote(name)}" if name else "")


class Reader:
    """One server, and what it serves."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._served: list[Served] | None = None

    async def _fetch(self, target: str) -> Object | None:
        """Return the answer to a GET; None if there is nothing. Raise ApiError."""
        reply = await self._ask("GET", target, JSON, b"")
        if reply.status == 404:
            return None
        body: Object = orjson.loads(reply.body)
        if reply.status != 200:
            raise ApiError(reply.status, body.get("reason", ""), body.get("message", ""))
        return body

    async def served(self) -> builtins.list[Served]:
        """Return all resources, those of the core first."""
        if self._served is None:
            core = await self._fetch("/api/v1") or {"resources": []}
            self._served = _resources("", "v1", core)
            groups = (await self._fetch("/apis") or {}).get("groups") or []
            for group in groups:
                version = group["preferredVersion"]["version"]
                listed = await self._fetch(f"/apis/{group['name']}/{version}")
                self._served += _resources(group["name"], version, listed or {"resources": []})
        return self._served

    async def find(self, name: str) -> Served | None:
        """Return a resource by one of its names, maybe with its group; None if there is none."""
        word, _, group = name.lower().partition(".")
        for served in await self.served():
            if word in served.names and (not group or served.group == group):
                return served
        return None

    async def near(self, name: str) -> builtins.list[str]:
        """Return the titles of resources with names like one that is not served."""
        known = {word: served.title for served in await self.served() for word in served.names}
        words = get_close_matches(name.lower().partition(".")[0], known, 3)
        return list(dict.fromkeys(known[word] for word in words))

    async def get(self, resource: str, namespace: str, name: str) -> Object | None:
        """Return an object; None if it is not there, or its resource is not served."""
        served = await self.find(resource)
        return None if served is None else await self._fetch(served.path(namespace, name))

    async def list(self, resource: str, namespace: str, **query: str) -> builtins.list[Object]:
        """Return the objects of a namespace; `query` has the parameters of the request."""
        served = await self.find(resource)
        if served is None:
            return []
        given = urlencode(query)
        answer = await self._fetch(served.path(namespace) + (f"?{given}" if given else ""))
        return [] if answer is None else list(answer.get("items") or ())

    async def owned(self, resource: str, owner: Object) -> builtins.list[Object]:
        """Return the objects that another one manages."""
        uid = owner["metadata"]["uid"]
        items = await self.list(resource, owner["metadata"].get("namespace", ""))
        return [
            item
            for item in items
            if any(o["uid"] == uid and o.get("controller") for o in item["metadata"].get("ownerReferences") or ())
        ]

    async def warnings(self, item: Object) -> builtins.list[str]:
        """Return the latest warning of each reason about an object, as `REASON: MESSAGE`."""
        meta = item["metadata"]
        namespace = meta.get("namespace") or "default"
        events = await self.list("events", namespace, fieldSelector=f"involvedObject.uid={meta['uid']},type=Warning")
        events.sort(key=lambda event: event.get("lastTimestamp") or event.get("eventTime") or "")
        latest = {event["reason"]: event.get("message", "") for event in events}
        return [f"{reason}: {message}" for reason, message in reversed(latest.items())]


def _resources(group: str, version: str, listed: Object) -> list[Served]:
    """Return the resources of a version, as discovery lists them."""
    return [
        Served(
            group,
            version,
            each["name"],
            each["kind"],
            each["namespaced"],
            (each["name"], each["kind"].lower(), each.get("singularName") or "", *(each.get("shortNames") or ())),
        )
        for each in listed["resources"]
        if "/" not in each["name"]
    ]
