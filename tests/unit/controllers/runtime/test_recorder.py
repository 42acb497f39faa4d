"""Events that are counted, combined and bounded (client-go `tools/record/event_test.go`, `events_cache_test.go`)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from hydrofoil.controllers.runtime.correlator import BURST, INTERVAL, PREFIX, SIMILAR
from hydrofoil.controllers.runtime.recorder import NORMAL, WARNING, EventRecorder, reference_to
from hydrofoil.controllers.runtime.runtime import Runtime
from hydrofoil.controllers.runtime.writes import service_account
from hydrofoil.registry.delete_options import DeleteOptions
from hydrofoil.registry.write import Write
from tests.unit.controllers.runtime.clusters import MAPS, create, running
from tests.unit.parts import resource

EVENTS = resource("events")
SECOND = 10**9


class Recorded:
    """A recorder, and the events that it has written."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.recorder: EventRecorder = runtime.recorder("a-controller", service_account("a-controller"))
        self.about = {"kind": "ConfigMap", "apiVersion": "v1", "namespace": "a", "name": "x", "uid": "u"}

    def record(self, message: str, reason: str = "Happened") -> None:
        self.recorder.record(self.about, NORMAL, reason, message)

    async def events(self) -> list[dict[str, Any]]:
        """Return what is written once there is nothing left to write."""
        await self.runtime.idle()
        return [json.loads(stored.json) for stored in self.runtime.registry.all(EVENTS)]


@pytest.fixture
async def recorded() -> AsyncIterator[Recorded]:
    async with running() as runtime:
        runtime.registry.clock.freeze()
        found = Recorded(runtime)
        yield found
        await found.recorder.close()


async def test_an_event_names_its_object_and_its_source(recorded: Recorded) -> None:
    stored = await create(recorded.runtime, "x")
    recorded.recorder.record(reference_to(MAPS, stored), WARNING, "Failed", "no luck")
    (event,) = await recorded.events()
    assert event["metadata"]["namespace"] == "a" and event["metadata"]["name"].startswith("x.")
    about = event["involvedObject"]
    assert about == {
        "kind": "ConfigMap",
        "apiVersion": "v1",
        "namespace": "a",
        "name": "x",
        "uid": stored.uid,
        "resourceVersion": str(stored.revision),
    }
    wanted = {"type": "Warning", "reason": "Failed", "message": "no luck", "count": 1}
    assert wanted.items() <= event.items()
    assert event["source"] == {"component": "a-controller"} and event["reportingComponent"] == "a-controller"


async def test_events_of_cluster_scoped_objects_are_in_the_default_namespace(recorded: Recorded) -> None:
    del recorded.about["namespace"]
    recorded.record("m")
    assert [event["metadata"]["namespace"] for event in await recorded.events()] == ["default"]


async def test_the_same_event_is_counted(recorded: Recorded) -> None:
    recorded.record("m")
    (first,) = await recorded.events()
    recorded.runtime.registry.clock.advance(60 * SECOND)
    recorded.record("m")
    recorded.record("m")
    (event,) = await recorded.events()
    assert event["count"] == 3
    assert event["firstTimestamp"] == first["firstTimestamp"] < event["lastTimestamp"]
    assert event["metadata"]["uid"] == first["metadata"]["uid"]


async def test_what_comes_before_the_first_write_is_written_with_it(recorded: Recorded) -> None:
    for _ in range(3):
        recorded.record("m")
    (event,) = await recorded.events()
    assert event["count"] == 3 and event["metadata"].get("generation") is None


async def test_an_event_that_was_deleted_is_written_anew(recorded: Recorded) -> None:
    recorded.record("m")
    (event,) = await recorded.events()
    name = event["metadata"]["name"]
    await recorded.runtime.registry.delete(EVENTS, "a", name, DeleteOptions(), Write())
    recorded.record("m")
    (again,) = await recorded.events()
    assert (again["metadata"]["name"], again["count"]) == (name, 2)


async def test_similar_events_are_combined(recorded: Recorded) -> None:
    for number in range(SIMILAR + 2):
        recorded.record(f"m{number}")
    found = {event["message"]: event["count"] for event in await recorded.events()}
    assert len(found) == SIMILAR
    assert found[f"{PREFIX}m{SIMILAR + 1}"] == 3


async def test_after_ten_minutes_without_any_they_are_counted_anew(recorded: Recorded) -> None:
    for number in range(SIMILAR - 1):
        recorded.record(f"m{number}")
    recorded.runtime.registry.clock.advance(int(INTERVAL + 1) * SECOND)
    recorded.record("one more")
    assert not any(event["message"].startswith(PREFIX) for event in await recorded.events())


async def test_events_about_one_object_are_bounded(recorded: Recorded) -> None:
    """`EventSourceObjectSpamFilter`: a burst, and one in five minutes after it."""
    for number in range(BURST + 5):
        recorded.record("m", f"Reason{number}")
    assert len(await recorded.events()) == BURST
    recorded.runtime.registry.clock.advance(300 * SECOND)
    for number in range(BURST + 5, BURST + 8):
        recorded.record("m", f"Reason{number}")
    assert len(await recorded.events()) == BURST + 1


async def test_a_refused_event_is_dropped(recorded: Recorded, caplog: pytest.LogCaptureFixture) -> None:
    recorded.about["namespace"] = "Not A Namespace"
    caplog.set_level("INFO")
    recorded.record("m")
    assert await recorded.events() == []
    assert "no event for x" in caplog.text
