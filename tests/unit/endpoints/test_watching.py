"""The body of a watch: what fails at its begin leaves nothing behind on the connection."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from hydrofoil.answer import Piece
from hydrofoil.endpoints.watching import Watching
from hydrofoil.engine import Selector
from hydrofoil.watch.hub import Hub
from tests.unit.parts import opened


class Output:
    """A sink that keeps what is written."""

    begun = False

    def __init__(self) -> None:
        self.pieces: list[Piece] = []

    def begin(self) -> None:
        """Mark the stream as begun."""

    def write(self, *pieces: Piece) -> None:
        self.pieces += pieces

    def paused(self) -> bool:
        return False

    async def drained(self) -> None:
        return None


@pytest.mark.parametrize("calls", [1, 2])
async def test_a_watch_whose_timer_fails_writes_nothing_behind_the_error(calls: int) -> None:
    """The error is a whole answer: an event behind it would be read as part of the next one."""
    async with opened() as registry:
        hub = Hub(registry.storage, registry.clock)
        maps = registry.catalog.find("", "v1", "configmaps")
        assert maps is not None
        collection = registry.collection(maps)
        token = hub.token()
        everything = Selector(maps.native, "", "", "")
        watcher = collection.watch(maps.native, everything, "json", None, token, False)
        left = calls

        def later(_: float, __: Any) -> Any:
            nonlocal left
            left -= 1
            if not left:
                raise MemoryError
            return registry.clock.later(3600, lambda: None)

        clock = SimpleNamespace(later=later)
        options = SimpleNamespace(timeout=60, bookmarks=False, initial_events=None, revision=0, marked=False)
        context = SimpleNamespace(hub=hub, parts=SimpleNamespace(clock=clock), resource=SimpleNamespace(custom=False))
        watching = Watching(cast(Any, context), cast(Any, options), token, watcher, b"", framed=True)
        output = Output()
        assert watching.watch is not None
        with pytest.raises(MemoryError), watching.streaming(watching.watch, output):
            pytest.fail("it began")
        draft, _ = maps.native.decode(b'{"metadata": {"name": "a", "namespace": "n"}}', "json")
        await collection.create(draft)
        await hub.delivered()
        assert not output.pieces and not len(hub)
