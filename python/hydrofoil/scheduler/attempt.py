"""One attempt to place a pod (`schedule_one.go`, schedulingCycle)."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush

from msgspec import Struct

from hydrofoil.controllers.objects.volumes import PersistentVolume, PersistentVolumeClaim
from hydrofoil.scheduler.cluster import Cluster
from hydrofoil.scheduler.filters.filter import NoPlace, Refusal
from hydrofoil.scheduler.filters.nodes import NodeAffinity
from hydrofoil.scheduler.node_info import NodeInfo, PodInfo
from hydrofoil.scheduler.profile import Filters
from hydrofoil.scheduler.scores import NodeScores, PodScores

KINDS = 64
"""The number of kinds of pods whose ranking is kept."""


class Failure(Struct):
    """Why a pod has no place."""

    message: str
    """Why no node was looked at; empty if nodes were."""
    refusals: dict[str, Refusal]
    """Why each node was refused."""
    plugins: frozenset[str]
    """The filters that would have to change their minds."""
    filters: Filters | None = None


class Place(Struct):
    """The node for a pod."""

    node: str
    volumes: list[tuple[PersistentVolumeClaim, PersistentVolume | None]] = []
    """The claims that have waited for a node, and their volumes; None: one has to be provisioned."""


class Ranking:
    """The nodes for pods of one kind, the best first.

    What a node is worth to a pod depends on the node alone, for pods that say nothing of others where no pod says
    anything of them. So of a thousand pods of one kind each looks at the nodes that have changed since the one before
    it: the node of that pod.
    """

    def __init__(self, pod: PodInfo, cluster: Cluster) -> None:
        self._filters = Filters(pod, cluster)
        self._scores = NodeScores(pod)
        self._cluster = cluster
        self._heap: list[tuple[float, int, str, int]] = []
        """Negative scores, numbers that tell equal ones apart, names and generations. Of one node only the entry with
        its present generation counts."""
        self._seen: dict[str, int] = {}
        """The generation of each node that is ranked or refused."""
        self._number = 0
        self._last = ""
        """The latest change that is taken up."""
        for name in cluster.nodes:
            self._look(name)

    def _look(self, name: str) -> None:
        """Take the present state of a node."""
        node = self._cluster.nodes.get(name)
        if node is None or self._seen.get(name) == node.generation:
            return
        self._seen[name] = node.generation
        if self._filters.refuse(node) is None:
            # Of equal nodes, the one that was looked at first: pods go around.
            self._number += 1
            heappush(self._heap, (-self._scores.score(node), self._number, name, node.generation))

    def best(self) -> str | None:
        """Return the best node; None if all are refused."""
        for name in reversed(self._cluster.changed):
            # Every node moves to the end when it changes: what stands before the last known change has not.
            node = self._cluster.nodes.get(name)
            if node is not None and self._seen.get(name) == node.generation:
                break
            self._look(name)
        while self._heap:
            _, _, name, generation = self._heap[0]
            node = self._cluster.nodes.get(name)
            if node is not None and node.generation == generation:
                return name
            heappop(self._heap)
        return None


class Attempts:
    """The attempts of one scheduler."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self._rankings: dict[tuple[object, ...], Ranking] = {}

    def place(self, pod: PodInfo) -> Place | Failure:
        """Return the node for a pod, or why there is none."""
        cluster = self.cluster
        if not cluster.nodes:
            return Failure("", {}, frozenset())
        if (kind := self._kind(pod)) is not None and (name := self._ranking(kind, pod).best()) is not None:
            return Place(name)
        try:
            filters = Filters(pod, cluster)
        except NoPlace as e:
            return Failure(e.message, {}, frozenset((e.plugin,)))
        refusals: dict[str, Refusal] = {}
        good: list[NodeInfo] = []
        nodes: Iterable[NodeInfo] = cluster.nodes.values()
        if (names := pod.node_names) is not None:
            nodes = [cluster.nodes[name] for name in sorted(names) if name in cluster.nodes]
        for node in nodes:
            refusal = filters.refuse_with_nominated(node)
            if refusal is None:
                good.append(node)
            else:
                refusals[node.name] = refusal
        if not good:
            if names is not None:
                refusals.update((name, NodeAffinity.OTHER) for name in cluster.nodes if name not in names)
            plugins = frozenset(refusal.plugin for refusal in refusals.values())
            return Failure("", refusals, plugins, filters)
        name = self._choose(pod, good)
        volumes = filters.volumes
        return Place(name, [] if volumes is None else volumes.decide(cluster.nodes[name]) or [])

    def _choose(self, pod: PodInfo, good: list[NodeInfo]) -> str:
        """Return the best of the nodes that fit."""
        nominated = pod.pod.status.nominated_node_name
        if any(node.name == nominated for node in good):
            return nominated
        own = NodeScores(pod)
        scores = [own.score(node) for node in good]
        if PodScores.concerns(pod, self.cluster):
            others = PodScores(pod, self.cluster).scores(good)
            scores = [one + other for one, other in zip(scores, others, strict=True)]
        best = max(range(len(good)), key=scores.__getitem__)
        return good[best].name

    def _kind(self, pod: PodInfo) -> tuple[object, ...] | None:
        """Return what the places of a pod depend on; None if they depend on other pods, too."""
        cluster, spec = self.cluster, pod.pod.spec
        special = pod.has_terms or spec.topology_spread_constraints or pod.ports or cluster.with_terms
        if special or cluster.nominated or spec.resource_claims or pod.pod.has_claims:
            return None
        if pod.node_names is not None:
            # A ranking of all nodes for one that is named would cost more than it saves.
            return None
        return pod.kind

    def _ranking(self, kind: tuple[object, ...], pod: PodInfo) -> Ranking:
        ranking = self._rankings.pop(kind, None)
        if ranking is None:
            ranking = Ranking(pod, self.cluster)
            if len(self._rankings) >= KINDS:
                # The one that was not used for the longest time.
                del self._rankings[next(iter(self._rankings))]
        self._rankings[kind] = ranking
        return ranking
