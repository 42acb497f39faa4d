"""Pods leave nodes whose taints they do not tolerate, at once or after a while (`pkg/controller/tainteviction`)."""

from __future__ import annotations

from typing import Any

from hydrofoil.apis.catalog import Catalog
from hydrofoil.controllers.conditions import pod_condition, put_condition
from hydrofoil.controllers.node.taints import no_execute_taints
from hydrofoil.controllers.objects.nodes import Node, Taint
from hydrofoil.controllers.objects.pods import EXISTENCE, SPEC, Pod, node_of
from hydrofoil.controllers.runtime.controller import Controller, ValueWatch, all_served
from hydrofoil.controllers.runtime.recorder import NORMAL
from hydrofoil.controllers.runtime.runtime import Runtime
from hydrofoil.controllers.runtime.writes import service_account
from hydrofoil.errors import ApiError

NEVER = float("inf")


def tolerated_seconds(pod: Pod, taints: tuple[Taint, ...]) -> float:
    """Return how long a pod stays; 0 if it does not tolerate a taint (`GetMatchingTolerations`)."""
    least = NEVER
    for taint in taints:
        toleration = next((t for t in pod.spec.tolerations if t.tolerates(taint)), None)
        if toleration is None:
            return 0.0
        if toleration.toleration_seconds is not None:
            least = min(least, max(toleration.toleration_seconds, 0))
    return least


class TaintEviction(Controller):
    """Evict pods. A key is (namespace, name) of a pod."""

    name = "taint-eviction-controller"
    user = service_account("node-controller")
    width = 4

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(runtime)
        self._recorder = runtime.recorder(self.name, self.user)
        self._since: dict[tuple[str, str], tuple[str, float]] = {}
        """The uid of each pod that is to leave, and since when, in seconds of the server's clock."""

    @classmethod
    def served(cls, catalog: Catalog) -> bool:
        """Report whether all resources it needs are served."""
        return all_served(catalog, ("", "nodes"), ("", "pods"))

    def watches(self) -> list[ValueWatch[Any]]:
        return [
            self.watch("", "nodes", Node, self._on_node),
            self.watch("", "pods", Pod, self._on_pod, EXISTENCE | SPEC),
        ]

    async def stop(self) -> None:
        await super().stop()
        await self._recorder.close()

    def _on_node(self, old: Node | None, new: Node | None) -> None:
        before = () if old is None else no_execute_taints(old)
        after = () if new is None else no_execute_taints(new)
        if before != after:
            for pod in self.lister("", "pods", Pod).index(node_of).get((new or old).metadata.name):  # type: ignore[union-attr] # one of them is an object
                self.put(pod.metadata.namespace, pod.metadata.name)

    def _on_pod(self, old: Pod | None, new: Pod | None) -> None:
        if new is None:
            assert old is not None
            key = old.metadata.namespace, old.metadata.name
            if key in self._since:
                self.put(*key)
        elif new.spec.node_name and (
            old is None or old.spec.tolerations != new.spec.tolerations or old.spec.node_name != new.spec.node_name
        ):
            node = self.lister("", "nodes", Node).get("", new.spec.node_name)
            if node is not None and no_execute_taints(node):
                self.put(new.metadata.namespace, new.metadata.name)

    async def work(self, key: tuple[str, ...]) -> bool:
        place = key[0], key[1]
        pod = self.lister("", "pods", Pod).get(*place)
        node = None if pod is None else self.lister("", "nodes", Node).get("", pod.spec.node_name)
        taints = () if node is None else no_execute_taints(node)
        if pod is None or not taints:
            self._cancel(place)
            return True
        stays = tolerated_seconds(pod, taints)
        if stays == NEVER:
            self._cancel(place)
            return True
        now, uid = self.registry.clock.seconds(), pod.metadata.uid
        known = self._since.get(place)
        since = known[1] if known is not None and known[0] == uid else now
        if (left := since + stays - now) > 0:
            self._since[place] = uid, since
            self.queue.after(place, left)
            return True
        self._since.pop(place, None)
        if pod.is_deleting:
            return True
        return await self._evict(pod)

    def _cancel(self, place: tuple[str, str]) -> None:
        """Forget a pod that was to leave."""
        if self._since.pop(place, None) is not None:
            about = {"kind": "Pod", "namespace": place[0], "name": place[1], "apiVersion": "v1"}
            text = f"Cancelling deletion of Pod {place[0]}/{place[1]}"
            self._recorder.record(about, NORMAL, "TaintManagerEviction", text)

    async def _evict(self, pod: Pod) -> bool:
        """Say why a pod goes, and delete it (`addConditionAndDeletePod`)."""
        meta, pods = pod.metadata, self.resource("", "pods")
        self.client.check(self.registry.find("", "pods", meta.namespace, meta.name), meta.namespace)
        about = {"kind": "Pod", "namespace": meta.namespace, "name": meta.name, "apiVersion": "v1"}
        text = f"Marking for deletion Pod {meta.namespace}/{meta.name}"
        self._recorder.record(about, NORMAL, "TaintManagerEviction", text)
        message = "Taint manager: deleting due to NoExecute taint"
        now = self.registry.clock.text()
        condition = pod_condition(pod, "DisruptionTarget", "True", now, "DeletionByTaintManager", message)
        try:
            if condition is not None:
                await self.client.update(
                    pods,
                    meta.namespace,
                    meta.name,
                    lambda draft: put_condition(condition, draft),
                    subresource="status",
                )
            await self.client.delete(pods, meta.namespace, meta.name, uid=meta.uid)
        except ApiError as e:
            if e.code not in (404, 409):
                raise
            return e.code == 404
        return True
