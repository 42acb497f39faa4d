"""The flags that select the controllers, and the server that runs them."""

from __future__ import annotations

from hydrofoil.go_text import quote
from hydrofoil.options import Options, Refused, amount, anything, boolean, flag, integer, seconds, span

NAMES = {
    "namespace": "namespace-controller",
    "garbagecollector": "garbage-collector-controller",
    "pvc-protection": "persistentvolumeclaim-protection-controller",
    "pv-protection": "persistentvolume-protection-controller",
    "vac-protection": "volumeattributesclass-protection-controller",
    "serviceaccount": "serviceaccount-controller",
    "serviceaccount-token": "serviceaccount-token-controller",
    "root-ca-cert-publisher": "root-ca-certificate-publisher-controller",
    "clusterrole-aggregation": "clusterrole-aggregation-controller",
    "validatingadmissionpolicy-status": "validatingadmissionpolicy-status-controller",
}
"""The controllers of every server, and their names in kube-controller-manager."""
LIVING = {
    "deployment": "deployment-controller",
    "replicaset": "replicaset-controller",
    "replicationcontroller": "replicationcontroller-controller",
    "statefulset": "statefulset-controller",
    "daemonset": "daemonset-controller",
    "job": "job-controller",
    "cronjob": "cronjob-controller",
    "ttl-after-finished": "ttl-after-finished-controller",
    "endpoint": "endpoints-controller",
    "endpointslice": "endpointslice-controller",
    "endpointslicemirroring": "endpointslice-mirroring-controller",
    "disruption": "disruption-controller",
    "resourcequota": "resourcequota-controller",
    "horizontalpodautoscaling": "horizontal-pod-autoscaler-controller",
    "persistentvolume-binder": "persistentvolume-binder-controller",
    "persistentvolume-attach-detach": "persistentvolume-attach-detach-controller",
    "ephemeral-volume": "ephemeral-volume-controller",
    "podgc": "pod-garbage-collector-controller",
    "node-lifecycle": "node-lifecycle-controller",
    "taint-eviction-controller": "taint-eviction-controller",
    "ttl": "ttl-controller",
    "csrsigning": "certificatesigningrequest-signing-controller",
    "csrapproving": "certificatesigningrequest-approving-controller",
    "csrcleaner": "certificatesigningrequest-cleaner-controller",
    "resourceclaim-controller": "resourceclaim-controller",
}
"""Those of a cluster that lives. `*` names them, and the default does not: without them, what controllers of a test
write is nobody else's."""
ALL = NAMES | LIVING
NODES = 3
"""The number of nodes of a cluster that names none."""
SWITCHES = {"true": NODES, "false": 0}
DEFAULT = ",".join(NAMES)
SHORT = {long: short for short, long in ALL.items()}


def controllers(text: str) -> str:
    """Read `*`, names and `-name`, as short names. Raise Refused for an unknown controller."""
    found = []
    for word in filter(None, (w.strip() for w in text.split(","))):
        name = word.removeprefix("-")
        short = SHORT.get(name, name)
        if word != "*" and short not in ALL:
            raise Refused(f"{quote(name)} is not in the list of known controllers: {', '.join(ALL)}")
        found.append(f"-{short}" if word.startswith("-") else short)
    return ",".join(found)


def cluster(text: str) -> int:
    """Read the number of nodes of a cluster; `true` is the usual number."""
    word = text.lower()
    return SWITCHES[word] if word in SWITCHES else amount(text)


def number(text: str) -> float:
    """Read a number that is not negative (`strconv.ParseFloat`). Raise ValueError and Refused."""
    try:
        found = float(text)
    except ValueError:
        raise ValueError(f"strconv.ParseFloat: parsing {quote(text)}: invalid syntax") from None
    if not 0 <= found < float("inf"):
        raise Refused("<flag> can not be negative value")
    return found


def capacity(text: str) -> int:
    """Read the most endpoints of a slice, from 1 to 1,000. Raise ValueError and Refused."""
    found = amount(text)
    if not 1 <= found <= 1000:
        raise Refused(f"<flag> must not be {'less than 1' if found < 1 else 'more than 1000'}, but got {found}")
    return found


class ControllerOptions(Options):
    """Controllers."""

    cluster: int = flag(
        "--cluster",
        0,
        cluster,
        f"a cluster that lives: all controllers, the scheduler and N simulated nodes ({NODES} without a number)",
        value="[N]",
    )
    nodes: int = flag("--nodes", 0, amount, "simulated nodes of 4 CPU, 8Gi and 110 pods (default 0)", value="N")
    scheduler: bool = flag(
        "--scheduler", False, boolean, "bind pods to nodes, as kube-scheduler does (default false)", value="BOOL"
    )

    controllers: str = flag(
        "--controllers",
        DEFAULT,
        controllers,
        f"{', '.join(ALL)}; '*': all, '-name': not that one, empty: none (default {{}})",
        value="LIST",
    )

    horizontal_pod_autoscaler_sync_period: float = flag(
        "--horizontal-pod-autoscaler-sync-period",
        15.0,
        span,
        "time between two looks at each autoscaler (default 15s)",
        value="DURATION",
    )
    max_endpoints_per_slice: int = flag(
        "--max-endpoints-per-slice", 100, capacity, "the most endpoints of an EndpointSlice (default 100)", value="N"
    )
    mirroring_max_endpoints_per_subset: int = flag(
        "--mirroring-max-endpoints-per-subset",
        1000,
        capacity,
        "the most addresses of a subset of Endpoints that are mirrored to a slice (default 1000)",
        value="N",
    )
    resource_quota_sync_period: float = flag(
        "--resource-quota-sync-period",
        300.0,
        span,
        "time between two counts of all quotas, beside those after deletions (default 5m)",
        value="DURATION",
    )
    node_monitor_period: float = flag(
        "--node-monitor-period", 5.0, seconds, "time between two looks at all nodes (default 5s)", value="DURATION"
    )
    node_monitor_grace_period: float = flag(
        "--node-monitor-grace-period",
        50.0,
        seconds,
        "how long a node may be silent before it is given up (default 50s)",
        value="DURATION",
    )
    node_startup_grace_period: float = flag(
        "--node-startup-grace-period",
        60.0,
        seconds,
        "how long a new node may be silent (default 1m)",
        value="DURATION",
    )
    node_eviction_rate: float = flag(
        "--node-eviction-rate", 0.1, number, "nodes of a zone that are evicted a second (default 0.1)", value="N"
    )
    secondary_node_eviction_rate: float = flag(
        "--secondary-node-eviction-rate",
        0.01,
        number,
        "the same in an unhealthy zone of a large cluster (default 0.01)",
        value="N",
    )
    large_cluster_size_threshold: int = flag(
        "--large-cluster-size-threshold",
        50,
        amount,
        "nodes beyond which a zone is large; no node of a smaller unhealthy zone is evicted (default 50)",
        value="N",
    )
    unhealthy_zone_threshold: float = flag(
        "--unhealthy-zone-threshold",
        0.55,
        number,
        "the part of nodes that are not ready in an unhealthy zone (default 0.55)",
        value="N",
    )
    pvclaimbinder_sync_period: float = flag(
        "--pvclaimbinder-sync-period",
        15.0,
        seconds,
        "time between two looks at claims without a volume (default 15s)",
        value="DURATION",
    )
    terminated_pod_gc_threshold: int = flag(
        "--terminated-pod-gc-threshold",
        12500,
        integer,
        "ended pods that are kept; 0 or less: all (default 12500)",
        value="N",
    )

    cluster_signing_cert_file: str = flag(
        "--cluster-signing-cert-file",
        "",
        anything,
        "authority in PEM that signs approved requests for certificates (default: nobody signs)",
        value="FILE",
    )
    cluster_signing_key_file: str = flag(
        "--cluster-signing-key-file", "", anything, "private key of that authority", value="FILE"
    )
    cluster_signing_duration: float = flag(
        "--cluster-signing-duration",
        31536000.0,
        seconds,
        "longest validity of signed certificates (default 8760h)",
        value="DURATION",
    )

    leader_elect: bool | None = flag(
        "--leader-elect",
        None,
        boolean,
        "run the controllers in one of several servers, which holds a lease (default: true with --etcd-servers)",
        value="BOOL",
    )
    leader_elect_lease_duration: float = flag(
        "--leader-elect-lease-duration",
        15.0,
        seconds,
        "how long other servers wait for a renewal before they take the lease (default 15s)",
        value="DURATION",
    )
    leader_elect_renew_deadline: float = flag(
        "--leader-elect-renew-deadline",
        10.0,
        seconds,
        "how long the holder tries to renew the lease before it stops its controllers (default 10s)",
        value="DURATION",
    )
    leader_elect_retry_period: float = flag(
        "--leader-elect-retry-period",
        2.0,
        seconds,
        "time between two attempts to take or renew the lease (default 2s)",
        value="DURATION",
    )

    def election_problem(self) -> str:
        """Return one line about times that contradict each other (component-base `config/validation`); empty: none."""
        lasts, deadline = self.leader_elect_lease_duration, self.leader_elect_renew_deadline
        period = self.leader_elect_retry_period
        for name, value in (("lease-duration", lasts), ("renew-deadline", deadline), ("retry-period", period)):
            if value <= 0:
                return f"--leader-elect-{name} must be greater than zero"
        if lasts <= deadline:
            return "--leader-elect-lease-duration must be greater than --leader-elect-renew-deadline"
        if deadline <= period:
            return "--leader-elect-renew-deadline must be greater than --leader-elect-retry-period"
        return ""

    def controls(self, name: str) -> bool:
        """Report whether a controller runs: `*`, a list of names, `-name` to leave one out."""
        # A cluster has all of them, unless others are named.
        named = "*" if self.cluster and self.controllers == DEFAULT else self.controllers
        words = [w.strip() for w in named.split(",") if w.strip()]
        if f"-{name}" in words:
            return False
        return name in words or "*" in words

    @property
    def lives(self) -> bool:
        """Report whether a controller runs that makes a cluster live."""
        return any(map(self.controls, LIVING))

    @property
    def schedules(self) -> bool:
        """Report whether the scheduler runs."""
        return self.scheduler or bool(self.cluster)

    @property
    def node_count(self) -> int:
        """Return the number of simulated nodes that the server makes."""
        return self.nodes or self.cluster
