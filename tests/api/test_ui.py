"""`serve --ui`: open files, and figures for those who may see them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import aiohttp
import pytest

from hydrofoil.server.config import Config
from tests.api.secure import serving, write

MAPS = "/api/v1/namespaces/default/configmaps"
TOKENS = 'boss,boss,1,"system:masters"\njane,jane,2\n'


async def test_without_the_flag_there_is_no_page(api: aiohttp.ClientSession) -> None:
    for path in ("/ui/", "/ui", "/ui/stats", "/ui/main.js"):
        async with api.get(path, allow_redirects=False) as answer:
            assert answer.status == 404, path


async def test_figures() -> None:
    async with serving(Config(port=0, ui=True)) as server, aiohttp.ClientSession(server.url) as api:
        for number in range(20):
            async with api.post(MAPS, json={"metadata": {"name": f"m{number}"}}) as answer:
                assert answer.status == 201
        async with api.get(
            f"{MAPS}?watch=1&fieldSelector=metadata.name%3Dm1", headers={"User-Agent": "looker"}
        ) as watch:
            await watch.content.readline()
            async with api.get("/ui/stats") as answer:
                found = await answer.json()
        (maps,) = (one for one in found["resources"] if (one["group"], one["resource"]) == ("", "configmaps"))
        assert maps["objects"] == 21 and maps["bytes"] > 20 * 100 and maps["writes_per_second"] > 0
        names = [(one["group"], one["resource"]) for one in found["resources"]]
        assert len(names) == len(set(names)) and ("apps", "deployments") in names
        assert found["requests_in_flight"] == 1
        (row,) = found["watches"]
        assert (row["resource"], row["namespace"], row["name"], row["agent"]) == ("configmaps", "default", "", "looker")
        assert (row["user"], row["events"], row["slow"], row["lag"]) == ("admin", 1, False, 0)
        (posts,) = (one for one in found["latencies"] if (one["verb"], one["resource"]) == ("POST", "configmaps"))
        assert posts["requests"] == 20 and posts["errors"] == 0 and 0 < posts["p50"] <= posts["p99"]
        assert not [one for one in found["latencies"] if one["verb"] == "WATCH"]
        async with api.post("/ui/stats") as answer:
            assert answer.status == 405
        async with api.get("/ui/nothing") as answer:
            assert answer.status == 404


async def test_a_reader_that_takes_nothing_is_slow() -> None:
    async with serving(Config(port=0, ui=True)) as server, aiohttp.ClientSession(server.url) as api:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.address[1], limit=1024)
        writer.write(f"GET {MAPS}?watch=1 HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        await reader.readuntil(b"\r\n\r\n")
        large = {"metadata": {"name": "large"}, "data": {"a": "x" * 500_000}}
        for number in range(40):
            async with api.post(MAPS, json={**large, "metadata": {"name": f"l{number}"}}) as answer:
                assert answer.status == 201
            async with api.get("/ui/stats") as answer:
                (watch,) = (await answer.json())["watches"]
            if watch["slow"]:
                break
        writer.close()
        assert watch["slow"]


@pytest.fixture
def tokens(tmp_path: Path) -> Path:
    file = tmp_path / "tokens"
    write(file, TOKENS)
    return file


@pytest.mark.parametrize("anonymous", [True, False])
async def test_files_are_open_and_figures_are_not(tokens: Path, anonymous: bool) -> None:
    config = Config(port=0, ui=True, token_auth_file=str(tokens), anonymous_auth=anonymous)
    async with serving(config) as server, aiohttp.ClientSession(server.url) as api:
        for path in ("/ui/", "/ui/main.js", "/ui/style.css"):
            async with api.get(path) as answer:
                assert answer.status == 200 and "'unsafe" not in answer.headers["Content-Security-Policy"]
        for token, code in (("", 403 if anonymous else 401), ("jane", 403), ("wrong", 401), ("boss", 200)):
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            async with api.get("/ui/stats", headers=headers) as answer:
                assert answer.status == code, token
        async with api.get("/ui/other", headers={"Authorization": "Bearer jane"}) as answer:
            assert answer.status == 403


async def test_a_role_may_give_the_figures(tokens: Path) -> None:
    config = Config(port=0, ui=True, token_auth_file=str(tokens))
    async with serving(config) as server, aiohttp.ClientSession(server.url) as api:
        boss, rbac = {"Authorization": "Bearer boss"}, "/apis/rbac.authorization.k8s.io/v1"
        rules = [{"nonResourceURLs": ["/ui/stats"], "verbs": ["get"]}]
        role = {"metadata": {"name": "figures"}, "rules": rules}
        bound = {
            "metadata": {"name": "figures"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "figures"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "jane"}],
        }
        for plural, body in (("clusterroles", role), ("clusterrolebindings", bound)):
            async with api.post(f"{rbac}/{plural}", json=body, headers=boss) as answer:
                assert answer.status == 201
        async with api.get("/ui/stats", headers={"Authorization": "Bearer jane"}) as answer:
            assert answer.status == 200


async def test_pages_of_other_sites_get_nothing() -> None:
    async with serving(Config(port=0, ui=True)) as server, aiohttp.ClientSession(server.url) as api:
        for headers in ({"Origin": "http://example.com"}, {"Host": "example.com"}, {"Sec-Fetch-Site": "cross-site"}):
            async with api.get("/ui/stats", headers=headers) as answer:
                assert answer.status == 403
