"""Shared informers (client-go `tools/cache/shared_informer_test.go`)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from hydrofoil.controllers.runtime.fields import labels, owner_uids
from hydrofoil.controllers.runtime.informer import BATCH
from hydrofoil.controllers.runtime.runtime import Runtime
from hydrofoil.engine import Stored
from tests.unit.controllers.runtime.clusters import MAPS, change, create, delete, running

Names = tuple[str | None, str | None]


class Changes:
    """A handler that notes the changes it gets."""

    def __init__(self) -> None:
        self.seen: list[Names] = []
        self.revisions: list[int] = []
        self.fails = 0

    def __call__(self, old: Stored | None, new: Stored | None) -> None:
        if self.fails:
            self.fails -= 1
            raise RuntimeError("a handler")
        self.seen.append((old and old.name, new and new.name))
        self.revisions.append(0 if new is None else new.revision)

    def take(self) -> list[Names]:
        """Return the changes since the last call."""
        seen, self.seen = self.seen, []
        return seen


@pytest.fixture
async def runtime() -> AsyncIterator[Runtime]:
    async with running() as found:
        yield found


async def test_a_handler_gets_each_change_with_the_version_before(runtime: Runtime) -> None:
    handler = Changes()
    await create(runtime, "present")
    runtime.informers.of(MAPS).add(handler)
    await runtime.idle()
    assert handler.take() == [(None, "present")]
    await create(runtime, "x")
    changed = await change(runtime, "x", "1")
    await delete(runtime, "x")
    await runtime.idle()
    assert handler.take() == [(None, "x"), ("x", "x"), ("x", None)]
    assert handler.revisions[2] == changed.revision


async def test_controllers_share_a_watch_which_goes_with_the_last_of_them(runtime: Runtime) -> None:
    assert not len(runtime.hub), "a runtime without controllers watches nothing"
    one, two = runtime.informers.of(MAPS), runtime.informers.of(MAPS)
    assert one is two and len(runtime.hub) == 1
    first, second = one.add(Changes()), one.add(Changes())
    one.index(labels)
    runtime.informers.release(one, first)
    assert runtime.informers.has(one)
    runtime.informers.release(one, second)
    assert not runtime.informers.has(one) and not len(runtime.hub)


async def test_a_late_handler_gets_the_present_objects_in_pieces(runtime: Runtime) -> None:
    informer = runtime.informers.of(MAPS)
    for number in range(3 * BATCH):
        await create(runtime, f"x{number}")
    await runtime.idle()
    late = Changes()
    informer.add(late)
    assert not informer.has_synced and not late.seen
    last = f"x{3 * BATCH - 1}"
    await change(runtime, last, "1")
    await delete(runtime, "x0")
    await runtime.idle()
    assert informer.has_synced
    # Each object in order, whether its event was delivered before it was missed or after.
    seen = [change for change in late.take() if change not in ((None, "x0"), ("x0", None), (last, last))]
    assert seen == [(None, f"x{n}") for n in range(1, 3 * BATCH)]


async def test_objects_are_found_by_namespace_and_by_index(runtime: Runtime) -> None:
    informer = runtime.informers.of(MAPS)
    index, by_label = informer.index(owner_uids), informer.index(labels)
    assert informer.index(owner_uids) is index
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "u"}
    await create(runtime, "x", ownerReferences=[owner], labels={"app": "web"})
    await create(runtime, "y", "b", labels={"app": "web"})
    await runtime.idle()
    assert [stored.name for stored in index.get("u")] == ["x"]
    assert [stored.name for stored in by_label.get("app=web")] == ["x", "y"]
    assert [stored.name for stored in informer.objects.within("b")] == ["y"]
    changed = await change(runtime, "x", "1")
    await runtime.idle()
    assert [stored.revision for stored in index.get("u")] == [changed.revision]
    await delete(runtime, "x")
    await runtime.idle()
    assert not [*index.get("u")] and [stored.name for stored in by_label.get("app=web")] == ["y"]
    assert len(informer.objects) == 1 and informer.objects.get("a", "x") is None


async def test_an_index_is_in_step_when_later_handlers_are_called(runtime: Runtime) -> None:
    informer = runtime.informers.of(MAPS)
    await create(runtime, "early", labels={"app": "web"})
    await runtime.idle()
    index, found = informer.index(labels), list[bool]()

    def handle(_: Stored | None, new: Stored | None) -> None:
        found.append(new in [*index.get("app=web")])

    informer.add(handle)
    await create(runtime, "late", labels={"app": "web"})
    await runtime.idle()
    assert found == [True, True]


async def test_a_failure_concerns_one_handler_and_one_object(
    runtime: Runtime, caplog: pytest.LogCaptureFixture
) -> None:
    """What it missed is one change, from the version that it had to the present one."""
    informer = runtime.informers.of(MAPS)
    failing, other = Changes(), Changes()
    informer.add(failing)
    informer.add(other)
    await create(runtime, "x")
    await create(runtime, "z")
    await runtime.idle()
    failing.take(), other.take()
    failing.fails = 1
    await change(runtime, "x", "1")
    latest = await change(runtime, "x", "2")
    await create(runtime, "y")
    await delete(runtime, "z")
    await runtime.idle()
    assert other.take() == [("x", "x"), ("x", "x"), (None, "y"), ("z", None)]
    assert failing.take() == [(None, "y"), ("z", None)]
    assert "a controller failed on an event of configmaps" in caplog.text
    async with asyncio.timeout(30):
        while not failing.seen:
            await asyncio.sleep(0.01)
    assert failing.take() == [("x", "x")] and failing.revisions[-1] == latest.revision


async def test_events_that_were_lost_are_differences(runtime: Runtime) -> None:
    """A watch that is lapped begins with the present objects; one without a change is no event."""
    informer, handler = runtime.informers.of(MAPS), Changes()
    informer.add(handler)
    for name in ("same", "changed", "gone", "anew"):
        await create(runtime, name)
    await runtime.idle()
    handler.take()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(informer, "pump", lambda: None)
        await change(runtime, "changed", "1")
        await delete(runtime, "gone")
        await delete(runtime, "anew")
        await create(runtime, "anew")
        await create(runtime, "new")
        await asyncio.sleep(0)
        informer._anew()
        await asyncio.sleep(0)
    await runtime.idle()
    assert sorted(handler.take(), key=str) == sorted(
        [("changed", "changed"), ("gone", None), ("anew", None), (None, "anew"), (None, "new")], key=str
    )


async def test_the_state_is_that_of_the_view(runtime: Runtime) -> None:
    informer, handler = runtime.informers.of(MAPS), Changes()
    informer.add(handler)
    await create(runtime, "x")
    assert [stored.name for stored in informer.state] == ["x"]
    assert handler.take() == [(None, "x")]
