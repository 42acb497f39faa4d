"""Pods, and what controllers ask of them (`pkg/api/v1/pod/util.go`, `pkg/controller/controller_utils.go`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Raw, Struct, structs
from msgspec.json import Decoder

from hydrofoil.controllers.objects.memo import Memo
from hydrofoil.controllers.objects.meta import Condition, ObjectMeta, OwnerReference, find_condition
from hydrofoil.controllers.objects.nodes import Toleration
from hydrofoil.controllers.objects.times import parse_time

RUNNING, PENDING, SUCCEEDED, FAILED = "Running", "Pending", "Succeeded", "Failed"
ENDED = (SUCCEEDED, FAILED)
EXISTENCE, LABELS, SPEC, STATUS, DELETION, ANNOTATIONS = 1, 2, 4, 8, 16, 32
"""What a change of a pod is about: it came or went, or one of its parts is another; the generation is with the spec."""
BOUND, VOLUMES, DEVICES = 64, 128, 256
"""What pods it concerns: those on a node, with volumes, with claims of devices."""
UNMANAGED, OF_REPLICA_SET, OF_CONTROLLER, OF_STATEFUL_SET, OF_DAEMON_SET, OF_JOB = 512, 1024, 2048, 4096, 8192, 16384
"""The owner, before or after it: none, and the kinds that have a controller. An owner of another kind has no aspect."""
KINDS = {
    "ReplicaSet": OF_REPLICA_SET,
    "ReplicationController": OF_CONTROLLER,
    "StatefulSet": OF_STATEFUL_SET,
    "DaemonSet": OF_DAEMON_SET,
    "Job": OF_JOB,
}


class Container(Struct, frozen=True, gc=False, rename="camel"):
    """A container of a pod."""

    name: str
    image: str = ""
    resources: dict[str, Any] = {}
    ports: tuple[dict[str, Any], ...] = ()
    restart_policy: str | None = None


class ReadinessGate(Struct, frozen=True, gc=False, rename="camel"):
    """A further condition for readiness."""

    condition_type: str


class ClaimSource(Struct, frozen=True, gc=False, rename="camel"):
    """A volume that is a claim."""

    claim_name: str = ""


class Volume(Struct, frozen=True, gc=False, rename="camel"):
    """A volume of a pod, as far as it is not everywhere: projections and empty folders are most of them."""

    name: str
    persistent_volume_claim: ClaimSource | None = None
    ephemeral: dict[str, Any] | None = None

    def claim(self, pod: str) -> str | None:
        """Return the name of its claim, which of an ephemeral volume is by its pod's name; None: it has none."""
        if self.persistent_volume_claim is not None:
            return self.persistent_volume_claim.claim_name
        return None if self.ephemeral is None else f"{pod}-{self.name}"


class PodSpec(Struct, frozen=True, gc=False, rename="camel"):
    """What a pod asks for."""

    containers: tuple[Container, ...]
    init_containers: tuple[Container, ...] = ()
    node_name: str = ""
    restart_policy: str = "Always"
    readiness_gates: tuple[ReadinessGate, ...] = ()
    hostname: str = ""
    subdomain: str = ""
    host_network: bool = False
    scheduler_name: str = ""
    scheduling_gates: tuple[dict[str, str], ...] = ()
    node_selector: dict[str, str] = {}
    affinity: dict[str, Any] | None = None
    tolerations: tuple[Toleration, ...] = ()
    topology_spread_constraints: tuple[dict[str, Any], ...] = ()
    overhead: dict[str, Any] = {}
    resources: dict[str, Any] = {}
    priority: int = 0
    preemption_policy: str | None = None
    termination_grace_period_seconds: int | None = None
    volumes: tuple[Volume, ...] = ()
    resource_claims: tuple[dict[str, Any], ...] = ()


def _member(field: str) -> str | None:
    """Return the name of a field in JSON."""
    first, *rest = field.split("_")
    return first + "".join(word.capitalize().replace("Ip", "IP") for word in rest)


class ContainerStatus(Struct, frozen=True, gc=False, rename="camel"):
    """The state of a container."""

    name: str
    ready: bool = False
    restart_count: int = 0
    state: dict[str, Any] = {}
    last_state: dict[str, Any] = {}


class PodIP(Struct, frozen=True, gc=False):
    """An address of a pod."""

    ip: str = ""


class PodStatus(Struct, frozen=True, gc=False, rename=_member):
    """What is known of a pod."""

    phase: str = PENDING
    reason: str = ""
    conditions: tuple[Condition, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    start_time: str | None = None
    pod_ip: str = ""
    pod_ips: tuple[PodIP, ...] = ()
    nominated_node_name: str = ""
    resource_claim_statuses: tuple[dict[str, Any], ...] = ()


class Pod(Struct, frozen=True, gc=False, rename="camel"):
    """A pod."""

    metadata: ObjectMeta
    spec: PodSpec
    status: PodStatus = PodStatus()

    @staticmethod
    def reader() -> Callable[[bytes, Pod | None], Pod]:
        """Return what decodes pods so that they share what is equal in many of them."""
        return PodReader()

    @staticmethod
    def aspects(old: Pod | None, new: Pod | None) -> int:
        """Return what a change is about."""
        if old is None or new is None:
            pod = old if new is None else new
            assert pod is not None
            return EXISTENCE | LABELS | SPEC | STATUS | DELETION | ANNOTATIONS | _concern(pod)
        found, before, after = _concern(new), old.metadata, new.metadata
        if before.owner_references is not after.owner_references:
            found |= _concern(old)
        # What is equal is nearly always the same value, which costs less to compare.
        if before.labels is not after.labels and before.labels != after.labels:
            found |= LABELS
        if before.annotations is not after.annotations and before.annotations != after.annotations:
            found |= ANNOTATIONS
        if before.deletion_timestamp != after.deletion_timestamp:
            found |= DELETION
        if before.generation != after.generation or (old.spec is not new.spec and old.spec != new.spec):
            found |= SPEC
        if old.status != new.status:
            found |= STATUS
        return found

    def condition(self, kind: str) -> Condition | None:
        """Return a condition by its type."""
        return find_condition(self.status.conditions, kind)

    @property
    def is_deleting(self) -> bool:
        """Report whether the deletion of the pod has begun."""
        return self.metadata.deletion_timestamp is not None

    @property
    def is_ended(self) -> bool:
        """Report whether the pod has ended, well or not (`IsPodTerminal`)."""
        return self.status.phase in ENDED

    @property
    def is_active(self) -> bool:
        """Report whether the pod is neither ended nor being deleted (`IsPodActive`)."""
        return not self.is_ended and not self.is_deleting

    @property
    def has_claims(self) -> bool:
        """Report whether the pod has volumes that are not everywhere."""
        return any(volume.claim("") is not None for volume in self.spec.volumes)

    @property
    def is_ready(self) -> bool:
        """Report whether the pod is ready (`IsPodReady`)."""
        ready = self.condition("Ready")
        return ready is not None and ready.status == "True"

    def is_available(self, least: int, now: float) -> bool:
        """Report whether the pod is ready for some seconds (`IsPodAvailable`); `now` is in seconds since 1970."""
        ready = self.condition("Ready")
        if ready is None or ready.status != "True":
            return False
        since = ready.last_transition_time
        return not least or (bool(since) and parse_time(since or "") + least <= now)


def _concern(pod: Pod) -> int:
    """Return the aspects that a pod has whatever changes."""
    owner, spec = pod.metadata.controller, pod.spec
    found = UNMANAGED if owner is None else KINDS.get(owner.kind, 0)
    if spec.node_name:
        found |= BOUND
    if spec.volumes:
        found |= VOLUMES
    if spec.resource_claims:
        found |= DEVICES
    return found


def controller_of(pod: Pod) -> tuple[str, ...]:
    """Return the uid of the owner that manages a pod, for an index."""
    owner = pod.metadata.controller
    return () if owner is None else (owner.uid,)


def node_of(pod: Pod) -> tuple[str, ...]:
    """Return the node that a pod is bound to, for an index."""
    return (pod.spec.node_name,) if pod.spec.node_name else ()


def namespace_of(pod: Pod) -> tuple[str, ...]:
    """Return the namespace of a pod, for an index."""
    return (pod.metadata.namespace,)


def claims_of(pod: Pod) -> tuple[str, ...]:
    """Return the claims of a pod as `namespace/name`, those of its ephemeral volumes included, for an index."""
    meta = pod.metadata
    names = [volume.claim(meta.name) for volume in pod.spec.volumes]
    return tuple([f"{meta.namespace}/{name}" for name in names if name is not None])


class _Metadata(Struct, frozen=True, gc=False, rename="camel"):
    """The metadata of a pod, with the texts of what others have as well."""

    name: str
    uid: str = ""
    namespace: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: str = ""
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: int | None = None
    labels: Raw = Raw(b"{}")
    annotations: Raw = Raw(b"{}")
    owner_references: Raw = Raw(b"[]")
    finalizers: Raw = Raw(b"[]")


class _ContainerStatus(Struct, frozen=True, gc=False, rename="camel"):
    """The state of a container, without what is its own, such as its identity."""

    name: str
    ready: bool = False
    restart_count: int = 0
    state: Raw = Raw(b"{}")
    last_state: Raw = Raw(b"{}")


class _Status(Struct, frozen=True, gc=False, rename=_member):
    phase: str = PENDING
    reason: str = ""
    conditions: Raw = Raw(b"[]")
    container_statuses: tuple[_ContainerStatus, ...] = ()
    init_container_statuses: tuple[_ContainerStatus, ...] = ()
    start_time: str | None = None
    pod_ip: str = ""
    pod_ips: tuple[PodIP, ...] = ()
    nominated_node_name: str = ""
    resource_claim_statuses: tuple[dict[str, Any], ...] = ()


class _Parts(Struct, frozen=True, gc=False):
    metadata: _Metadata
    spec: Raw
    status: _Status = _Status()


class _NodeName(Struct, frozen=True, gc=False, rename="camel"):
    node_name: str = ""


class PodReader:
    """Decode pods: what many of them have is decoded once, and exists once.

    The pods of a replica set differ in their names, addresses and nodes; all else is more than nine tenths of a pod.
    """

    def __init__(self) -> None:
        self._parts = Decoder(_Parts).decode
        self._whole_spec = Decoder(PodSpec).decode
        self._node_name = Decoder(_NodeName).decode
        self._texts: Memo[str, str] = Memo(str)
        self._maps: Memo[bytes, dict[str, str]] = Memo(Decoder(dict[str, str]).decode)
        self._owners: Memo[bytes, tuple[OwnerReference, ...]] = Memo(Decoder(tuple[OwnerReference, ...]).decode)
        self._finalizers: Memo[bytes, tuple[str, ...]] = Memo(Decoder(tuple[str, ...]).decode)
        self._conditions: Memo[bytes, tuple[Condition, ...]] = Memo(Decoder(tuple[Condition, ...]).decode)
        self._states: Memo[bytes, dict[str, Any]] = Memo(Decoder(dict[str, Any]).decode)
        self._containers: Memo[tuple[str, bool, int, bytes, bytes], ContainerStatus] = Memo(self._make_container)
        self._specs: Memo[bytes, Memo[str, PodSpec]] = Memo(self._make_specs)

    def __call__(self, text: bytes, before: Pod | None = None) -> Pod:
        """Return the pod of its JSON; `before` is an earlier version of the pod, or another pod of its name."""
        parts = self._parts(text)
        meta, names = parts.metadata, parts.metadata if before is None else before.metadata
        if names.uid != meta.uid:
            names = meta
        return Pod(self._metadata(meta, names), self._spec(parts.spec), self._status(parts.status))

    def _metadata(self, meta: _Metadata, names: _Metadata | ObjectMeta) -> ObjectMeta:
        return ObjectMeta(
            names.name,
            names.uid,
            self._texts(meta.namespace),
            meta.resource_version,
            meta.generation,
            self._texts(meta.creation_timestamp),
            meta.deletion_timestamp,
            meta.deletion_grace_period_seconds,
            self._maps(bytes(meta.labels)),
            self._maps(bytes(meta.annotations)),
            self._owners(bytes(meta.owner_references)),
            self._finalizers(bytes(meta.finalizers)),
        )

    def _spec(self, spec: Raw) -> PodSpec:
        text, node = bytes(spec), self._node_name(spec).node_name
        if node:
            # The text without it is that of all pods of a template. Whatever else has been cut, the node is this one.
            text = text.replace(b'"nodeName":"%s",' % node.encode(), b"", 1)
        return self._specs(text)(node)

    def _make_specs(self, text: bytes) -> Memo[str, PodSpec]:
        """Return the specs of a text by their nodes."""
        spec = self._whole_spec(text)
        return Memo(lambda node: structs.replace(spec, node_name=node))

    def _status(self, status: _Status) -> PodStatus:
        addresses = status.pod_ips
        if len(addresses) == 1 and addresses[0].ip == status.pod_ip:
            addresses = (PodIP(status.pod_ip),)
        return PodStatus(
            self._texts(status.phase),
            status.reason,
            self._conditions(bytes(status.conditions)),
            tuple([self._container(one) for one in status.container_statuses]),
            tuple([self._container(one) for one in status.init_container_statuses]),
            None if status.start_time is None else self._texts(status.start_time),
            status.pod_ip,
            addresses,
            status.nominated_node_name,
            status.resource_claim_statuses,
        )

    def _container(self, one: _ContainerStatus) -> ContainerStatus:
        return self._containers((one.name, one.ready, one.restart_count, bytes(one.state), bytes(one.last_state)))

    def _make_container(self, key: tuple[str, bool, int, bytes, bytes]) -> ContainerStatus:
        name, ready, restarts, state, last = key
        return ContainerStatus(name, ready, restarts, self._states(state), self._states(last))
