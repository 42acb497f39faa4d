"""Which loop a test runs on, and that each is what it is called."""

from __future__ import annotations

import asyncio

import pytest
import uvloop

from hydrofoil.server.run import Server
from tests.loops import FACTORIES, OPTIONS, loops

NAMES = [f"tests/api/test_a.py::test_{i}" for i in range(200)]


@pytest.mark.parametrize("option", OPTIONS)
def test_tests_without_a_server_keep_the_loop_of_the_library(option: str) -> None:
    assert set(loops(option, "a", ["tmp_path"])) == {"asyncio"}


def test_tests_of_a_server_are_divided_by_their_names() -> None:
    found = [name for name in NAMES if "uvloop" in loops("split", name, ["server"])]
    assert 60 < len(found) < 140
    assert found == [name for name in NAMES if "uvloop" in loops("split", name, ["api", "server"])]
    assert all(set(loops("both", name, ["server"])) == set(FACTORIES) for name in NAMES)
    assert all(set(loops(option, name, ["server"])) == {option} for name in NAMES for option in FACTORIES)


@pytest.mark.asyncio(loop_factories=["uvloop", "asyncio"])
async def test_a_server_runs_on_either(server: Server, request: pytest.FixtureRequest) -> None:
    running = asyncio.get_running_loop()
    assert isinstance(running, uvloop.Loop) == ("uvloop" in request.node.name)
