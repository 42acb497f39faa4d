"""Pods that controllers create, patch and delete, with the Events about it (`pkg/controller/controller_utils.go`)."""

from __future__ import annotations

from typing import Any

import orjson

from hydrofoil.apis.catalog import Resource
from hydrofoil.controllers.objects.owners import Owner
from hydrofoil.controllers.runtime.client import Client
from hydrofoil.controllers.runtime.recorder import NORMAL, WARNING, EventRecorder
from hydrofoil.engine import Stored
from hydrofoil.errors import ApiError
from hydrofoil.registry.replicas import Replicas

LONGEST_NAME = 253
"""The most letters of the name of a pod (RFC 1123 subdomain)."""
FAILED_CREATE, CREATED = "FailedCreate", "SuccessfulCreate"
FAILED_DELETE, DELETED = "FailedDelete", "SuccessfulDelete"
"""The reasons of Events."""
NAMESPACE_TERMINATING = "NamespaceTerminating"


def is_namespace_terminating(error: ApiError) -> bool:
    """Report whether an object was refused because its namespace is being deleted (`NamespaceTerminatingCause`)."""
    return any(cause.get("reason") == NAMESPACE_TERMINATING for cause in (error.details or {}).get("causes", ()))


def pod_prefix(name: str) -> str:
    """Return the prefix of generated names of an owner's pods (`getPodsPrefix`)."""
    return f"{name}-" if len(name) < LONGEST_NAME else name


def pod_from_template(template: dict[str, Any], owner: Owner, prefix: str = "") -> dict[str, Any]:
    """Return a new pod of a template, with a generated name (`GetPodFromTemplate`)."""
    given = template.get("metadata") or {}
    metadata = {name: given[name] for name in ("labels", "annotations", "finalizers") if given.get(name)}
    metadata["generateName"] = prefix or pod_prefix(owner.metadata.name)
    metadata["ownerReferences"] = [owner.reference]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template.get("spec") or {}}


class PodControl:
    """Writes of pods by one controller, each with an Event about the owner (`RealPodControl`)."""

    def __init__(self, client: Client, recorder: EventRecorder, pods: Resource) -> None:
        self._client = client
        self._recorder = recorder
        self._pods = pods

    def replicas(self, owner: Owner, pod: bytes) -> Replicas:
        """Return what creates many pods of one JSON, under generated names."""
        return self._client.replicas(self._pods, owner.metadata.namespace, pod)

    async def create(self, owner: Owner, pod: dict[str, Any] | bytes | Replicas) -> Stored:
        """Create a pod, from its JSON or the value of it, or as the next replica; return it. Raise ApiError."""
        namespace = owner.metadata.namespace
        try:
            if isinstance(pod, Replicas):
                stored = await pod.create()
            else:
                stored = await self._client.create(self._pods, namespace, pod)
        except ApiError as e:
            if not is_namespace_terminating(e):
                self._recorder.record(owner.about, WARNING, FAILED_CREATE, f"Error creating: {e.message}")
            raise
        self._recorder.record(owner.about, NORMAL, CREATED, f"Created pod: {stored.name}")
        return stored

    async def create_pods(self, owner: Owner, template: dict[str, Any], prefix: str = "") -> Stored:
        """Create a pod of a template (`CreatePodsWithGenerateName`). Raise ApiError."""
        if not (template.get("metadata") or {}).get("labels"):
            raise ApiError(0, "", "unable to create pods, no labels")
        return await self.create(owner, orjson.dumps(pod_from_template(template, owner, prefix)))

    async def delete_pod(self, owner: Owner, name: str) -> None:
        """Delete a pod. Raise ApiError, 404 if it is gone."""
        namespace = owner.metadata.namespace
        try:
            await self._client.delete(self._pods, namespace, name)
        except ApiError as e:
            if e.code == 404:
                raise
            self._recorder.record(owner.about, WARNING, FAILED_DELETE, f"Error deleting: {e.message}")
            raise ApiError(e.code, e.reason, f"unable to delete pods: {e.message}", e.details) from e
        self._recorder.record(owner.about, NORMAL, DELETED, f"Deleted pod: {name}")

    async def patch(self, namespace: str, name: str, patch: dict[str, Any]) -> Stored:
        """Apply a strategic merge patch to a pod (`PatchPod`). Raise ApiError."""
        return await self._client.patch(self._pods, namespace, name, patch)
