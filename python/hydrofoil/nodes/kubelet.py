"""The kubelets of simulated nodes: leases, statuses of nodes, and the life of the pods that are bound to them."""

from __future__ import annotations

from itertools import count
from typing import Any

import orjson
from msgspec import Struct

from hydrofoil import errors
from hydrofoil.apis.catalog import Catalog
from hydrofoil.clock import Timer
from hydrofoil.controllers.objects.nodes import Node
from hydrofoil.controllers.objects.pods import BOUND, Pod, node_of
from hydrofoil.controllers.objects.times import format_micro_time, parse_time
from hydrofoil.controllers.runtime.client import Client
from hydrofoil.controllers.runtime.controller import Controller, ValueWatch, all_served
from hydrofoil.controllers.runtime.runtime import Runtime
from hydrofoil.endpoints.subresources.simulated import NODE
from hydrofoil.engine import Draft
from hydrofoil.errors import ApiError
from hydrofoil.nodes.marks import DEAD, exit_code, mark, read_seconds
from hydrofoil.nodes.node_status import report_node
from hydrofoil.nodes.pod_status import FirstReports, Report
from hydrofoil.nodes.stagger import Stagger
from hydrofoil.request import User

LEASE_SECONDS = 2.0
"""The time between two renewals of a lease."""
RENEWALS = 50.0
"""The most renewals a second of all nodes: those of more than 100 nodes are further apart, as a kubelet's own are."""
LEASES = "kube-node-lease"
TERMINATED = 143
"""The exit code of a process that heeds SIGTERM."""
RESTART_SECONDS = 1.0
"""The time until containers that have exited are started again."""
GONE = (404, 409)
"""The codes of writes that came too late: the object has gone, or is another one."""


class Process(Struct, gc=False):
    """The containers of a pod, as far as they are no part of its status."""

    address: str = ""
    started: float | None = None
    """When its containers start or have started, in seconds of the server's clock; None: not yet decided."""
    delay: float = 0.0
    """The seconds by which it is ready later than `ready-after` says."""
    end: float | None = None
    """When the containers of a deleted pod stop."""
    reported: tuple[Any, ...] = ()
    """What the last report said, without its times: it is not repeated when others write the status."""


class Kubelet(Controller):
    """Play the kubelets of all simulated nodes: those with the annotation `sim.hydrofoil/node` that are not dead.

    A key is ("", node) or (namespace, pod).
    """

    user = User("system:node:simulated", groups=("system:nodes", "system:authenticated"))
    width = 4

    def __init__(self, runtime: Runtime, count_of_nodes: int, version: str) -> None:
        """Make this many nodes at the start; `version` is that of the kubelets."""
        super().__init__(runtime)
        self.client = Client(self.write, self.registry, "kubelet")
        self._count = count_of_nodes
        self._version = version
        self._prefixes: dict[str, str] = {}
        """The first three numbers of the addresses of nodes by their names: an address stays."""
        self._live = runtime.live_nodes
        self._processes: dict[str, Process] = {}
        """Those of the pods on live nodes, by uid."""
        self._addresses: dict[str, str] = {}
        """The uid of the pod that has an address."""
        self._numbers = count(1)
        self._stagger = Stagger(self.registry.clock)
        self._first = FirstReports()
        self._timer: Timer | None = None

    @classmethod
    def served(cls, catalog: Catalog) -> bool:
        """Report whether all resources it needs are served."""
        return all_served(catalog, ("", "nodes"), ("", "pods"), ("coordination.k8s.io", "leases"))

    def watches(self) -> list[ValueWatch[Any]]:
        return [self.watch("", "nodes", Node, self._on_node), self.watch("", "pods", Pod, self._on_pod, BOUND)]

    def start(self) -> None:
        super().start()
        for number in range(self._count):
            self.put("", f"node-{number}")
        self._timer = self.registry.clock.later(LEASE_SECONDS, self._beat, repeats=True)

    async def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        await super().stop()
        self._live.clear()

    # Nodes

    def _on_node(self, old: Node | None, new: Node | None) -> None:
        name = (new or old).metadata.name  # type: ignore[union-attr] # one of them is an object
        state = None if new is None else new.metadata.annotations.get(NODE)
        if state in (None, DEAD):
            self._live.discard(name)
        elif name not in self._live:
            self._live.add(name)
            number = len(self._prefixes) + 1
            self._prefixes.setdefault(name, f"10.{244 + number // 250 % 12}.{number % 250}")
            self.put("", name)
            for pod in self.lister("", "pods", Pod).index(node_of).get(name):
                if (process := self._processes.get(pod.metadata.uid)) is not None:
                    # Others may have written its status meanwhile.
                    process.reported = ()
                self.put(pod.metadata.namespace, pod.metadata.name)

    def _beat(self) -> None:
        """Renew the leases of live nodes, and come again."""
        seconds = max(LEASE_SECONDS, len(self._live) / RENEWALS)
        self._timer = self.registry.clock.later(seconds, self._beat, repeats=True)
        for name in sorted(self._live):
            self.put("", name)

    async def work(self, key: tuple[str, ...]) -> bool:
        namespace, name = key
        try:
            if namespace:
                await self._sync_pod(namespace, name)
            else:
                await self._sync_node(name)
        except ApiError as e:
            if e.code not in GONE:
                raise
        return True

    async def _sync_node(self, name: str) -> None:
        """Make a node of the server's own, renew the lease of a live one, and report that it is well."""
        if name not in self._live:
            number = name.removeprefix("node-")
            wanted = number.isdigit() and int(number) < self._count
            if wanted and self.registry.find("", "nodes", "", name) is None and name not in self._prefixes:
                await self._make_node(name)
            return
        await self._renew(name)
        node = self.lister("", "nodes", Node).get("", name)
        if node is None or node.is_ready:
            # The node controller may have given it up; otherwise nothing changes.
            return
        report = report_node(node, f"{self._prefixes[name]}.254", self._version, self.registry.clock.text())
        text = orjson.dumps(report)
        await self.client.update(
            self.resource("", "nodes"), "", name, lambda draft: draft.merge_status(text), subresource="status"
        )

    async def _make_node(self, name: str) -> None:
        labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
        metadata = {"name": name, "labels": labels, "annotations": {NODE: "alive"}}
        await self.client.create(self.resource("", "nodes"), "", {"metadata": metadata})

    async def _renew(self, name: str) -> None:
        leases = self.resource("coordination.k8s.io", "leases")
        moment = orjson.dumps(format_micro_time(self.registry.clock.seconds()))
        try:
            await self.client.update(leases, LEASES, name, lambda draft: draft.set(["spec", "renewTime"], moment))
        except ApiError as e:
            if e.code != 404:
                raise
            spec = {"holderIdentity": name, "leaseDurationSeconds": 40, "renewTime": orjson.loads(moment)}
            await self.client.create(leases, LEASES, {"metadata": {"name": name}, "spec": spec})

    # Pods

    def _on_pod(self, old: Pod | None, new: Pod | None) -> None:
        if new is None:
            assert old is not None
            process = self._processes.pop(old.metadata.uid, None)
            if process is not None:
                self._addresses.pop(process.address, None)
            return
        if address := new.status.pod_ip:
            self._addresses.setdefault(address, new.metadata.uid)
        if new.spec.node_name in self._live and (old is None or self._matters(old, new)):
            self.put(new.metadata.namespace, new.metadata.name)

    def _matters(self, old: Pod, new: Pod) -> bool:
        """Report whether a change is more than a status: most are reports of this kubelet.

        Conditions of readiness gates are others' words in a status.
        """
        process = self._processes.get(new.metadata.uid)
        return (
            process is None
            or not process.reported
            or bool(new.spec.readiness_gates)
            or old.metadata.uid != new.metadata.uid
            or old.metadata.generation != new.metadata.generation
            or old.metadata.annotations != new.metadata.annotations
            or old.is_deleting != new.is_deleting
        )

    def _process_of(self, pod: Pod) -> Process:
        """Return the process of a pod; that of a pod which ran before this server did goes on."""
        process = self._processes.get(pod.metadata.uid)
        if process is None:
            process = self._processes[pod.metadata.uid] = Process(pod.status.pod_ip or self._draw_address(pod))
            for status in pod.status.container_statuses:
                if "running" in status.state:
                    process.started = parse_time(status.state["running"]["startedAt"])
        return process

    def _draw_address(self, pod: Pod) -> str:
        """Return an address that no other pod has."""
        for number in self._numbers:
            address = f"10.{128 + number // 62500 % 100}.{number // 250 % 250}.{number % 250 + 1}"
            if self._addresses.setdefault(address, pod.metadata.uid) == pod.metadata.uid:
                break
        return address

    async def _sync_pod(self, namespace: str, name: str) -> None:
        """Bring a pod to where it should be at this moment, and come again at the next one that matters."""
        pod = self.lister("", "pods", Pod).get(namespace, name)
        if pod is None or pod.spec.node_name not in self._live:
            return
        if pod.is_deleting:
            await self._stop_pod(pod)
        elif not pod.is_ended:
            await self._run_pod(pod)

    def _report_of(self, pod: Pod, process: Process) -> Report:
        return Report(pod, self.registry.clock.text(), self._host_of(pod), process.address)

    def _host_of(self, pod: Pod) -> str:
        """Return the address of the node of a pod."""
        return self._prefixes[pod.spec.node_name] + ".254"

    async def _run_pod(self, pod: Pod) -> None:
        process, now, meta = self._process_of(pod), self.registry.clock.seconds(), pod.metadata
        if process.started is None:
            if mark(meta, "start-after") == "never":
                return await self._write(pod, process, ("waiting",), self._report_of(pod, process).waiting())
            process.started = now + read_seconds(mark(meta, "start-after"))
            process.delay = 0.0 if mark(meta, "ready-after") is None else self._stagger.draw()
        started = process.started
        if now < started:
            self.queue.after((meta.namespace, meta.name), started - now)
            return None
        lasts = mark(meta, "exit-after")
        if lasts is not None and now >= started + read_seconds(lasts):
            return await self._exit_pod(pod, process, self._report_of(pod, process))
        until_ready = started + read_seconds(mark(meta, "ready-after")) + process.delay - now
        ready = until_ready <= 0 and mark(meta, "unready") is None
        for left in (until_ready, started + read_seconds(lasts) - now):
            if left > 0:
                self.queue.after((meta.namespace, meta.name), left)
        host, moment = self._host_of(pod), self.registry.clock.text()
        status, message = self._first.encode(pod, moment, host, process.address, ready=ready)
        return await self._write(pod, process, ("running", ready, message), status)

    async def _exit_pod(self, pod: Pod, process: Process, report: Report) -> None:
        """Report containers that have exited; those that are to run again start after a while."""
        code, policy = exit_code(pod.metadata), pod.spec.restart_policy
        if policy == "Always" or (policy == "OnFailure" and code):
            process.started = self.registry.clock.seconds() + RESTART_SECONDS
            self.queue.after((pod.metadata.namespace, pod.metadata.name), RESTART_SECONDS)
            await self._write(pod, process, ("restarting", process.started), report.restarting(code))
        else:
            await self._write(pod, process, ("ended",), report.ended(code))

    async def _stop_pod(self, pod: Pod) -> None:
        """End a deleted pod: its containers stop after `stop-after`, at the latest when its grace period is over."""
        process, now, meta = self._process_of(pod), self.registry.clock.seconds(), pod.metadata
        if process.end is None:
            grace = float(meta.deletion_grace_period_seconds or 0)
            process.end = now + (0 if pod.is_ended else min(grace, read_seconds(mark(meta, "stop-after"))))
        if process.end > now:
            self.queue.after((meta.namespace, meta.name), process.end - now)
            return
        pods = self.resource("", "pods")
        if not pod.is_ended:
            code = TERMINATED if mark(meta, "exit-code") is None else exit_code(meta)
            await self._write(pod, process, ("stopped",), self._report_of(pod, process).ended(code))
        await self.client.delete(pods, meta.namespace, meta.name, uid=meta.uid, grace=0)

    async def _write(self, pod: Pod, process: Process, said: tuple[Any, ...], report: dict[str, Any] | bytes) -> None:
        """Write a status, or its JSON, unless the last report said the same."""
        meta = pod.metadata
        said = (*said, meta.generation)
        if process.reported == said:
            return
        process.reported = said
        text = report if isinstance(report, bytes) else orjson.dumps(report)

        def change(draft: Draft) -> None:
            if draft.uid != meta.uid:
                raise errors.conflict("", "pods", meta.name, "another pod has its name")
            draft.merge_status(text)

        try:
            await self.client.update(self.resource("", "pods"), meta.namespace, meta.name, change, subresource="status")
        except BaseException:
            process.reported = ()
            raise
