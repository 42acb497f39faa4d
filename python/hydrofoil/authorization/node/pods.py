"""The pods of nodes and their references (plugin/pkg/auth/authorizer/node `graph.go`).

Upstream keeps a graph of all references. Here the pods are sorted by node when the first node asks, and those of a node
are read when it first asks; both follow the events from there on.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Iterator

import orjson

from hydrofoil.engine import ResourceType, Selector, Stored, Watcher
from hydrofoil.errors import FAULTS
from hydrofoil.pace.pacer import Pacer
from hydrofoil.registry import references
from hydrofoil.storage.collection import Collection
from hydrofoil.watch.hub import LAPPED, Hub

BATCH = 256
"""The number of changes applied, or of pods walked, at a time."""
NODES = 16384
"""The greatest number of nodes whose references are remembered; the first is forgotten first."""
Key = tuple[str, str]
"""Namespace and name of a pod."""
Reference = tuple[str, str, str]
"""Plural, namespace and name."""
_VALID = re.compile(r"[a-z0-9](?:[-.a-z0-9]{0,251}[a-z0-9])?")
_MENTIONED = re.compile(rb'"nodeName":"([a-z0-9][-.a-z0-9]{0,252})"')
"""The member of that name in the spec, or a label, an annotation or a selector of that name."""


class Placement:
    """The nodes of pods, without reading the whole of each."""

    def __init__(self, resource: ResourceType) -> None:
        self._resource = resource
        self._selectors: dict[str, Selector] = {}

    def of(self, pod: Stored) -> str:
        """Return the node of a pod; empty if it has none."""
        for found in _MENTIONED.finditer(pod.json):
            name = found[1].decode()
            if self._selector(name).matches(pod):
                return name
        return ""

    def _selector(self, name: str) -> Selector:
        found = self._selectors.get(name)
        if found is None:
            if len(self._selectors) >= NODES:
                # Any user who writes pods can write a label.
                self._selectors.clear()
            found = self._selectors[name] = Selector(self._resource, "", "", f"spec.nodeName={name}")
        return found


def references_of_pod(pod: Stored) -> frozenset[Reference]:
    """Return what a pod lets its node read; a mirror pod, which its node made, lets it read nothing."""
    raw = orjson.loads(pod.json)
    if references.MIRROR in raw["metadata"].get("annotations", {}):
        return frozenset()
    return frozenset(_iterate_references(raw, pod.namespace))


def _iterate_references(raw: references.Object, namespace: str) -> Iterator[Reference]:
    if account := raw.get("spec", {}).get("serviceAccountName"):
        yield "serviceaccounts", namespace, account
    for plural, named in (
        ("secrets", references.secrets),
        ("configmaps", references.config_maps),
        ("persistentvolumeclaims", references.claims),
        ("resourceclaims", references.resource_claims),
    ):
        for name in named(raw):
            yield plural, namespace, name


class Node:
    """The pods of one node."""

    __slots__ = ("counts", "pods", "read")

    def __init__(self) -> None:
        self.pods: dict[Key, frozenset[Reference]] = {}
        self.counts: Counter[Reference] = Counter()
        """How many pods refer to each object; only those that some pod refers to are in it."""
        self.read = False
        """Whether the pods from before the first event are in it."""

    def put(self, pod: Stored) -> None:
        """Add a pod, or its new version."""
        self.drop(pod)
        found = self.pods[pod.namespace, pod.name] = references_of_pod(pod)
        self.counts.update(found)

    def drop(self, pod: Stored) -> None:
        """Remove a pod."""
        for reference in self.pods.pop((pod.namespace, pod.name), ()):
            if self.counts[reference] > 1:
                self.counts[reference] -= 1
            else:
                del self.counts[reference]


NOWHERE = Node()
"""The node of no pod."""


class Pods:
    """The pods of the nodes that asked, at the view of each call."""

    urgent = False
    subject = None

    def __init__(self, collection: Collection, resource: ResourceType, hub: Hub) -> None:
        self._collection = collection
        self._resource = resource
        self._hub = hub
        self._placement = Placement(resource)
        self._nodes: dict[str, Node] = {}
        self._keys: dict[str, dict[Key, None]] = {}
        """The pods of the other nodes; some may have left since."""
        self._complete = False
        """Whether the pods from before the first event are in `_keys`."""
        self._walk: asyncio.Task[None] | None = None
        self._token = hub.token()
        self._watcher = self._watch()
        hub.add(self._token, self)
        if collection.loading is not None:
            collection.loading.add_done_callback(lambda _: self._anew())

    def _watch(self) -> Watcher:
        everything = Selector(self._resource, "", "", "")
        return self._collection.watch(self._resource, everything, "json", self._collection.revision, self._token, False)

    def _anew(self) -> None:
        """Forget everything: the pods are walked again when a node asks."""
        self._nodes.clear()
        self._keys.clear()
        self._complete = False
        if self._walk is not None:
            self._walk.cancel()
            self._walk = None
        self._watcher = self._watch()

    def known(self, name: str) -> Node | None:
        """Return the pods of a node; None if they must be read first."""
        if not _VALID.fullmatch(name):
            # No pod has such a node.
            return NOWHERE
        while self._watcher.waits():
            self._take()
        node = self._nodes.get(name)
        return node if node is not None and node.read else None

    async def node(self, name: str) -> Node:
        """Return the pods of a node; read them first if it has not asked before."""
        while (node := self.known(name)) is None:
            if not self._complete:
                walk = self.begin()
                # It continues for others when one request ends.
                await asyncio.wait((walk,))
                if not walk.cancelled():
                    walk.result()
            else:
                await self._read(name)
        return node

    def begin(self) -> asyncio.Task[None]:
        """Begin to sort the pods by node, unless that is under way, so that the first node need not wait for it."""
        if self._walk is None:
            self._walk = asyncio.create_task(self._walk_all(), name="pods of nodes")
        return self._walk

    async def _walk_all(self) -> None:
        """Sort all pods by node. Changes since the beginning come as events."""
        try:
            await self._sort()
            self._complete = True
        finally:
            if self._walk is asyncio.current_task():
                self._walk = None

    async def _sort(self) -> None:
        everything = Selector(self._resource, "", "", "")
        cursor = self._collection.list(self._resource, everything, "json", 0, 0, "")
        pacer = Pacer()
        names: dict[str, str] = {}
        while batch := cursor.versions(BATCH):
            for pod in batch:
                if at := self._placement.of(pod):
                    namespace = names.setdefault(pod.namespace, pod.namespace)
                    self._keys.setdefault(at, {})[namespace, pod.name] = None
            await pacer.pause()

    async def _read(self, name: str) -> None:
        """Read the pods of a node; events of it are applied from here on."""
        while len(self._nodes) >= NODES:
            old = next(iter(self._nodes))
            self._keys.setdefault(old, {}).update(dict.fromkeys(self._nodes.pop(old).pods))
        node = self._nodes.get(name)
        if node is None:
            node = self._nodes[name] = Node()
        pacer = Pacer()
        for namespace, pod in list(self._keys.get(name, ())):
            stored = self._collection.get(self._resource, namespace, pod)
            if stored is not None and self._placement.of(stored) == name:
                node.put(stored)
            await pacer.pause()
        if self._nodes.get(name) is node:
            self._keys.pop(name, None)
            node.read = True

    def _take(self) -> None:
        """Apply a batch of waiting changes. After an error, begin anew."""
        try:
            changes, left = self._watcher.changes(BATCH)
            if left == LAPPED:
                self._anew()
                return
            for old, new in changes:
                self._apply(old, new)
        except FAULTS:
            self._anew()
            raise

    def _apply(self, old: Stored | None, new: Stored | None) -> None:
        if not self._complete and self._walk is None:
            return
        at = "" if new is None else self._placement.of(new)
        # Another pod of the same name may have been on another node.
        before = "" if old is None else self._placement.of(old)
        if old is not None and before and before != at:
            if (node := self._nodes.get(before)) is not None:
                node.drop(old)
            if (keys := self._keys.get(before)) is not None:
                keys.pop((old.namespace, old.name), None)
        if new is not None and at:
            if (node := self._nodes.get(at)) is not None:
                node.put(new)
            elif before != at:
                self._keys.setdefault(at, {})[new.namespace, new.name] = None

    def pump(self) -> None:
        """Apply waiting changes; the hub calls this when there are any."""
        pacer = Pacer()
        while self._watcher.waits():
            self._take()
            if pacer.is_due():
                self._hub.again(self._token)
                return

    def bookmark(self) -> None:
        """Do nothing: the position is not reported."""

    def cut(self) -> None:
        """Do nothing: the form of objects is irrelevant."""

    def end(self) -> None:
        """Stop following."""
        if self._walk is not None:
            self._walk.cancel()
        self._hub.remove(self._token)
