"""Who owns the claims of a stateful set, by its retention policy (`pkg/controller/statefulset/stateful_set_utils.go`).

Nobody, where they are kept; the set, where they go with it; the pod, where it is not wanted any more and they go with
it. The garbage collector does the rest.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hydrofoil.controllers.objects.meta import ObjectMeta, OwnerReference
from hydrofoil.controllers.objects.stateful_sets import DELETE, RETAIN, StatefulSet
from hydrofoil.controllers.objects.volumes import PersistentVolumeClaim
from hydrofoil.controllers.workloads.stateful_pods import API_VERSION, KIND, Member

Reference = dict[str, Any]


def _names_set(ref: OwnerReference, found: StatefulSet) -> bool:
    """Report whether a reference is to an object like the set (`matchesRef`)."""
    return (ref.api_version, ref.kind, ref.name) == (API_VERSION, KIND, found.metadata.name)


def _names_pod(ref: OwnerReference, member: Member) -> bool:
    return (ref.api_version, ref.kind, ref.name) == ("v1", "Pod", member.name)


def is_stale_for_pod(claim: PersistentVolumeClaim, member: Member) -> bool:
    """Report whether a claim belongs to a former pod of the name, with which it goes (`hasStaleOwnerRef`)."""
    ref = next((one for one in claim.metadata.owner_references if _names_pod(one, member)), None)
    return ref is not None and ref.uid != member.uid


def _is_stale_for_set(claim: PersistentVolumeClaim, found: StatefulSet) -> bool:
    ref = next((one for one in claim.metadata.owner_references if _names_set(one, found)), None)
    return ref is not None and ref.uid != found.metadata.uid


def has_foreign_controller(claim: PersistentVolumeClaim, found: StatefulSet, member: Member) -> bool:
    """Report whether another object manages a claim that is not kept (`hasUnexpectedController`)."""
    policy = found.retention
    if policy.when_scaled == policy.when_deleted == RETAIN:
        return False
    for ref in claim.metadata.owner_references:
        if _names_set(ref, found):
            if ref.uid != found.metadata.uid:
                return True
        elif _names_pod(ref, member):
            if ref.uid != member.uid:
                return True
        elif ref.controller:
            return True
    return False


def _wanted_owners(found: StatefulSet, member: Member) -> tuple[bool, bool]:
    """Return whether the set and the pod have to own the claims."""
    policy = found.retention
    is_condemned = member.ordinal not in found.ordinals
    by_pod = policy.when_scaled == DELETE and is_condemned
    return policy.when_deleted == DELETE and not by_pod, by_pod


def is_up_to_date(claim: PersistentVolumeClaim, found: StatefulSet, member: Member) -> bool:
    """Report whether a claim has the owners of the policy, or must not be touched (`isClaimOwnerUpToDate`)."""
    if _is_stale_for_set(claim, found) or is_stale_for_pod(claim, member):
        return True
    uids = {ref.uid for ref in claim.metadata.owner_references}
    has_set, has_pod = found.metadata.uid in uids, bool(member.uid) and member.uid in uids
    if has_foreign_controller(claim, found, member):
        return not (has_set or has_pod)
    own = (found.metadata.uid, member.uid)
    if any(ref.uid in own and not ref.controller for ref in claim.metadata.owner_references):
        return False
    return (has_set, has_pod) == _wanted_owners(found, member)


def _reference(api_version: str, kind: str, name: str, uid: str) -> Reference:
    return ObjectMeta(name, uid=uid).owned_by(api_version, kind)


def owners_by_policy(
    present: Iterable[Reference], claim: PersistentVolumeClaim, found: StatefulSet, member: Member
) -> list[Reference]:
    """Return the owner references of a claim by the policy (`updateClaimOwnerRefForSetAndPod`)."""
    names = ((API_VERSION, KIND, found.metadata.name), ("v1", "Pod", member.name))
    kept = [ref for ref in present if (ref.get("apiVersion"), ref.get("kind"), ref.get("name")) not in names]
    if has_foreign_controller(claim, found, member):
        return kept
    by_set, by_pod = _wanted_owners(found, member)
    if by_pod:
        kept.append(_reference("v1", "Pod", member.name, member.uid))
    if by_set:
        kept.append(_reference(API_VERSION, KIND, found.metadata.name, found.metadata.uid))
    return kept
