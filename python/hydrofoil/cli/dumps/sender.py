"""Objects sent to any server as a client sends them: created, with their status; compared with what is there."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson

from hydrofoil.cli.client import Client, Reply, wait
from hydrofoil.cli.dumps.served import JSON, Resource, ServedResources
from hydrofoil.cli.dumps.summary import Summary
from hydrofoil.controls.apply import MANAGER, path_of
from hydrofoil.dumps.compare import SERVER_SIDE, is_first_object, is_own_object, same_content
from hydrofoil.dumps.object import DumpedObject

SELF_REPORTING = frozenset(
    (
        ("apiextensions.k8s.io", "CustomResourceDefinition"),
        ("apiregistration.k8s.io", "APIService"),
        ("", "Namespace"),
    )
)
"""Kinds whose status the server itself finds out."""
TRIES = 200
"""How often a write is tried again that the server will take later: 10 s."""
EXISTS = "it exists, and differs"
Object = dict[str, Any]
Outcome = tuple[str, str]


class ObjectSender:
    """Creates of one import."""

    def __init__(
        self, client: Client, served: ServedResources, summary: Summary, on_conflict: str, *, resumes: bool
    ) -> None:
        """`resumes`: an object that is there without its status is one that an earlier import has begun."""
        self._client = client
        self._served = served
        self._summary = summary
        self._on_conflict = on_conflict
        self._resumes = resumes

    async def look(self, found: DumpedObject) -> str:
        """Return the uid of an object on the server; empty if it is not there."""
        resource = self._served.by_kind.get((found.api_version, found.kind))
        if resource is None:
            return ""
        reply = await self._client.ask("GET", path_of(resource, found.namespace, found.name), JSON, b"")
        return str(orjson.loads(reply.body)["metadata"]["uid"]) if reply.status == 200 else ""

    async def send(self, resource: Resource, found: DumpedObject, content: Object) -> tuple[Outcome, str]:
        """Create an object, or do what there is to do about the one of its name; return the outcome, and the uid.

        The content has the owners of this server.
        """
        status = content.get("status")
        body = strip(content)
        path = path_of(resource, found.namespace)
        first, ephemeral = without_ephemeral(found, body)
        reply = await self._write("POST", f"{path}?fieldManager={MANAGER}", first)
        if reply.status in (409, 422):
            # What is there may make its like invalid: a service has taken its address.
            met = await self._meet(resource, found, body, status)
            if met is not None:
                return met
        if reply.status >= 400:
            return ("failed", message(reply)), ""
        made = orjson.loads(reply.body)
        uid = str(made["metadata"].get("uid", ""))
        outcome = None
        if ephemeral:
            made, outcome = await self._add_ephemeral(path_of(resource, found.namespace, found.name), made, ephemeral)
        outcome = outcome or await self._set_status(resource, found, made, status)
        if outcome is not None:
            # It is there, without its status.
            self._summary.fail(found, outcome)
        return ("created", ""), uid

    async def _add_ephemeral(self, path: str, made: Object, ephemeral: list[Object]) -> tuple[Object, str | None]:
        """Add ephemeral containers to a new pod; return the pod, and why they cannot be added, if so."""
        update = {**made, "spec": {**made["spec"], "ephemeralContainers": ephemeral}}
        reply = await self._write("PUT", f"{path}/ephemeralcontainers?fieldManager={MANAGER}", update)
        if reply.status >= 400:
            return made, f"its ephemeral containers: {message(reply)}"
        return orjson.loads(reply.body), None

    async def _write(self, method: str, target: str, body: Object) -> Reply:
        """Send a write; once more while the server is too busy, or has yet to make the account of a new namespace."""
        data = orjson.dumps(body)
        for _ in range(TRIES):
            reply = await self._client.ask(method, target, JSON, data)
            lacks_account = reply.status == 403 and "error looking up service account" in message(reply)
            if reply.status != 429 and not lacks_account:
                break
            await asyncio.to_thread(wait)
        return reply

    async def _set_status(self, resource: Resource, found: DumpedObject, there: Object, status: Any) -> str | None:
        """Write a status where the server takes one; return why it cannot be written, if so."""
        if not status or not self._takes_status(resource, found):
            return None
        path = path_of(resource, found.namespace, found.name)
        for _ in range(3):
            if there.get("status") == status:
                return None
            target = f"{path}/status?fieldManager={MANAGER}"
            reply = await self._write("PUT", target, {**there, "status": status})
            if reply.status != 409:
                break
            # A controller was faster.
            fresh = await self._client.ask("GET", path, JSON, b"")
            if fresh.status != 200:
                break
            there = orjson.loads(fresh.body)
        return None if reply.status < 400 else f"its status: {message(reply)}"

    @staticmethod
    def _takes_status(resource: Resource, found: DumpedObject) -> bool:
        return "status" in resource.subresources and (found.group, found.kind) not in SELF_REPORTING

    async def _meet(
        self, resource: Resource, found: DumpedObject, body: Object, status: Any
    ) -> tuple[Outcome, str] | None:
        """Compare an object with the one that has its name; return the outcome, and its uid. None if there is none."""
        path = path_of(resource, found.namespace, found.name)
        reply = await self._client.ask("GET", path, JSON, b"")
        if reply.status != 200:
            return None
        there = orjson.loads(reply.body)
        uid = str(there["metadata"].get("uid", ""))
        if is_own_object(found.group, found.kind, found.namespace, found.name, there):
            return ("unchanged", ""), uid
        counts = self._takes_status(resource, found) and not is_first_object(found.group, found.kind, found.name, there)
        is_reported = not counts or not status or there.get("status") == status
        if await self._is_same(path, there, body):
            if is_reported:
                return ("unchanged", ""), uid
            if self._resumes or self._on_conflict == "replace":
                why = await self._set_status(resource, found, there, status)
                return (("updated", "") if why is None else ("failed", why)), uid
        if self._on_conflict == "replace":
            return await self._replace(resource, found, there, body, status), uid
        return ("failed" if self._on_conflict == "fail" else "skipped", EXISTS), uid

    async def _is_same(self, path: str, there: Object, body: Object) -> bool:
        """Report whether an object is there as it would be with the defaults of this server."""
        if same_content(there, body, status="status" in body):
            return True
        identity = {name: there["metadata"][name] for name in ("uid", "resourceVersion")}
        tried = {**body, "metadata": {**body["metadata"], **identity}}
        reply = await self._client.ask("PUT", f"{path}?dryRun=All", JSON, orjson.dumps(tried))
        return reply.status == 200 and same_content(there, orjson.loads(reply.body))

    async def _replace(
        self, resource: Resource, found: DumpedObject, there: Object, body: Object, status: Any
    ) -> Outcome:
        path = path_of(resource, found.namespace, found.name)
        identity = {name: there["metadata"][name] for name in ("uid", "resourceVersion")}
        update = {**body, "metadata": {**body["metadata"], **identity}}
        reply = await self._write("PUT", f"{path}?fieldManager={MANAGER}", update)
        if reply.status >= 400:
            return "failed", message(reply)
        why = await self._set_status(resource, found, orjson.loads(reply.body), status)
        return ("updated", "") if why is None else ("failed", why)


def without_ephemeral(found: DumpedObject, body: Object) -> tuple[Object, list[Object]]:
    """Return an object as it is created, and its ephemeral containers: only a pod that runs may have some."""
    spec = body.get("spec")
    if (found.group, found.kind) != ("", "Pod") or not isinstance(spec, dict) or not spec.get("ephemeralContainers"):
        return body, []
    kept = {name: value for name, value in spec.items() if name != "ephemeralContainers"}
    return {**body, "spec": kept}, spec["ephemeralContainers"]


def strip(content: Object) -> Object:
    """Return an object without what a server assigns; references to owners stay."""
    kept = {
        name: value
        for name, value in content["metadata"].items()
        if name not in SERVER_SIDE or name == "ownerReferences"
    }
    return {**content, "metadata": kept}


def message(reply: Reply) -> str:
    """Return the message of a refusal."""
    try:
        content = orjson.loads(reply.body)
        return str(content.get("message") or f"code {reply.status}")
    except (ValueError, AttributeError):
        return f"code {reply.status}"
