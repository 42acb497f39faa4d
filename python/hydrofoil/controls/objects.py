"""Single objects in the hands of a test: read, written and deleted by the names that a wait takes."""

from __future__ import annotations

import builtins
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal
from urllib.parse import urlencode

import orjson

from hydrofoil.apis.catalog import Resource
from hydrofoil.controls.apply import JSON, MANAGER, Ask, body_of, path_of
from hydrofoil.controls.explanation import events_about, find, near_resources
from hydrofoil.controls.waiting import split
from hydrofoil.errors import ApiError
from hydrofoil.registry.objects import Objects

Object = dict[str, Any]
Patch = Mapping[str, Any] | Sequence[Mapping[str, Any]]
"""Members to merge, or the operations of a JSON patch."""
PatchType = Literal["merge", "json", "strategic"]
Propagation = Literal["Background", "Foreground", "Orphan"]
MEDIA = {
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
    "strategic": "application/strategic-merge-patch+json",
}


class ObjectClient:
    """Requests of the administrator about single objects, named as `deployments.apps/web`."""

    def __init__(self, ask: Ask, objects: Objects, settle: Callable[[], Awaitable[None]]) -> None:
        """`settle` waits for the controllers, which see all writes before a call returns."""
        self._ask = ask
        self._objects = objects
        self._settle = settle

    def _resource(self, name: str) -> Resource:
        """Return a resource. Raise ValueError, with names that are near, if it is not served."""
        found = find(self._objects.catalog, name)
        if found is None:
            near = near_resources(self._objects.catalog, name)
            raise ValueError(f"no resource {name!r} is served" + (f" ({', '.join(near)}?)" if near else ""))
        return found

    def _place(self, object: str, namespace: str) -> tuple[Resource, str]:
        """Return the resource and the path of an object. Raise ValueError."""
        name, of = split(object)
        resource = self._resource(name)
        return resource, path_of(resource, namespace, of)

    async def get(self, object: str, namespace: str) -> Object:
        """Return an object. Raise ApiError 404 if there is none."""
        return body_of(await self._ask("GET", self._place(object, namespace)[1], JSON, b""))

    async def list(
        self, resource: str, namespace: str | None, label_selector: str, field_selector: str
    ) -> builtins.list[Object]:
        """Return the objects of a namespace, or of all of them; each with its apiVersion and kind. Raise ApiError."""
        found = self._resource(resource)
        given = {"labelSelector": label_selector, "fieldSelector": field_selector}
        query = urlencode({name: value for name, value in given.items() if value})
        answer = body_of(await self._ask("GET", f"{path_of(found, namespace or '')}?{query}", JSON, b""))
        return [{"apiVersion": found.api_version, "kind": found.kind, **item} for item in answer["items"]]

    async def patch(
        self, object: str, change: Patch, namespace: str, type: PatchType | None, subresource: str
    ) -> Object:
        """Return an object, changed. Raise ApiError; ValueError for a type that there is not."""
        chosen = type or ("merge" if isinstance(change, Mapping) else "json")
        if chosen not in MEDIA:
            raise ValueError(f"no type of patch {chosen!r}: it is one of {', '.join(MEDIA)}")
        _, path = self._place(object, namespace)
        return await self._change(f"{path}/{subresource}" if subresource else path, chosen, change)

    async def _change(self, path: str, type: str, change: Patch) -> Object:
        target = f"{path}?fieldManager={MANAGER}"
        changed = body_of(await self._ask("PATCH", target, MEDIA[type], orjson.dumps(change)))
        await self._settle()
        return changed

    async def set_status(self, object: str, status: Mapping[str, Any], namespace: str) -> Object:
        """Return an object with members of its status set: None removes one, the others stay.

        A custom resource without the subresource has its status as any other member. Raise ApiError.
        """
        resource, path = self._place(object, namespace)
        if "status" in resource.subresources:
            path = f"{path}/status"
        elif not resource.custom:
            raise ApiError(404, "NotFound", f"{resource.plural} have no status")
        return await self._change(path, "merge", {"status": status})

    async def delete(self, object: str, namespace: str, propagation: Propagation, ignore_not_found: bool) -> None:
        """Delete an object. Raise ApiError 404 if there is none, unless that is no error."""
        _, path = self._place(object, namespace)
        reply = await self._ask("DELETE", path, JSON, orjson.dumps({"propagationPolicy": propagation}))
        if not (ignore_not_found and reply.status == 404):
            body_of(reply)
        await self._settle()

    async def why(self, object: str, namespace: str) -> builtins.list[str]:
        """Return why an object is not ready, at most ten lines, the most likely cause first. Raise ApiError 404."""
        # Most tests never ask.
        from hydrofoil.controls.why.answer import answer_why
        from hydrofoil.controls.why.reader import Reader

        return await answer_why(Reader(self._ask), object, namespace)

    async def explain(self, object: str, namespace: str) -> builtins.list[str]:
        """Return what `why` says of workloads and of what they need; nothing for other kinds. Raise ApiError 404."""
        from hydrofoil.controls.why.answer import KINDS

        found = self._resource(split(object)[0])
        return await self.why(object, namespace) if found.storage in KINDS else []

    async def events(self, object: str, namespace: str) -> builtins.list[Object]:
        """Return the Events about an object, which may be gone; the latest last."""
        name, of = split(object)
        resource = self._resource(name)
        return events_about(self._objects, resource, of, namespace if resource.namespaced else "")
