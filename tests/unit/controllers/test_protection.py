"""Whether a pod uses a claim."""

from __future__ import annotations

from typing import Any

import pytest

from hydrofoil.controllers.protection import PROTECTIONS, _mounts
from tests.unit.parts import CATALOG

CLAIM: dict[str, Any] = {"metadata": {"ownerReferences": [{"controller": True, "uid": "p"}]}}


def pod(volume: dict[str, Any], node: str = "n", **metadata: Any) -> dict[str, Any]:
    """A pod with a volume."""
    return {"metadata": {"name": "pod", "uid": "p", **metadata}, "spec": {"nodeName": node, "volumes": [volume]}}


MOUNT = {"name": "v", "persistentVolumeClaim": {"claimName": "c"}}
EPHEMERAL: dict[str, Any] = {"name": "v", "ephemeral": {}}
SHUT_DOWN: dict[str, Any] = {"deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 0}


@pytest.mark.parametrize(
    ("given", "name", "wanted"),
    [
        (pod(MOUNT), "c", True),
        (pod(MOUNT), "d", False),
        (pod(MOUNT, node=""), "c", False),
        (pod(MOUNT, **SHUT_DOWN), "c", True),
        (pod(EPHEMERAL), "pod-v", True),
        (pod(EPHEMERAL, **SHUT_DOWN), "pod-v", False),
        (pod(EPHEMERAL), "other-v", False),
    ],
)
def test_a_pod_on_a_node_uses_what_it_mounts(given: dict[str, Any], name: str, wanted: bool) -> None:
    assert _mounts(given, name, CLAIM) is wanted


def test_a_claim_of_the_same_name_is_not_that_of_the_pod() -> None:
    assert not _mounts(pod(EPHEMERAL), "pod-v", {"metadata": {}})


def test_all_of_them_are_served() -> None:
    assert all(protection.served(CATALOG) for protection in PROTECTIONS)
