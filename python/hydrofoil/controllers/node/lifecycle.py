"""The life of nodes: taints and labels of their conditions, those that fall silent, and their pods.

`pkg/controller/nodelifecycle/node_lifecycle_controller.go`.
"""

from __future__ import annotations

from typing import Any

import orjson

from hydrofoil.apis.catalog import Catalog
from hydrofoil.clock import Timer
from hydrofoil.controllers.conditions import pod_condition, put_condition
from hydrofoil.controllers.node.health import (
    FULL,
    INITIAL,
    PARTIAL,
    Health,
    hear,
    silent_conditions,
    zone_of,
    zone_state,
)
from hydrofoil.controllers.node.taints import (
    NOT_READY,
    OF_CONDITIONS,
    UNREACHABLE,
    has_taint,
    mark_of,
    schedule_taints,
    swap_taints,
)
from hydrofoil.controllers.objects.leases import Lease
from hydrofoil.controllers.objects.nodes import NO_EXECUTE, NO_SCHEDULE, Node
from hydrofoil.controllers.objects.pods import EXISTENCE, SPEC, Pod, node_of
from hydrofoil.controllers.options import ControllerOptions
from hydrofoil.controllers.runtime.controller import Controller, ValueWatch, all_served
from hydrofoil.controllers.runtime.recorder import NORMAL, WARNING
from hydrofoil.controllers.runtime.runtime import Runtime
from hydrofoil.controllers.runtime.writes import service_account
from hydrofoil.engine import Draft
from hydrofoil.errors import ApiError
from hydrofoil.pace.pacer import Pacer

LEASES = "kube-node-lease"
LABELS = {"kubernetes.io/os": "beta.kubernetes.io/os", "kubernetes.io/arch": "beta.kubernetes.io/arch"}
"""Labels that nodes have by two names (`labelReconcileInfo`)."""
EXCLUDED = "node.kubernetes.io/exclude-disruption"
EVICTED = (NOT_READY, NO_EXECUTE), (UNREACHABLE, NO_EXECUTE)
OF_STATUS = {"False": EVICTED[0], "Unknown": EVICTED[1]}
"""The taint that evicts the pods of a node, by its condition Ready."""
TICK = 0.001
"""The seconds after a time of grace at which it has passed."""
MONITOR, ZONE, POD = "monitor", "zone", "pod"
"""The first parts of keys of several parts; a key of one part is a node."""


class NodeLifecycle(Controller):
    """Watch over nodes. Keys are (node,), (MONITOR, "") for a look at all, (ZONE, name) and (POD, namespace, name)."""

    name = "node-lifecycle"
    user = service_account("node-controller")
    width = 4

    def __init__(self, runtime: Runtime, options: ControllerOptions) -> None:
        super().__init__(runtime)
        self._options = options
        self._recorder = runtime.recorder("node-controller", self.user)
        self._timer: Timer | None = None
        self._known: dict[str, str] = {}
        """The uids of nodes that were announced, by name."""
        self._health: dict[str, Health] = {}
        self._states: dict[str, str] = {}
        """The states of zones."""
        self._waiting: dict[str, dict[str, None]] = {}
        """The nodes to be tainted, by zone, in their order."""
        self._tainted: dict[str, float] = {}
        """When the last node of a zone was tainted: one follows another after a while."""
        self._unmarked: set[str] = set()
        """Nodes whose pods are to be marked as not ready, since that has failed."""

    @classmethod
    def served(cls, catalog: Catalog) -> bool:
        """Report whether all resources it needs are served."""
        return all_served(catalog, ("", "nodes"), ("", "pods"), ("coordination.k8s.io", "leases"))

    def watches(self) -> list[ValueWatch[Any]]:
        return [
            self.watch("coordination.k8s.io", "leases", Lease, None),
            self.watch("", "nodes", Node, self._on_node),
            self.watch("", "pods", Pod, self._on_pod, EXISTENCE | SPEC),
        ]

    def start(self) -> None:
        super().start()
        self._beat()

    def _beat(self) -> None:
        self._timer = self.registry.clock.later(self._options.node_monitor_period, self._beat, repeats=True)
        self.put(MONITOR, "")

    async def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        await super().stop()
        await self._recorder.close()

    def _on_node(self, old: Node | None, new: Node | None) -> None:
        if new is not None:
            self.put(new.metadata.name)
        # The rest is a matter of the next look at all nodes, but nobody wants to wait for one that comes or goes, and a
        # node that falls silent has a moment at which it is given up.
        if (
            old is None
            or new is None
            or (new.is_ready and not old.is_ready)
            or old.metadata.annotations != (new.metadata.annotations)
        ):
            self.put(MONITOR, "")

    def _on_pod(self, old: Pod | None, new: Pod | None) -> None:
        if new is not None and new.spec.node_name and (old is None or old.spec.node_name != new.spec.node_name):
            health = self._health.get(new.spec.node_name)
            node = self.lister("", "nodes", Node).get("", new.spec.node_name)
            if health is not None and node is not None and not node.is_ready:
                self.put(POD, new.metadata.namespace, new.metadata.name)

    async def work(self, key: tuple[str, ...]) -> bool:
        try:
            match key:
                case (name,):
                    await self._sync_node(name)
                case (part, _) if part == MONITOR:
                    await self._monitor()
                case (_, zone):
                    await self._taint_zone(zone)
                case (_, namespace, name):
                    await self._sync_pod(namespace, name)
        except ApiError as e:
            if e.code not in (404, 409):
                raise
            return e.code == 404
        return True

    def _node(self, name: str) -> Node | None:
        return self.lister("", "nodes", Node).get("", name)

    # Taints against scheduling, and labels

    async def _sync_node(self, name: str) -> None:
        node = self._node(name)
        if node is None:
            return
        wanted = schedule_taints(node)
        present = {mark_of(t): None for t in node.spec.taints if t.effect == NO_SCHEDULE and t.key in OF_CONDITIONS}
        if wanted.keys() != present.keys():
            added = [mark for mark in wanted if mark not in present]
            await self._swap(node, added, [mark for mark in present if mark not in wanted])
        labels = node.metadata.labels
        stale = {
            other: labels[key] for key, other in LABELS.items() if key in labels and labels.get(other) != labels[key]
        }
        if stale:
            await self.client.patch(self.resource("", "nodes"), "", name, {"metadata": {"labels": stale}})

    async def _swap(self, node: Node, added: list[tuple[str, str]], removed: list[tuple[str, str]]) -> None:
        now = self.registry.clock.text()
        await self.client.update(
            self.resource("", "nodes"), "", node.metadata.name, lambda draft: swap_taints(draft, added, removed, now)
        )

    # The health of all nodes

    async def _monitor(self) -> None:
        """Look at all nodes (`monitorNodeHealth`)."""
        pacer = Pacer()
        nodes = list(self.lister("", "nodes", Node))
        await self._announce(nodes)
        zones: dict[str, list[bool]] = {}
        for node in nodes:
            await pacer.pause()
            observed = node.condition("Ready")
            status = await self._check(node)
            if EXCLUDED not in node.metadata.labels:
                zones.setdefault(zone_of(node), []).append(status == "True")
            if status is None:
                continue
            await self._judge(node, status)
            lost = status != "True" and observed is not None and observed.status == "True"
            if lost:
                about = {"kind": "Node", "name": node.metadata.name, "uid": node.metadata.name, "apiVersion": "v1"}
                text = f"Node {node.metadata.name} status is now: NodeNotReady"
                self._recorder.record(about, NORMAL, "NodeNotReady", text)
            if lost or (status != "True" and node.metadata.name in self._unmarked):
                await self._mark_pods(node.metadata.name)
        await self._update_zones(zones, nodes)

    async def _announce(self, nodes: list[Node]) -> None:
        """Record events of nodes that came or went (`classifyNodes`)."""
        present = {node.metadata.name for node in nodes}
        for name in [name for name in self._known if name not in present]:
            self._record(name, self._known.pop(name), "RemovingNode", f"Removing Node {name} from Controller")
            self._health.pop(name, None)
            self._unmarked.discard(name)
        for node in nodes:
            name, uid = node.metadata.name, node.metadata.uid
            if name not in self._known:
                self._known[name] = uid
                self._record(name, uid, "RegisteredNode", f"Registered Node {name} in Controller")
                self._states.setdefault(zone_of(node), INITIAL)

    def _record(self, name: str, uid: str, reason: str, text: str) -> None:
        about = {"kind": "Node", "name": name, "uid": uid, "apiVersion": "v1"}
        self._recorder.record(about, NORMAL, reason, f"Node {name} event: {text}")

    async def _check(self, node: Node) -> str | None:
        """Return the condition Ready of a node, after it is given up if it has been silent for too long.

        None: it never had one, and still has some time.
        """
        name, options, now = node.metadata.name, self._options, self.registry.clock.seconds()
        lease = self.lister("coordination.k8s.io", "leases", Lease).get(LEASES, name)
        renewed = "" if lease is None else lease.spec.renew_time
        health = self._health[name] = hear(self._health.get(name), node, renewed, now)
        if name in self.runtime.live_nodes:
            health.probed = now
        ready = node.condition("Ready")
        grace = options.node_startup_grace_period if ready is None else options.node_monitor_grace_period
        left = health.probed + grace - now
        if left >= 0 or (ready is not None and ready.status == "Unknown"):
            if left >= 0 and name not in self.runtime.live_nodes:
                # A clock that is moved stops at this moment, and not at those of the periodic looks.
                self.queue.after((MONITOR, ""), left + TICK)
            return None if ready is None else ready.status
        moment = self.registry.clock.text()

        def change(draft: Draft) -> None:
            present = orjson.loads(draft.get(["status", "conditions"]) or b"[]")
            conditions = silent_conditions(node, present, moment)
            if conditions is not None:
                draft.set(["status", "conditions"], orjson.dumps(conditions))

        await self.client.update(
            self.resource("", "nodes"),
            "",
            name,
            change,
            version=node.metadata.resource_version,
            subresource="status",
        )
        return "Unknown"

    async def _judge(self, node: Node, status: str) -> None:
        """Have a node tainted so that its pods leave it, or take such taints back (`processTaintBaseEviction`)."""
        wanted = OF_STATUS.get(status)
        zone, name = zone_of(node), node.metadata.name
        present = [mark for mark in EVICTED if has_taint(node, mark)]
        if wanted is None:
            self._waiting.get(zone, {}).pop(name, None)
            if present:
                await self._swap(node, [], present)
        elif present and wanted not in present:
            # Its pods have begun to leave: the other reason is no new one.
            await self._swap(node, [wanted], present)
        elif not present:
            self._waiting.setdefault(zone, {})[name] = None
            self.put(ZONE, zone)

    def _rate(self, zone: str, count: int) -> float:
        """Return how many nodes of a zone are tainted a second (`setLimiterInZone`)."""
        options, states = self._options, self._states
        if all(state == FULL for state in states.values()):
            # The master itself may be cut off.
            return 0.0
        if states.get(zone) == PARTIAL:
            large = count > options.large_cluster_size_threshold
            return options.secondary_node_eviction_rate if large else 0.0
        return options.node_eviction_rate

    async def _taint_zone(self, zone: str) -> None:
        """Taint the next node of a zone, if it is time for one (`doNoExecuteTaintingPass`)."""
        waiting = self._waiting.get(zone, {})
        while waiting:
            nodes = sum(zone_of(node) == zone for node in self.lister("", "nodes", Node))
            rate, now = self._rate(zone, nodes), self.registry.clock.seconds()
            if not rate:
                return
            if (left := self._tainted.get(zone, float("-inf")) + 1 / rate - now) > 0:
                self.queue.after((ZONE, zone), left)
                return
            name = next(iter(waiting))
            del waiting[name]
            node = self._node(name)
            ready = None if node is None else node.condition("Ready")
            wanted = None if ready is None else OF_STATUS.get(ready.status)
            if node is not None and wanted is not None:
                self._tainted[zone] = now
                await self._swap(node, [wanted], [mark for mark in EVICTED if mark != wanted])

    async def _update_zones(self, zones: dict[str, list[bool]], nodes: list[Node]) -> None:
        """Take the states of zones; where nothing is ready, nothing is evicted (`handleDisruption`)."""
        threshold = self._options.unhealthy_zone_threshold
        states = {zone: zone_state(sum(all_), len(all_) - sum(all_), threshold) for zone, all_ in zones.items()}
        was_full = bool(self._states) and all(state == FULL for state in self._states.values())
        is_full = bool(states) and all(state == FULL for state in states.values())
        self._states = states
        if is_full and not was_full:
            for node in nodes:
                if present := [mark for mark in EVICTED if has_taint(node, mark)]:
                    await self._swap(node, [], present)
        elif was_full and not is_full:
            # Nothing could be heard for a while: all nodes get their time again.
            now = self.registry.clock.seconds()
            for health in self._health.values():
                health.probed = now
        for zone in self._waiting:
            self.put(ZONE, zone)

    # Pods of lost nodes

    async def _mark_pods(self, name: str) -> None:
        """Mark the pods of a node as not ready (`MarkPodsNotReady`)."""
        self._unmarked.add(name)
        pacer = Pacer()
        for pod in self.lister("", "pods", Pod).index(node_of).get(name):
            await self._mark_pod(pod)
            await pacer.pause()
        self._unmarked.discard(name)

    async def _mark_pod(self, pod: Pod) -> None:
        ready = pod.condition("Ready")
        if ready is None or ready.status != "True":
            return
        condition = pod_condition(pod, "Ready", "False", self.registry.clock.text())
        meta = pod.metadata
        if condition is not None:
            try:
                await self.client.update(
                    self.resource("", "pods"),
                    meta.namespace,
                    meta.name,
                    lambda draft: put_condition(condition, draft),
                    subresource="status",
                )
            except ApiError as e:
                if e.code not in (404, 409):
                    raise
                return
        self._recorder.record(meta.reference("v1", "Pod"), WARNING, "NodeNotReady", "Node is not ready")

    async def _sync_pod(self, namespace: str, name: str) -> None:
        """Mark a pod that was bound to a node which is lost (`processPod`)."""
        pod = self.lister("", "pods", Pod).get(namespace, name)
        node = None if pod is None else self._node(pod.spec.node_name)
        if pod is not None and node is not None and not node.is_ready:
            await self._mark_pod(pod)
