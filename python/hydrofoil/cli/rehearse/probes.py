"""Tries on stored objects: dry runs of an update that changes nothing, of a creation, and of a deletion."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hydrofoil.cli.rehearse.copy import Copy
from hydrofoil.cli.rehearse.instances import refusal
from hydrofoil.dumps.compare import SERVER_SIDE
from hydrofoil.dumps.object import DumpedObject

Object = dict[str, Any]
OPERATIONS = ("update", "create", "delete")
TAKEN = ("clusterIP", "clusterIPs", "healthCheckNodePort")
"""Members of the spec of a service that only one can have."""


class Probes:
    """Tries of one copy."""

    def __init__(self, copy: Copy) -> None:
        self._copy = copy
        self.warned: list[Object] = []
        """The objects whose tries were answered with warnings."""

    async def run(self, found: DumpedObject, operations: Iterable[str]) -> list[Object]:
        """Return the tries of an object that are refused, and why."""
        path = self._copy.path(found)
        content = found.content()
        if not found.uid or not found.version:
            # A dump by hand lacks what a server adds.
            present = await self._copy.ask("GET", path)
            content = present.content() if present.status == 200 else content
        entries = []
        for operation in operations:
            method, target, body = prepare(operation, path, content)
            answer = await self._copy.ask(method, f"{target}?dryRun=All", body)
            head = {
                "operation": operation,
                "apiVersion": found.api_version,
                "kind": found.kind,
                "namespace": found.namespace,
                "name": found.name,
            }
            if answer.warnings:
                self.warned.append({**head, "reason": "; ".join(answer.warnings)})
            # Whether the name of a new object is free is looked at last.
            is_taken = operation == "create" and answer.status == 409
            if answer.status >= 400 and not is_taken:
                entries.append({**head, **refusal(answer.status, answer.content())})
        return entries


def prepare(operation: str, path: str, content: Object) -> tuple[str, str, Object | None]:
    """Return method, path and body of a try."""
    if operation == "update":
        return "PUT", path, content
    if operation == "delete":
        return "DELETE", path, None
    metadata = {name: value for name, value in content["metadata"].items() if name not in SERVER_SIDE}
    body = {**content, "metadata": metadata}
    if content.get("kind") == "Service" and isinstance(content.get("spec"), dict):
        spec = {name: value for name, value in content["spec"].items() if name not in TAKEN}
        ports = [{k: v for k, v in port.items() if k != "nodePort"} for port in spec.get("ports") or ()]
        body["spec"] = {**spec, **({"ports": ports} if ports else {})}
    return "POST", path.rpartition("/")[0], body
