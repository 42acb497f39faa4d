"""The writes of a plan of slices."""

from __future__ import annotations

import msgspec

from hydrofoil.apis.catalog import Resource
from hydrofoil.controllers.network.slice_plan import SliceDraft, SlicePlan
from hydrofoil.controllers.objects.endpoint_slices import EndpointSlice
from hydrofoil.controllers.pod_control import is_namespace_terminating
from hydrofoil.controllers.runtime.client import Client
from hydrofoil.controllers.runtime.lister import Lister
from hydrofoil.controllers.written_versions import DELETED, WrittenVersions, revision_of
from hydrofoil.engine import Draft
from hydrofoil.errors import ApiError
from hydrofoil.pace.pacer import Pacer
from hydrofoil.watch.queue import Key

encode = msgspec.json.encode


def _with(error: ApiError, before: str) -> ApiError:
    return ApiError(error.code, error.reason, f"{before}: {error.message}", error.details)


class SliceWriter:
    """Write slices, and note their versions until the informer shows them."""

    def __init__(
        self, client: Client, resource: Resource, slices: Lister[EndpointSlice], written: WrittenVersions
    ) -> None:
        self._client = client
        self._resource = resource
        self._slices = slices
        self._written = written

    async def write(self, key: Key, about: str, plan: SlicePlan, *, creates: bool) -> None:
        """Write a plan for a key (`finalize`); `about` names its object in messages. Raise ApiError.

        Unless it `creates`, its object is being deleted, and slices of it are the garbage collector's.
        """
        pacer = Pacer()
        for draft in plan.create if creates else ():
            try:
                await self._create(key, draft)
            except ApiError as e:
                if is_namespace_terminating(e):
                    return
                raise _with(e, f"failed to create EndpointSlice for {about}") from e
            await pacer.pause()
        for draft in plan.update:
            try:
                await self._update(key, draft)
            except ApiError as e:
                raise _with(e, f"failed to update {draft.name} EndpointSlice for {about}") from e
            await pacer.pause()
        for gone in plan.delete:
            try:
                await self.delete(key, gone)
            except ApiError as e:
                raise _with(e, f"failed to delete {gone.metadata.name} EndpointSlice for {about}") from e
            await pacer.pause()

    async def _create(self, key: Key, draft: SliceDraft) -> None:
        body = {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {
                "generateName": draft.prefix,
                "labels": draft.labels,
                "annotations": draft.annotations,
                "ownerReferences": draft.owners,
            },
            "addressType": draft.address_type,
            "endpoints": draft.endpoints,
            "ports": draft.ports,
        }
        stored = await self._client.create(self._resource, key[0], encode(body))
        self._note(key, stored.name, stored.revision)

    async def _update(self, key: Key, draft: SliceDraft) -> None:
        def change(present: Draft) -> None:
            present.set(["metadata", "labels"], encode(draft.labels))
            present.set(["metadata", "annotations"], encode(draft.annotations) if draft.annotations else None)
            if draft.owners:
                present.set(["metadata", "ownerReferences"], encode(draft.owners))
            present.set(["endpoints"], encode(draft.endpoints))
            present.set(["ports"], encode(draft.ports))

        stored = await self._client.update(self._resource, key[0], draft.name, change, version=draft.version)
        self._note(key, draft.name, stored.revision)

    async def delete(self, key: Key, gone: EndpointSlice) -> None:
        """Delete a slice. Raise ApiError."""
        await self._client.delete(self._resource, key[0], gone.metadata.name)
        self._note(key, gone.metadata.name, DELETED)

    def _note(self, key: Key, name: str, revision: int) -> None:
        shown = self._slices.get(key[0], name)
        self._written.note(key, name, revision, revision_of(shown))
