"""Pods that are read share what is equal in them."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from msgspec.json import Decoder

from hydrofoil.controllers.objects.memo import Memo
from hydrofoil.controllers.objects.pods import (
    ANNOTATIONS,
    BOUND,
    DELETION,
    DEVICES,
    EXISTENCE,
    LABELS,
    OF_JOB,
    OF_REPLICA_SET,
    SPEC,
    STATUS,
    UNMANAGED,
    VOLUMES,
    Pod,
    PodReader,
)


def pod(name: str, node: str = "", **more: Any) -> bytes:
    """Return the JSON of a pod."""
    metadata = {
        "name": name,
        "namespace": "a",
        "uid": f"u-{name}",
        "resourceVersion": "7",
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "labels": {"app": "web"},
        "ownerReferences": [
            {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "o", "controller": True}
        ],
    }
    spec: dict[str, Any] = {"containers": [{"name": "main", "image": "x:1"}]}
    if node:
        spec |= {"nodeName": node, "schedulerName": "s"}
    spec |= more
    address = f"10.0.0.{len(name)}"
    status = {
        "phase": "Running",
        "conditions": [{"type": "Ready", "status": "True"}],
        "containerStatuses": [
            {"name": "main", "ready": True, "containerID": name, "state": {"running": {"startedAt": "t"}}}
        ],
        "podIP": address,
        "podIPs": [{"ip": address}],
    }
    return orjson.dumps({"metadata": metadata, "spec": spec, "status": status})


def test_a_pod_is_read_as_it_is() -> None:
    whole, read = Decoder(Pod).decode, PodReader()
    volumes = [{"name": "v", "flexVolume": {"driver": "d", "options": {"nodeName": "n"}}}]
    texts = [
        pod("a"),
        pod("b", "n"),
        pod("c", "m"),
        pod("d", "n", volumes=volumes),
        # The option comes before the member.
        pod("e", volumes=volumes, nodeName="n", schedulerName="s"),
        pod("f", volumes=volumes),
        b'{"metadata": {"name": "g"}, "spec": {"containers": []}}',
    ]
    for text in texts:
        assert read(text) == whole(text)


def test_pods_share_what_is_equal() -> None:
    read = PodReader()
    one, two, other = read(pod("a", "n")), read(pod("b", "n")), read(pod("c", "m"))
    assert one.spec is two.spec
    assert one.spec.containers is other.spec.containers
    for first, second in ((one, two), (one, other)):
        assert first.metadata.labels is second.metadata.labels
        assert first.metadata.owner_references is second.metadata.owner_references
        assert first.status.conditions is second.status.conditions
        assert first.status.container_statuses[0] is second.status.container_statuses[0]


def test_a_full_memo_begins_anew() -> None:
    made: list[int] = []

    def make(number: int) -> int:
        made.append(number)
        return number

    memo = Memo(make, most=2)
    assert [memo(number) for number in (1, 2, 1, 3, 1)] == [1, 2, 1, 3, 1]
    assert made == [1, 2, 3, 1]


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        (None, pod("a"), EXISTENCE | OF_REPLICA_SET | ANNOTATIONS),
        (pod("a"), None, EXISTENCE | OF_REPLICA_SET | DELETION),
        (pod("a"), pod("a"), OF_REPLICA_SET),
        (pod("a"), pod("a", "n"), OF_REPLICA_SET | SPEC | BOUND),
        (pod("a", "n"), pod("a", "n").replace(b"Running", b"Failed"), OF_REPLICA_SET | STATUS | BOUND),
        (pod("a"), pod("a").replace(b'"app":"web"', b'"app":"db"'), OF_REPLICA_SET | LABELS),
        (pod("a"), pod("a").replace(b"ReplicaSet", b"Job"), OF_REPLICA_SET | OF_JOB),
        (pod("a"), pod("a").replace(b"ReplicaSet", b"Widget"), OF_REPLICA_SET),
        (pod("a"), pod("a").replace(b'"ownerReferences"', b'"x"'), OF_REPLICA_SET | UNMANAGED),
        (pod("a"), pod("a").replace(b'"name":"a"', b'"name":"a","deletionTimestamp":"t"'), OF_REPLICA_SET | DELETION),
        (
            pod("a"),
            pod("a").replace(b'"name":"a"', b'"name":"a","annotations":{"k":"v"}'),
            OF_REPLICA_SET | ANNOTATIONS,
        ),
        (pod("a", volumes=[{"name": "v"}]), pod("a", volumes=[{"name": "v"}]), OF_REPLICA_SET | VOLUMES),
        (pod("a", resourceClaims=[{}]), pod("a", resourceClaims=[{}]), OF_REPLICA_SET | DEVICES),
    ],
)
def test_what_a_change_is_about(old: bytes | None, new: bytes | None, wanted: int) -> None:
    read = PodReader()
    found = Pod.aspects(None if old is None else read(old), None if new is None else read(new))
    assert found & wanted == wanted
    if old is not None and new is not None:
        assert found == wanted


def test_versions_of_a_pod_share_its_names() -> None:
    read = PodReader()
    first = read(pod("a"))
    second = read(pod("a", "n"), first)
    assert second.metadata.uid is first.metadata.uid and second.metadata.name is first.metadata.name
    other = read(pod("a").replace(b"u-a", b"u-b"), first)
    assert other.metadata.uid == "u-b" and other == Decoder(Pod).decode(pod("a").replace(b"u-a", b"u-b"))
