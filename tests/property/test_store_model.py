"""Random histories on the native store and on a plain model: the six promises of a watch, and lists of the past."""

from __future__ import annotations

import json

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from hydrofoil import engine
from hydrofoil.apis.catalog import Catalog
from tests.contract.model import Model
from tests.shards import Kept

CATALOG = Catalog()
_found = CATALOG.find("", "v1", "configmaps")
assert _found is not None
CONFIGMAPS = _found.native
START = 1000

names = st.sampled_from([f"n{i}" for i in range(8)])
namespaces = st.sampled_from(["a", "a-b", "b"])
labels = st.sampled_from([{}, {"x": "1"}, {"x": "2"}])


def draft(namespace: str, name: str, given: dict[str, str]) -> engine.Draft:
    body = {"metadata": {"name": name, "namespace": namespace, "uid": f"{namespace}/{name}", "labels": given}}
    made, _ = CONFIGMAPS.decode(json.dumps(body).encode(), "json")
    made.set_type()
    return made


class StoreMachine(RuleBasedStateMachine):
    """Writes, reads and watches in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.kept = Kept(START)
        self.shard = self.kept.shard
        self.model = Model(START)
        self.everything = engine.Selector(CONFIGMAPS, "", "", "")
        self.watchers: list[tuple[engine.Watcher, int, list[tuple[int, str, str]]]] = []

    def get(self, namespace: str, name: str) -> engine.Stored | None:
        return self.shard.get(CONFIGMAPS, namespace, name)

    @rule(namespace=namespaces, name=names, given=labels)
    def create(self, namespace: str, name: str, given: dict[str, str]) -> None:
        expected = self.model.create(f"{namespace}/{name}", given)
        try:
            assert self.kept.create(draft(namespace, name, given)).revision == expected
        except engine.ExistsError:
            assert expected is None

    @rule(namespace=namespaces, name=names, given=labels)
    def update(self, namespace: str, name: str, given: dict[str, str]) -> None:
        expected = self.model.update(f"{namespace}/{name}", given)
        old = self.get(namespace, name)
        assert (old is None) == (expected is None)
        if old is not None:
            assert self.kept.update(old, draft(namespace, name, given)).revision == expected

    @rule(namespace=namespaces, name=names)
    def delete(self, namespace: str, name: str) -> None:
        expected = self.model.delete(f"{namespace}/{name}")
        old = self.get(namespace, name)
        assert (old is None) == (expected is None)
        if old is not None:
            assert self.kept.delete(old).revision == expected

    @rule(namespace=namespaces, name=names)
    def stale_write_is_refused(self, namespace: str, name: str) -> None:
        old = self.get(namespace, name)
        if old is None:
            return
        for x in ("1", "2", "3"):
            if self.model.update(f"{namespace}/{name}", {"x": x}) != old.revision:
                self.kept.update(old, draft(namespace, name, {"x": x}))
                break
        try:
            self.kept.delete(old)
            raise AssertionError("a stale delete went through")
        except engine.ConflictError:
            pass

    @rule(back=st.integers(0, 40))
    def list_of_the_past(self, back: int) -> None:
        revision = max(self.model.revision - back, START)
        cursor = self.shard.list(CONFIGMAPS, self.everything, "json", 0, revision)
        got = {f"{s.namespace}/{s.name}": s.revision for s in cursor.versions(1000)}
        assert list(got) == sorted(got)
        assert got == self.model.state_at(revision)

    @rule(limit=st.integers(1, 5), namespace=st.sampled_from(["", "a", "a-b"]))
    def pages(self, limit: int, namespace: str) -> None:
        chosen = engine.Selector(CONFIGMAPS, namespace, "", "")
        expected = sorted(k for k in self.model.objects if not namespace or k.startswith(f"{namespace}/"))
        got: list[str] = []
        start, revision = "", self.shard.revision
        while True:
            cursor = self.shard.list(CONFIGMAPS, chosen, "json", limit, revision, start)
            _, rest = cursor.ahead()
            got += [f"{s.namespace}/{s.name}" for s in cursor.versions(limit)]
            if rest is None:
                break
            start = rest[0]
            assert rest[1] == len(expected) - len(got)
        assert got == expected

    @rule(back=st.integers(0, 20))
    def open_watch(self, back: int) -> None:
        revision = max(self.model.revision - back, START)
        watcher = self.shard.watch(CONFIGMAPS, self.everything, "json", revision, len(self.watchers), False)
        self.watchers.append((watcher, revision, []))

    @rule(size=st.sampled_from([1, 64, 65536]))
    def drain_some(self, size: int) -> None:
        """Atomic batches or not: the events of a watcher are always a prefix of all events."""
        for watcher, revision, seen in self.watchers:
            data, _ = watcher.drain(size)
            self.read(data, seen)
            assert seen == self.model.after(revision)[: len(seen)]

    @invariant()
    def nothing_is_lost(self) -> None:
        """Ordered, unique, reliable, resumable."""
        for watcher, revision, seen in self.watchers:
            left = 1
            while left == 1:
                data, left = watcher.drain(65536)
                self.read(data, seen)
            assert seen == self.model.after(revision)

    @staticmethod
    def read(data: bytes | None, seen: list[tuple[int, str, str]]) -> None:
        for line in (data or b"").splitlines():
            event = json.loads(line)
            meta = event["object"]["metadata"]
            seen.append((int(meta["resourceVersion"]), event["type"], f"{meta['namespace']}/{meta['name']}"))


TestStore = StoreMachine.TestCase
TestStore.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
