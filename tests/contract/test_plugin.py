"""The contract of the pipeline with admission and strategies, on any plug-in."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable
from typing import Any

import pytest

from hydrofoil import errors
from hydrofoil.admission.attributes import Attributes
from hydrofoil.admission.chain import Chain
from hydrofoil.admission.plugin import Plugin
from hydrofoil.apis.catalog import Catalog, Resource
from hydrofoil.clock import Chance, Clock
from hydrofoil.engine import Change, Draft, Stored
from hydrofoil.registry.delete_options import DeleteOptions
from hydrofoil.registry.outcome import Finish
from hydrofoil.registry.store import Registry
from hydrofoil.registry.strategy import Strategy
from hydrofoil.registry.write import Operation, Write
from hydrofoil.request import ADMIN, User
from hydrofoil.server.run import Server
from hydrofoil.storage.errors import Outdated, Unknown
from hydrofoil.storage.local import LocalLog
from hydrofoil.storage.storage import Storage
from hydrofoil.watch.follow import Followed, Table
from hydrofoil.watch.hub import Hub

CATALOG = Catalog()
SEEN = dict[str, Any]


def resource(group: str, plural: str) -> Resource:
    found = CATALOG.find(group, "v1", plural)
    assert found
    return found


MAPS, SECRETS, LEASES = resource("", "configmaps"), resource("", "secrets"), resource("coordination.k8s.io", "leases")


class HeldLog(LocalLog):
    """A log whose commits can be held up."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()
        self.gate.set()
        self.loses = False
        """Whether the answer to a commit gets lost."""

    async def commit(self, change: Change) -> Stored:
        await self.gate.wait()
        stored = await super().commit(change)
        if self.loses:
            raise Unknown
        return stored


class Noting(Plugin):
    """Notes what it is asked; it may wait, and it may refuse."""

    def __init__(self, *only: Resource, name: str = "", waits: bool = False) -> None:
        self.only, self.name, self.waits = only, name, waits
        self.asked: list[tuple[str, str, SEEN]] = []
        self.refuses = False
        self.questions = 0

    def handles(self, resource: Resource, subresource: str, operation: Operation) -> bool:
        self.questions += 1
        return not self.only or resource in self.only

    def mutate(self, a: Attributes) -> Awaitable[None] | None:
        return self._note("mutate", a)

    def validate(self, a: Attributes) -> Awaitable[None] | None:
        return self._note("validate", a)

    def _note(self, step: str, a: Attributes) -> Awaitable[None] | None:
        seen: SEEN = {} if a.draft is None else json.loads(a.draft.json())
        self.asked.append((step, a.operation, seen))
        if self.refuses:
            raise a.forbidden("no")
        return asyncio.sleep(0) if self.waits else None

    def steps(self) -> list[tuple[str, str]]:
        return [(step, operation) for step, operation, _ in self.asked]

    def seen(self, step: str) -> list[SEEN]:
        return [seen for name, _, seen in self.asked if name == step]


class Allocating(Strategy):
    """A record of reported outcomes."""

    def __init__(self, registry: Registry) -> None:
        super().__init__(registry)
        self.begun: list[SEEN] = []
        self.outcomes: list[bool] = []

    async def begin(self, write: Write, draft: Draft, old: Stored | None) -> Finish | None:
        self.begun.append(json.loads(draft.json()))

        async def finish(done: bool) -> None:
            # An outcome is not cut short either.
            await asyncio.sleep(0)
            self.outcomes.append(done)

        return finish


@pytest.fixture
def log() -> HeldLog:
    return HeldLog()


@pytest.fixture
async def registry(log: HeldLog) -> AsyncIterator[Registry]:
    clock = Clock()
    storage = Storage(log, clock)
    await storage.open()
    yield Registry(CATALOG, storage, clock, Chance())
    await storage.close()


@pytest.fixture
def plugin() -> Noting:
    return Noting()


@pytest.fixture
def chain(plugin: Noting) -> Chain:
    return Chain([plugin])


@pytest.fixture
def allocating(registry: Registry) -> Allocating:
    found = registry.strategies[MAPS.storage] = Allocating(registry)
    return found


def draft(body: dict[str, Any], of: Resource = MAPS) -> Draft:
    return of.native.decode(json.dumps(body).encode(), "json")[0]


async def create(registry: Registry, chain: Chain, metadata: dict[str, Any], *, dry_run: bool = False) -> Stored:
    write = chain.write(MAPS, "a", dry_run=dry_run)
    return await registry.create(MAPS, "a", draft({"metadata": metadata}), write)


def labelled(old: Stored) -> Draft:
    made = old.thaw()
    made.set(["metadata", "labels"], b'{"l":"1"}')
    made.set(["metadata", "resourceVersion"], None)
    return made


class Overtaken:
    """A change of an object that another client writes during the first attempts."""

    def __init__(self, registry: Registry, times: int) -> None:
        self.registry, self.times = registry, times

    async def __call__(self, old: Stored) -> Draft:
        if self.times:
            self.times -= 1
            other = old.thaw()
            other.set(["data"], json.dumps({"k": str(self.times)}).encode())
            await self.registry.collection(MAPS).update(old, other)
        return labelled(old)


async def test_mutate_runs_once_for_a_create_before_uid_times_and_made_up_names(
    registry: Registry, chain: Chain, plugin: Noting, monkeypatch: pytest.MonkeyPatch
) -> None:
    await create(registry, chain, {"name": "n-taken"})
    plugin.asked.clear()
    names = iter(["n-taken", "n-taken", "n-free"])
    monkeypatch.setattr("hydrofoil.registry.names.generate_name", lambda *_: next(names))
    await create(registry, chain, {"generateName": "n-", "uid": "mine"})
    (seen,) = plugin.seen("mutate")
    assert "name" not in seen["metadata"] and "creationTimestamp" not in seen["metadata"]
    assert seen["metadata"]["namespace"] == "a"


async def test_validate_runs_for_each_name_that_is_tried(
    registry: Registry, chain: Chain, plugin: Noting, monkeypatch: pytest.MonkeyPatch
) -> None:
    await create(registry, chain, {"name": "n-taken"})
    plugin.asked.clear()
    names = iter(["n-taken", "n-free"])
    monkeypatch.setattr("hydrofoil.registry.names.generate_name", lambda *_: next(names))
    stored = await create(registry, chain, {"generateName": "n-"})
    seen = plugin.seen("validate")
    assert [s["metadata"]["name"] for s in seen] == ["n-taken", "n-free"]
    # Each attempt begins with the result of admission, with a uid of its own.
    assert len({s["metadata"]["uid"] for s in seen}) == 2 and stored.uid == seen[1]["metadata"]["uid"]


async def test_validate_runs_right_before_the_commit(registry: Registry, log: HeldLog, plugin: Noting) -> None:
    """It sees what will be stored; what is not valid it never sees."""
    chain = Chain([plugin])
    pods = resource("", "pods")
    body: dict[str, Any] = {"metadata": {"name": "p"}, "spec": {"containers": []}}
    with pytest.raises(errors.ApiError) as refused:
        await registry.create(pods, "a", draft(body, pods), chain.write(pods, "a"))
    assert refused.value.code == 422 and plugin.steps() == [("mutate", "CREATE")]
    plugin.asked.clear()
    body["spec"]["containers"] = [{"name": "c", "image": "i", "terminationMessagePolicy": "File"}]
    stored = await registry.create(pods, "a", draft(body, pods), chain.write(pods, "a"))
    (seen,) = plugin.seen("validate")
    shown = json.loads(stored.json)
    assert shown["metadata"].pop("resourceVersion") and seen == shown


async def test_a_draft_that_is_changed_has_its_defaults(registry: Registry, chain: Chain, plugin: Noting) -> None:
    pods = resource("", "pods")
    body = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    await registry.create(pods, "a", draft(body, pods), chain.write(pods, "a", manager="m"))
    (seen,) = plugin.seen("mutate")
    assert seen["spec"]["restartPolicy"] == "Always" and "phase" not in seen.get("status", {})
    assert [e["manager"] for e in seen["metadata"]["managedFields"]] == ["m"]


async def test_mutate_runs_in_each_turn_of_an_update(registry: Registry, chain: Chain, plugin: Noting) -> None:
    await create(registry, chain, {"name": "n"})
    plugin.asked.clear()
    await registry.update(MAPS, "a", "n", Overtaken(registry, 2), chain.write(MAPS, "a", "n"))
    assert plugin.steps() == [("mutate", "UPDATE"), ("validate", "UPDATE")] * 3
    assert [s["data"]["k"] for s in plugin.seen("mutate")[1:]] == ["1", "0"]


async def test_a_version_is_compared_after_mutation(registry: Registry, chain: Chain, plugin: Noting) -> None:
    await create(registry, chain, {"name": "n"})
    plugin.asked.clear()

    def change(old: Stored) -> Draft:
        made = old.thaw()
        made.set(["metadata", "resourceVersion"], b'"1"')
        return made

    with pytest.raises(errors.ApiError) as refused:
        await registry.update(MAPS, "a", "n", change, chain.write(MAPS, "a", "n"))
    assert refused.value.code == 409 and plugin.steps() == [("mutate", "UPDATE")]


async def test_a_deletion_is_admitted_without_a_draft(registry: Registry, chain: Chain, plugin: Noting) -> None:
    await create(registry, chain, {"name": "n"})
    plugin.asked.clear()
    await registry.delete(MAPS, "a", "n", DeleteOptions(), chain.write(MAPS, "a", "n"))
    assert plugin.asked == [("mutate", "DELETE", {}), ("validate", "DELETE", {})]


async def test_admit_is_called_with_the_operation_that_it_turned_out_to_be(registry: Registry, plugin: Noting) -> None:
    """A PUT of an absent object is a create."""
    write = Chain([plugin]).write(LEASES, "a", "n")
    write.creates = True
    await registry.create(LEASES, "a", draft({"metadata": {"name": "n"}}, LEASES), write)
    await registry.update(LEASES, "a", "n", lambda old: old.thaw(), write)
    assert [operation for _, operation in plugin.steps()] == ["CREATE", "CREATE", "UPDATE", "UPDATE"]


async def test_own_bookkeeping_has_no_admit(registry: Registry, plugin: Noting, chain: Chain) -> None:
    plugin.refuses = True
    await registry.create(MAPS, "a", draft({"metadata": {"name": "n"}}), Write())
    await registry.update(MAPS, "a", "n", labelled, Write())
    await registry.delete(MAPS, "a", "n", DeleteOptions(), Write())
    assert plugin.asked == []


async def test_a_refusal_stores_nothing_and_names_the_object(
    registry: Registry, chain: Chain, plugin: Noting, allocating: Allocating
) -> None:
    plugin.refuses = True
    for metadata in ({"name": "n"}, {"generateName": "n"}):
        with pytest.raises(errors.ApiError) as refused:
            await create(registry, chain, metadata)
        assert refused.value.message == 'configmaps "n" is forbidden: no'
    assert registry.all(MAPS) == [] and allocating.outcomes == []


async def test_plug_ins_are_asked_in_their_order_also_when_they_wait(registry: Registry) -> None:
    order: list[tuple[str, str]] = []

    class Told(Noting):
        def _note(self, step: str, a: Attributes) -> Awaitable[None] | None:
            order.append((self.name, step))
            return super()._note(step, a)

    chain = Chain([Told(name="a"), Told(name="b", waits=True), Told(name="c", waits=True), Told(name="d")])
    await create(registry, chain, {"name": "n"})
    assert order == [(name, step) for step in ("mutate", "validate") for name in "abcd"]


async def test_a_plug_in_is_asked_only_for_what_it_handles_and_that_is_kept_until_something_changed(
    registry: Registry,
) -> None:
    plugin = Noting(SECRETS)
    chain = Chain([plugin])
    for name in ("m", "n"):
        await create(registry, chain, {"name": name})
    assert plugin.asked == [] and plugin.questions == 1
    chain.changed()
    plugin.only = (MAPS,)
    await create(registry, chain, {"name": "o"})
    assert plugin.steps() == [("mutate", "CREATE"), ("validate", "CREATE")] and plugin.questions == 2


async def test_a_step_that_a_plug_in_does_not_have_is_not_called() -> None:
    class Refusing(Plugin):
        def handles(self, resource: Resource, subresource: str, operation: Operation) -> bool:
            return True

        def validate(self, a: Attributes) -> None:
            raise a.forbidden("no")

    mutating, validating = Chain([Refusing()]).phases_of(MAPS, "", "CREATE")
    assert (len(mutating.steps), len(validating.steps)) == (0, 1)


async def test_a_plug_in_without_configuration_is_not_called_but_counted(registry: Registry) -> None:
    """One that its objects configure does nothing without any; the places of the others in metrics stay."""
    hub = Hub(registry.storage, registry.clock)

    class Configured(Noting):
        followed = (Followed(registry.collection(LEASES), LEASES.native, Table(lambda stored: stored.name), hub),)

        def idle(self) -> bool:
            return not self.followed[0].state.within("a")

    configured, last = Configured(name="configured"), Noting(name="last")
    chain = Chain([configured, last])
    await create(registry, chain, {"name": "m"})
    last.refuses = True
    with pytest.raises(errors.ApiError):
        await create(registry, chain, {"name": "n"})
    assert not configured.asked and len(last.asked) == 3
    samples = [sample.labels for metric in chain.phases.collect() for sample in metric.samples]
    counted = {(labels["name"], labels["rejected"]) for labels in samples if "name" in labels}
    assert counted == {("configured", "false"), ("last", "false"), ("last", "true")}
    last.refuses = False
    await registry.create(LEASES, "a", draft({"metadata": {"name": "l"}}), Chain([]).write(LEASES, "a"))
    await create(registry, chain, {"name": "o"})
    assert configured.steps() == last.steps()[-2:]
    hub.close()


async def test_what_a_plug_in_warns_of_is_told_and_whom_it_serves_is_known(registry: Registry) -> None:
    users: list[User] = []

    class Telling(Noting):
        def validate(self, a: Attributes) -> None:
            users.append(a.user)
            a.warn("careful")

    write = Chain([Telling()]).write(MAPS, "a", user=User("somebody"))
    await registry.create(MAPS, "a", draft({"metadata": {"name": "n"}}), write)
    assert write.warnings == ["careful"] and users == [User("somebody")] and write.user == users[0]
    assert Chain([]).write(MAPS, "a").user == ADMIN


async def test_the_callback_of_begin_runs_once_with_true_for_what_is_stored(
    registry: Registry, chain: Chain, allocating: Allocating
) -> None:
    await create(registry, chain, {"name": "n"})
    await registry.update(MAPS, "a", "n", labelled, chain.write(MAPS, "a", "n"))
    assert allocating.outcomes == [True, True]


async def test_begin_comes_between_metadata_and_preparation(
    registry: Registry, chain: Chain, allocating: Allocating
) -> None:
    stored = await create(registry, chain, {"name": "n"})
    (seen,) = allocating.begun
    assert seen["metadata"]["uid"] == stored.uid and seen["metadata"]["creationTimestamp"]


async def test_the_callback_of_begin_runs_once_with_false_for_what_is_not_stored(
    registry: Registry, chain: Chain, plugin: Noting, allocating: Allocating
) -> None:
    await create(registry, chain, {"name": "n"}, dry_run=True)
    assert allocating.outcomes.pop() is False
    with pytest.raises(errors.ApiError):
        await create(registry, chain, {"name": "Not Valid"})
    assert allocating.outcomes.pop() is False
    await create(registry, chain, {"name": "n"})
    assert allocating.outcomes.pop() is True
    with pytest.raises(errors.ApiError):
        await create(registry, chain, {"name": "n"})
    assert allocating.outcomes.pop() is False
    await registry.update(MAPS, "a", "n", Overtaken(registry, 1), chain.write(MAPS, "a", "n"))
    assert allocating.outcomes == [False, True]


async def test_of_a_write_of_which_nobody_knows_whether_it_was_done_nothing_is_given_back(
    registry: Registry, chain: Chain, log: HeldLog, allocating: Allocating
) -> None:
    log.loses = True
    with pytest.raises(Unknown):
        await create(registry, chain, {"name": "n"})
    with pytest.raises(Unknown):
        await registry.update(MAPS, "a", "n", labelled, chain.write(MAPS, "a", "n"))
    assert len(allocating.begun) == 2 and allocating.outcomes == []


async def test_each_name_that_is_tried_begins_and_ends(
    registry: Registry, chain: Chain, allocating: Allocating, monkeypatch: pytest.MonkeyPatch
) -> None:
    await create(registry, chain, {"name": "n-taken"})
    names = iter(["n-taken", "n-free"])
    monkeypatch.setattr("hydrofoil.registry.names.generate_name", lambda *_: next(names))
    await create(registry, chain, {"generateName": "n-"})
    assert allocating.outcomes == [True, False, True]


async def test_what_an_update_that_removes_the_object_allocated_is_given_back(
    registry: Registry, chain: Chain, allocating: Allocating
) -> None:
    await create(registry, chain, {"name": "n", "finalizers": ["e.com/f"]})
    await registry.delete(MAPS, "a", "n", DeleteOptions(), chain.write(MAPS, "a", "n"))

    def last(old: Stored) -> Draft:
        made = old.thaw()
        made.set(["metadata", "finalizers"], None)
        return made

    await registry.update(MAPS, "a", "n", last, chain.write(MAPS, "a", "n"))
    assert registry.all(MAPS) == [] and allocating.outcomes == [True, False]


async def test_the_callback_runs_when_the_outcome_is_known_also_after_the_request_was_cancelled(
    registry: Registry, chain: Chain, log: HeldLog, allocating: Allocating
) -> None:
    log.gate.clear()
    request = asyncio.create_task(create(registry, chain, {"name": "n"}))
    while not allocating.begun:
        await asyncio.sleep(0)
    request.cancel()
    with pytest.raises(asyncio.CancelledError):
        await request
    assert allocating.outcomes == []
    log.gate.set()
    while not allocating.outcomes:
        await asyncio.sleep(0)
    assert allocating.outcomes == [True] and [s.name for s in registry.all(MAPS)] == ["n"]


async def test_a_cancelled_request_that_is_refused_gives_back_what_was_allocated(
    registry: Registry, chain: Chain, log: HeldLog, allocating: Allocating
) -> None:
    await create(registry, chain, {"name": "n"})
    log.gate.clear()
    request = asyncio.create_task(create(registry, chain, {"name": "n"}))
    while len(allocating.begun) < 2:
        await asyncio.sleep(0)
    request.cancel()
    await asyncio.gather(request, return_exceptions=True)
    log.gate.set()
    while len(allocating.outcomes) < 2:
        await asyncio.sleep(0)
    assert allocating.outcomes == [True, False]


async def test_controllers_are_admitted_as_a_named_system_user(server: Server) -> None:
    for controller in server.controllers:
        write = controller.write(MAPS, "default", "n")
        assert write.admit is not None and write.user.name.startswith("system:")


async def test_a_write_that_began_before_a_restore_is_not_committed_after_it(
    registry: Registry, chain: Chain, plugin: Noting
) -> None:
    state = registry.storage.checkpoint()
    await create(registry, chain, {"name": "n"})
    write = Write(epoch=registry.storage.epoch)
    assert registry.storage.restore(state) == 1
    with pytest.raises(Outdated):
        await registry.create(MAPS, "a", draft({"metadata": {"name": "m"}}), write)
    with pytest.raises(errors.ApiError) as missing:
        await registry.delete(MAPS, "a", "n", DeleteOptions(), Write())
    assert missing.value.code == 404, "one without an epoch of its own sees the state after it"


async def test_a_creation_during_a_restore_is_refused_and_may_be_repeated(registry: Registry) -> None:
    state = registry.storage.checkpoint()

    class Restoring(Plugin):
        def handles(self, resource: Resource, subresource: str, operation: Operation) -> bool:
            return True

        def validate(self, a: Attributes) -> None:
            registry.storage.restore(state)

    with pytest.raises(errors.ApiError) as refused:
        await create(registry, Chain([Restoring()]), {"name": "n"})
    assert (refused.value.code, refused.value.retry_after) == (503, 1)
    assert registry.find("", "configmaps", "a", "n") is None
