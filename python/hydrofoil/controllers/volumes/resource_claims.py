"""Claims of devices are made from templates, and released with their pods (`pkg/controller/resourceclaim`)."""

from __future__ import annotations

from typing import Any

import orjson

from hydrofoil.apis.catalog import Catalog
from hydrofoil.controllers.objects.pods import DEVICES, Pod
from hydrofoil.controllers.objects.resource_claims import Consumer, ResourceClaim, ResourceClaimTemplate
from hydrofoil.controllers.runtime.controller import Controller, ValueWatch, all_served
from hydrofoil.controllers.runtime.recorder import WARNING
from hydrofoil.controllers.runtime.runtime import Runtime
from hydrofoil.controllers.runtime.writes import service_account
from hydrofoil.engine import Draft
from hydrofoil.errors import ApiError

GROUP = "resource.k8s.io"
MARK = "resource.kubernetes.io/pod-claim-name"
FINALIZER = "resource.kubernetes.io/delete-protection"
LONGEST = 57
"""The characters of a name before the letters that are generated."""


def base_name(pod: str, claim: str) -> str:
    """Return the beginning of the name of a generated claim; of long names a part of both."""
    name = f"{pod}-{claim}-"
    if len(name) <= LONGEST:
        return name
    size = len(name)
    return f"{pod[: len(pod) * LONGEST // size]}-{claim[: len(claim) * LONGEST // size]}"


def is_done(pod: Pod) -> bool:
    """Report whether a pod needs its claims no more (`isPodDone`)."""
    return pod.is_ended or (pod.is_deleting and not pod.spec.node_name)


class ResourceClaims(Controller):
    """Make and release claims. A key is ("pod" or "claim", namespace, name)."""

    name = "resourceclaim-controller"
    user = service_account("resource-claim-controller")

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(runtime)
        self._recorder = runtime.recorder("resource_claim", self.user)

    @classmethod
    def served(cls, catalog: Catalog) -> bool:
        """Report whether all resources it needs are served."""
        return all_served(catalog, ("", "pods"), (GROUP, "resourceclaims"), (GROUP, "resourceclaimtemplates"))

    def watches(self) -> list[ValueWatch[Any]]:
        return [
            self.watch(GROUP, "resourceclaimtemplates", ResourceClaimTemplate, self._on_template),
            self.watch(GROUP, "resourceclaims", ResourceClaim, self._on_claim),
            self.watch("", "pods", Pod, self._on_pod, DEVICES),
        ]

    async def stop(self) -> None:
        await super().stop()
        await self._recorder.close()

    def _on_template(self, _: ResourceClaimTemplate | None, new: ResourceClaimTemplate | None) -> None:
        if new is None:
            return
        for pod in self.lister("", "pods", Pod):
            names = {claim.get("resourceClaimTemplateName") for claim in pod.spec.resource_claims}
            if pod.metadata.namespace == new.metadata.namespace and new.metadata.name in names:
                self.put("pod", pod.metadata.namespace, pod.metadata.name)

    def _on_claim(self, old: ResourceClaim | None, new: ResourceClaim | None) -> None:
        found = new or old
        assert found is not None
        meta = found.metadata
        if new is not None:
            self.put("claim", meta.namespace, meta.name)
        elif (owner := meta.controller) is not None and owner.kind == "Pod":
            self.put("pod", meta.namespace, owner.name)

    def _on_pod(self, old: Pod | None, new: Pod | None) -> None:
        pod = new or old
        if pod is None or not pod.spec.resource_claims:
            return
        meta = pod.metadata
        if new is not None and not is_done(new):
            self.put("pod", meta.namespace, meta.name)
            return
        for name in self._names(pod).values():
            self.put("claim", meta.namespace, name)

    def _names(self, pod: Pod) -> dict[str, str]:
        """Return the claims of a pod by its own names for them, as far as they are known."""
        made = {each["name"]: each.get("resourceClaimName") for each in pod.status.resource_claim_statuses}
        found = {
            each["name"]: each.get("resourceClaimName") or made.get(each["name"]) for each in pod.spec.resource_claims
        }
        return {own: name for own, name in found.items() if name}

    async def work(self, key: tuple[str, ...]) -> bool:
        kind, namespace, name = key
        try:
            await (self._sync_pod(namespace, name) if kind == "pod" else self._sync_claim(namespace, name))
        except ApiError as e:
            if e.code not in (404, 409):
                raise
        return True

    async def _sync_pod(self, namespace: str, name: str) -> None:
        """Make the claims of a pod that has templates."""
        pod = self.lister("", "pods", Pod).get(namespace, name)
        if pod is None or pod.is_deleting:
            return
        known, made = self._names(pod), {}
        claims = self.lister(GROUP, "resourceclaims", ResourceClaim)
        for each in pod.spec.resource_claims:
            own, template = each["name"], each.get("resourceClaimTemplateName")
            if template is None or (own in known and claims.get(namespace, known[own]) is not None):
                continue
            try:
                made[own] = await self._make(pod, own, template)
            except ApiError as e:
                text = f"PodResourceClaim {own}: {e.message}"
                self._recorder.record(pod.metadata.reference("v1", "Pod"), WARNING, "FailedResourceClaimCreation", text)
                raise
        if made:
            await self._tell(pod, made)

    async def _make(self, pod: Pod, own: str, template: str) -> str:
        """Return the claim of a pod for one of its names: one that was made before, or a new one."""
        meta = pod.metadata
        for claim in self.lister(GROUP, "resourceclaims", ResourceClaim):
            owner = claim.metadata.controller
            if owner is not None and owner.uid == meta.uid and claim.metadata.annotations.get(MARK) == own:
                return claim.metadata.name
        source = self.lister(GROUP, "resourceclaimtemplates", ResourceClaimTemplate).get(meta.namespace, template)
        if source is None:
            text = f'resourceclaimtemplate.resource.k8s.io "{template}" not found'
            raise ApiError(404, "NotFound", f'resource claim template "{template}": {text}')
        given = source.spec.get("metadata") or {}
        owner_reference = {"apiVersion": "v1", "kind": "Pod", "name": meta.name, "uid": meta.uid, "controller": True}
        metadata = {
            "generateName": base_name(meta.name, own),
            "ownerReferences": [owner_reference],
            "annotations": {**(given.get("annotations") or {}), MARK: own},
            "labels": given.get("labels") or {},
        }
        body = {"metadata": metadata, "spec": source.spec.get("spec") or {}}
        stored = await self.client.create(self.resource(GROUP, "resourceclaims"), meta.namespace, body)
        return stored.name

    async def _tell(self, pod: Pod, made: dict[str, str]) -> None:
        """Write the names of generated claims into the status of their pod."""
        meta = pod.metadata

        def change(draft: Draft) -> None:
            present = orjson.loads(draft.get(["status", "resourceClaimStatuses"]) or b"[]")
            statuses = {each["name"]: each for each in present}
            statuses.update((own, {"name": own, "resourceClaimName": name}) for own, name in made.items())
            draft.set(["status", "resourceClaimStatuses"], orjson.dumps(list(statuses.values())))

        await self.client.update(self.resource("", "pods"), meta.namespace, meta.name, change, subresource="status")

    async def _sync_claim(self, namespace: str, name: str) -> None:
        """Release a claim of pods that have ended, and remove one that was made for such a pod."""
        claim = self.lister(GROUP, "resourceclaims", ResourceClaim).get(namespace, name)
        if claim is None:
            return
        pods, resource, meta = self.lister("", "pods", Pod), self.resource(GROUP, "resourceclaims"), claim.metadata

        def needs(consumer: Consumer) -> bool:
            if (consumer.api_group, consumer.resource) != ("", "pods"):
                return True
            pod = pods.get(namespace, consumer.name)
            return pod is not None and pod.metadata.uid == consumer.uid and not is_done(pod)

        left = [consumer for consumer in claim.status.reserved_for if needs(consumer)]
        if len(left) < len(claim.status.reserved_for):
            frees = not left and FINALIZER in meta.finalizers
            kept = [each.value() for each in left]

            def release(draft: Draft) -> None:
                draft.set(["status", "reservedFor"], orjson.dumps(kept) if kept else None)
                if frees:
                    draft.set(["status", "allocation"], None)

            version = meta.resource_version
            await self.client.update(resource, namespace, name, release, version=version, subresource="status")
            if frees:
                await self._remove_finalizer(claim)
        elif meta.is_deleting and not left and FINALIZER in meta.finalizers:
            await self._remove_finalizer(claim)
        owner = meta.controller
        if not left and owner is not None and owner.kind == "Pod":
            pod = pods.get(namespace, owner.name)
            if pod is not None and (pod.metadata.uid != owner.uid or is_done(pod)) and not meta.is_deleting:
                await self.client.delete(resource, namespace, name, uid=meta.uid)

    async def _remove_finalizer(self, claim: ResourceClaim) -> None:
        meta = claim.metadata

        def change(draft: Draft) -> None:
            kept = [f for f in draft.lifecycle().finalizers if f != FINALIZER]
            draft.set(["metadata", "finalizers"], orjson.dumps(kept) if kept else None)

        await self.client.update(self.resource(GROUP, "resourceclaims"), meta.namespace, meta.name, change)
