"""The smallest volume that does for a claim (component-helpers `storage/volume/pv_helpers.go`)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from hydrofoil.controllers.objects.volumes import PersistentVolume, PersistentVolumeClaim, is_bound_to

OnNode = Callable[[PersistentVolume], bool]
"""Report whether a volume can be reached from the node that is asked for."""


def find_matching_volume(
    claim: PersistentVolumeClaim,
    volumes: Iterable[PersistentVolume],
    *,
    on_node: OnNode | None = None,
    excluded: Collection[str] = (),
    delays: bool = False,
) -> PersistentVolume | None:
    """Return the volume for a claim, if there is one (`FindMatchingVolume`).

    A volume that is offered to the claim comes before all others. `delays`: without a node no other one is looked for,
    since the first pod that uses the claim decides.
    """
    best: PersistentVolume | None = None
    wanted = set(claim.spec.access_modes)
    size, attributes = claim.size, claim.spec.volume_attributes_class_name or ""
    for volume in volumes:
        spec = volume.spec
        if volume.metadata.name in excluded or (spec.claim_ref is not None and not is_bound_to(volume, claim)):
            continue
        if (
            volume.size < size
            or spec.volume_mode != claim.spec.volume_mode
            or (spec.volume_attributes_class_name or "") != attributes
            or volume.metadata.is_deleting
            or not wanted <= set(spec.access_modes)
        ):
            continue
        reaches = on_node is None or on_node(volume)
        if is_bound_to(volume, claim):
            return volume if reaches else None
        if (on_node is None and delays) or not reaches:
            continue
        if volume.status.phase != "Available" or volume.storage_class != claim.storage_class:
            continue
        selector = claim.spec.selector
        if selector is not None and not selector.matches(volume.metadata.labels):
            continue
        if best is None or _order(volume) < _order(best):
            best = volume
    return best


def _order(volume: PersistentVolume) -> tuple[int, int, str]:
    """Return the order of volumes: fewer modes of access, then a smaller size; by name where upstream has any order."""
    return len(volume.spec.access_modes), volume.size, volume.metadata.name
