"""Writes of the pods and claims of stateful sets, with Events about them (`pkg/controller/statefulset`,
stateful_pod_control.go)."""

from __future__ import annotations

from typing import Any

import orjson

from hydrofoil.apis.catalog import Resource
from hydrofoil.controllers.objects.owners import Owner
from hydrofoil.controllers.objects.stateful_sets import RETAIN, StatefulSet
from hydrofoil.controllers.objects.volumes import PersistentVolumeClaim
from hydrofoil.controllers.runtime.client import Client
from hydrofoil.controllers.runtime.lister import Lister
from hydrofoil.controllers.runtime.recorder import NORMAL, WARNING, EventRecorder
from hydrofoil.controllers.workloads.claim_retention import (
    has_foreign_controller,
    is_stale_for_pod,
    is_up_to_date,
    owners_by_policy,
)
from hydrofoil.controllers.workloads.stateful_pods import (
    API_VERSION,
    KIND,
    Member,
    claim_body,
    claim_name,
    has_identity,
    member_body,
    volumes_of,
)
from hydrofoil.engine import Draft
from hydrofoil.errors import ApiError

CONFLICTING = "ConflictingController"


def _wrap(error: ApiError, message: str) -> ApiError:
    return ApiError(error.code, error.reason, f"{message}: {error.message}", error.details)


class StatefulPodControl:
    """Create, update and delete the pods of a stateful set."""

    def __init__(
        self,
        found: StatefulSet,
        client: Client,
        recorder: EventRecorder,
        pods: Resource,
        claims: Resource,
        present: Lister[PersistentVolumeClaim],
    ) -> None:
        self._found = found
        self._client = client
        self._recorder = recorder
        self._pods = pods
        self._claims = claims
        self._present = present

    def _record(self, verb: str, what: str, error: ApiError | None) -> None:
        about = Owner(self._found.metadata, API_VERSION, KIND).about
        if error is None:
            self._recorder.record(about, NORMAL, f"Successful{verb}", f"{verb} {what}")
        else:
            self._recorder.record(about, WARNING, f"Failed{verb}", f"{verb} {what} failed error: {error.message}")

    def _record_pod(self, member: Member, verb: str, error: ApiError | None = None) -> None:
        what = f"Pod {member.name} in StatefulSet {self._found.metadata.name}"
        self._record(verb, what if error is not None else f"{what} successful", error)

    # ---- pods

    async def create(self, member: Member) -> None:
        """Create the claims of a pod, and the pod (`CreateStatefulPod`). Raise ApiError."""
        try:
            await self.create_claims(member)
        except ApiError as e:
            self._record_pod(member, "Create", e)
            raise
        failure = None
        try:
            await self._client.create(
                self._pods, self._found.metadata.namespace, orjson.dumps(member_body(member, self._found))
            )
        except ApiError as e:
            if e.reason == "AlreadyExists":
                raise
            failure = e
        await self._keep_policy(member)
        self._record_pod(member, "Create", failure)
        if failure is not None:
            raise failure

    async def delete(self, member: Member) -> None:
        """Delete a pod; one that is gone already is deleted as well (`DeleteStatefulPod`). Raise ApiError."""
        try:
            await self._client.delete(self._pods, self._found.metadata.namespace, member.name)
        except ApiError as e:
            if e.code != 404:
                self._record_pod(member, "Delete", e)
                raise
        self._record_pod(member, "Delete")

    async def update(self, member: Member) -> None:
        """Give a pod its identity, volumes and claims back (`UpdateStatefulPod`). Raise ApiError."""
        pod = member.pod
        assert pod is not None
        is_itself, follows_policy = has_identity(member, self._found), self.follows_policy(member)
        if is_itself and follows_policy:
            return
        try:
            if not is_itself:
                await self.create_claims(member)
            if not follows_policy:
                await self.apply_policy(member)
            if not is_itself:
                await self._rewrite(member)
        except ApiError as e:
            self._record_pod(member, "Update", e)
            raise
        self._record_pod(member, "Update")

    async def _rewrite(self, member: Member) -> None:
        pod = member.pod
        assert pod is not None
        meta, labels = pod.metadata, {**pod.metadata.labels, **member.identity_labels()}

        def change(draft: Draft) -> None:
            draft.set(["metadata", "labels"], orjson.dumps(labels))
            present: list[dict[str, Any]] = orjson.loads(draft.get(["spec", "volumes"]) or b"[]")
            volumes = volumes_of(self._found, member.ordinal, present)
            if volumes != present:
                draft.set(["spec", "volumes"], orjson.dumps(volumes))

        await self._client.update(self._pods, meta.namespace, meta.name, change, version=meta.resource_version)

    # ---- claims

    def _claim(self, member: Member, template: dict[str, Any]) -> PersistentVolumeClaim | None:
        name = claim_name(template, self._found, member.ordinal)
        return self._present.get(self._found.metadata.namespace, name)

    async def create_claims(self, member: Member) -> None:
        """Create the claims of a pod that do not exist (`createPersistentVolumeClaims`). Raise the last ApiError."""
        failures: list[ApiError] = []
        namespace = self._found.metadata.namespace
        for template in self._found.spec.volume_claim_templates:
            name, present = claim_name(template, self._found, member.ordinal), self._claim(member, template)
            if present is not None:
                if present.metadata.is_deleting:
                    failures.append(ApiError(409, "Conflict", f"pvc {name} is being deleted"))
                continue
            failure = None
            try:
                body = claim_body(template, self._found, member.ordinal)
                await self._client.create(self._claims, namespace, body)
            except ApiError as e:
                failure = e
                failures.append(_wrap(e, f"failed to create PVC {name}"))
            if failure is None or failure.reason != "AlreadyExists":
                self._record_claim(member, name, failure)
        if failures:
            messages = list(dict.fromkeys(failure.message for failure in failures))
            text = messages[0] if len(messages) == 1 else f"[{', '.join(messages)}]"
            raise ApiError(failures[0].code, failures[0].reason, text)

    def _record_claim(self, member: Member, name: str, error: ApiError | None) -> None:
        within = f"Pod {member.name} in StatefulSet {self._found.metadata.name}"
        what = f"Claim {name} {within} success" if error is None else f"Claim {name} for {within}"
        self._record("Create", what, error)

    def is_stale(self, member: Member) -> bool:
        """Report whether a claim of a former pod has to go before a new one is created (`PodClaimIsStale`)."""
        if self._found.retention.when_scaled == RETAIN:
            return False
        claims = (self._claim(member, template) for template in self._found.spec.volume_claim_templates)
        return any(claim is not None and is_stale_for_pod(claim, member) for claim in claims)

    def follows_policy(self, member: Member) -> bool:
        """Report whether the claims of a pod have the owners of the policy (`ClaimsMatchRetentionPolicy`)."""
        claims = (self._claim(member, template) for template in self._found.spec.volume_claim_templates)
        return all(claim is None or is_up_to_date(claim, self._found, member) for claim in claims)

    async def _keep_policy(self, member: Member) -> None:
        try:
            await self.apply_policy(member)
        except ApiError as e:
            self._record_pod(member, "Update", e)
            raise

    async def complete_claims(self, member: Member) -> None:
        """Create the claims that a waiting pod lacks, with their owners (`createMissingPersistentVolumeClaims`)."""
        await self.create_claims(member)
        await self._keep_policy(member)

    async def apply_policy(self, member: Member) -> None:
        """Write the owners of the claims of a pod (`UpdatePodClaimForRetentionPolicy`). Raise ApiError."""
        for template in self._found.spec.volume_claim_templates:
            claim = self._claim(member, template)
            if claim is None:
                continue
            meta = claim.metadata
            if has_foreign_controller(claim, self._found, member):
                message = (
                    f"PersistentVolumeClaim {meta.name} has a conflicting OwnerReference that acts as a manging "
                    "controller, the retention policy is ignored for this claim"
                )
                about = Owner(self._found.metadata, API_VERSION, KIND).about
                self._recorder.record(about, WARNING, CONFLICTING, message)
            if is_up_to_date(claim, self._found, member):
                continue
            try:
                await self._write_owners(claim, member)
            except ApiError as e:
                raise _wrap(e, f"could not update claim {meta.name} for delete policy ownerRefs") from e

    async def _write_owners(self, claim: PersistentVolumeClaim, member: Member) -> None:
        path, meta = ["metadata", "ownerReferences"], claim.metadata

        def change(draft: Draft) -> None:
            owners = owners_by_policy(orjson.loads(draft.get(path) or b"[]"), claim, self._found, member)
            draft.set(path, orjson.dumps(owners) if owners else None)

        await self._client.update(self._claims, meta.namespace, meta.name, change, version=meta.resource_version)
