"""Objects stored as they were: any bytes get an outcome, and only an administrator may do it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import aiohttp
import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hydrofoil.server.loading import ObjectLoader
from hydrofoil.server.run import Server
from tests.api.calls import get
from tests.api.rights import guarded

PATH = "/hydrofoil/v1/import"
MAPS = "/api/v1/namespaces/default/configmaps"


def make(name: str, **more: Any) -> bytes:
    return orjson.dumps(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default", **more}}
    )


async def load(api: aiohttp.ClientSession, *lines: bytes, query: str = "") -> list[list[str]]:
    async with api.post(f"{PATH}{query}", data=b"\n".join(lines)) as answer:
        found: list[list[str]] = orjson.loads(await answer.read())["items"]
        return found


async def test_many_objects_of_a_request_leave_turns_to_others(api: aiohttp.ClientSession) -> None:
    lines = [make(f"m-{n}", uid=f"u-{n}", annotations={"a": "x" * 100}) for n in range(2000)]
    lines.append(make("large", uid="u", annotations={"a": "x" * 200_000}))
    assert await load(api, *lines) == [["created", ""]] * 2001
    assert await load(api, *lines[:3], lines[-1]) == [["unchanged", ""]] * 4
    listed = await get(api, MAPS)
    assert len([item for item in listed["items"] if item["metadata"]["uid"].startswith("u")]) == 2001


async def test_policies_of_conflicts(api: aiohttp.ClientSession) -> None:
    await load(api, make("a", uid="1"))
    other = make("a", uid="2", labels={"a": "b"})
    assert await load(api, other) == [["skipped", "it exists, and differs"]]
    assert await load(api, make("a", uid="2"), query="?onConflict=fail") == [["failed", "it exists with another uid"]]
    assert await load(api, other, query="?onConflict=replace") == [["updated", ""]]
    assert (await get(api, f"{MAPS}/a"))["metadata"]["uid"] == "2"


@pytest.mark.parametrize(
    ("method", "query", "headers", "code"),
    [
        ("PUT", "", {}, 405),
        ("POST", "?onConflict=maybe", {}, 400),
        ("POST", "", {"Origin": "http://localhost"}, 403),
    ],
)
async def test_strange_requests(
    api: aiohttp.ClientSession, method: str, query: str, headers: dict[str, str], code: int
) -> None:
    async with api.request(method, f"{PATH}{query}", headers=headers) as answer:
        assert (answer.status, orjson.loads(await answer.read())["kind"]) == (code, "Status")


async def test_it_takes_an_administrator(tmp_path: Path) -> None:
    body = orjson.loads(make("a"))
    async with guarded(tmp_path) as server:
        for user in ("ada", ""):
            status, answer = await server.ask(user, "POST", PATH, body)
            assert (status, answer["reason"]) == (403, "Forbidden")
        assert await server.ask("admin", "POST", PATH, body) == (200, {"items": [["created", ""]]})


WORDS = st.sampled_from(
    [
        *(b'{"apiVersion":"v1","kind":"%s","metadata":{"name":"a"}}' % kind for kind in (b"Node", b"Pod", b"Binding")),
        make("a"),
        make("..", uid="3"),
        make("b", creationTimestamp="never"),
        make("c", ownerReferences=3),
        b'{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"default"},"spec":{"containers":3}}',
        b"[]",
        b"{",
        b"null",
    ]
)


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(WORDS | st.binary(min_size=1, max_size=9).filter(lambda b: b.strip() and b"\n" not in b)))
async def test_any_line_has_an_outcome(server: Server, lines: list[bytes]) -> None:
    found = await ObjectLoader(server.app.core.registry).load(b"\n".join(lines), "replace")
    assert len(found) == len(lines)
    assert {outcome for outcome, _ in found} <= {"created", "updated", "unchanged", "failed"}
