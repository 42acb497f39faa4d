"""The removal of pods that nobody ends: too many that have ended, those of lost nodes, those that were never bound.

`pkg/controller/podgc/gc_controller.go`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson

from hydrofoil.apis.catalog import Catalog
from hydrofoil.clock import Timer
from hydrofoil.controllers.conditions import Condition, pod_condition, put_condition
from hydrofoil.controllers.node.taints import OUT_OF_SERVICE
from hydrofoil.controllers.objects.nodes import Node
from hydrofoil.controllers.objects.pods import FAILED, Pod, node_of
from hydrofoil.controllers.options import ControllerOptions
from hydrofoil.controllers.runtime.client import LeftAlone
from hydrofoil.controllers.runtime.controller import Controller, ValueWatch, all_served
from hydrofoil.controllers.runtime.runtime import Runtime
from hydrofoil.controllers.runtime.writes import service_account
from hydrofoil.engine import Draft
from hydrofoil.errors import ApiError
from hydrofoil.pace.pacer import Pacer

PERIOD = 20.0
"""The seconds between two looks at all pods (`gcCheckPeriod`)."""
QUARANTINE = 40.0
"""The seconds for which a node has to be missing (`quarantineTime`)."""


def creation_order(pod: Pod) -> tuple[bool, str, str]:
    """Return the order in which ended pods go: evicted ones first (`byEvictionAndCreationTimestamp`)."""
    evicted = pod.status.phase == FAILED and pod.status.reason == "Evicted"
    return not evicted, pod.metadata.creation_timestamp, pod.metadata.name


class PodCollector(Controller):
    """Remove pods. Its one key is a look at all pods."""

    name = "podgc"
    user = service_account("pod-garbage-collector")

    def __init__(self, runtime: Runtime, options: ControllerOptions) -> None:
        super().__init__(runtime)
        self._threshold = options.terminated_pod_gc_threshold
        self._missing: dict[str, float] = {}
        """When each node was missed first, in seconds of the server's clock."""
        self._timer: Timer | None = None

    @classmethod
    def served(cls, catalog: Catalog) -> bool:
        """Report whether all resources it needs are served."""
        return all_served(catalog, ("", "nodes"), ("", "pods"))

    def watches(self) -> list[ValueWatch[Any]]:
        return [self.watch("", "nodes", Node, self._on_node), self.watch("", "pods", Pod, None)]

    def start(self) -> None:
        super().start()
        self._beat()

    def _beat(self) -> None:
        self._timer = self.registry.clock.later(PERIOD, self._beat, repeats=True)
        self.put("all")

    async def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        await super().stop()

    def _on_node(self, old: Node | None, new: Node | None) -> None:
        if new is None and old is not None:
            # A moved clock runs what is due at each moment: the quarantine is no multiple of the period there.
            self._missing[old.metadata.name] = self.registry.clock.seconds()
            self.queue.after(("all",), QUARANTINE)

    async def work(self, key: tuple[str, ...]) -> bool:
        nodes = self.lister("", "nodes", Node)
        pods = list(self.lister("", "pods", Pod))
        if self._threshold > 0:
            ended = [pod for pod in pods if pod.is_ended]
            if (surplus := len(ended) - self._threshold) > 0:
                await self._remove_all(sorted(ended, key=creation_order)[:surplus])
        deleted = [pod for pod in pods if pod.is_deleting]
        await self._remove_all(pod for pod in deleted if self._is_out_of_service(pod))
        await self._remove_orphans(pods, nodes.get)
        await self._remove_all(pod for pod in deleted if not pod.spec.node_name)
        return True

    def _is_out_of_service(self, pod: Pod) -> bool:
        """Report whether the node of a pod is lost, and somebody has said that it will not come back."""
        node = self.lister("", "nodes", Node).get("", pod.spec.node_name)
        return node is not None and not node.is_ready and any(t.key == OUT_OF_SERVICE for t in node.spec.taints)

    async def _remove_orphans(self, pods: list[Pod], find: Any) -> None:
        """Remove the pods of nodes that have been missing for a while (`gcOrphaned`)."""
        now = self.registry.clock.seconds()
        missing = {pod.spec.node_name for pod in pods if pod.spec.node_name and find("", pod.spec.node_name) is None}
        self._missing = {name: self._missing.get(name, now) for name in missing}
        for name, since in self._missing.items():
            if now < since + QUARANTINE:
                self.queue.after(("all",), since + QUARANTINE - now)
                continue
            for pod in self.lister("", "pods", Pod).index(node_of).get(name):
                moment = self.registry.clock.text()
                text = "PodGC: node no longer exists"
                await self._remove(pod, pod_condition(pod, "DisruptionTarget", "True", moment, "DeletionByPodGC", text))

    async def _remove_all(self, pods: Iterable[Pod]) -> None:
        pacer = Pacer()
        for pod in pods:
            await self._remove(pod, None)
            await pacer.pause()

    async def _remove(self, pod: Pod, condition: Condition | None) -> None:
        """Mark a pod as failed, since no kubelet will, and delete it (`markFailedAndDeletePodWithCondition`)."""
        meta, resource = pod.metadata, self.resource("", "pods")

        def change(draft: Draft) -> None:
            draft.set(["status", "phase"], b'"Failed"')
            draft.set(["status", "observedGeneration"], orjson.dumps(meta.generation))
            if condition is not None:
                put_condition(condition, draft)

        try:
            if not pod.is_ended:
                await self.client.update(resource, meta.namespace, meta.name, change, subresource="status")
            await self.client.delete(resource, meta.namespace, meta.name, grace=0, uid=meta.uid)
        except ApiError as e:
            if e.code not in (404, 409):
                raise
        except LeftAlone:
            pass
