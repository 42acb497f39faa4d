"""The estimated work of requests."""

from __future__ import annotations

import pytest

from hydrofoil.engine import Histogram, Work
from hydrofoil.fairness.estimate import ONE, estimate
from hydrofoil.registry.write import Write
from hydrofoil.request import parse
from tests.unit.parts import draft, opened, resource

MAPS = "/api/v1/namespaces/n/configmaps"


async def test_a_list_costs_by_its_objects_and_a_change_by_its_watchers() -> None:
    async with opened() as registry:
        maps = resource("configmaps")
        for number in range(250):
            body = {"metadata": {"name": f"c{number}", "namespace": "n"}}
            await registry.create(maps, "n", draft(maps, body), Write())
        for target, most, seats in (
            (MAPS, 0, 3),
            (MAPS, 2, 2),
            (f"{MAPS}?fieldSelector=metadata.name%3Dc1", 0, 1),
            (f"{MAPS}?watch=1", 0, 3),
            (f"{MAPS}?watch=1&resourceVersion=5", 0, 1),
            (f"{MAPS}?watch=1&resourceVersion=5&sendInitialEvents=true", 0, 3),
            (f"{MAPS}/c1", 0, 1),
            ("/api/v1/namespaces/n/nothings", 0, 1),
        ):
            assert estimate(registry, parse("GET", target), most) == Work(seats), target
        assert estimate(registry, parse("POST", MAPS), 0) is ONE
        assert estimate(registry, parse("POST", "/api/v1/namespaces/n/serviceaccounts/s/token"), 0) is ONE


@pytest.mark.parametrize(
    ("watchers", "most", "expected"), [(9, 0, ONE), (25, 0, Work(1, 3, 0.005)), (25, 1, Work(1, 1, 0.015))]
)
async def test_watchers_take_seats_after_a_change(watchers: int, most: int, expected: Work) -> None:
    from hydrofoil.engine import Selector

    async with opened() as registry:
        maps = resource("configmaps")
        collection = registry.collection(maps)
        kept = [
            collection.watch(maps.native, Selector(maps.native, "", "", ""), "json", None, token, False)
            for token in range(watchers)
        ]
        counted = Histogram((10.0,))
        assert estimate(registry, parse("DELETE", f"{MAPS}/c"), most, counted) == expected
        assert counted.sum == watchers
        del kept
