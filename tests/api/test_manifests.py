"""Objects that files give a server: at its start, and as they change."""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
from pathlib import Path
from typing import Any

import aiohttp
import httpx
import pytest

from hydrofoil.options import Texts
from hydrofoil.server.config import Config
from hydrofoil.server.run import Server, StartError
from tests.api.custom import definition, version
from tests.conftest import command

MAPS = "/api/v1/namespaces/default/configmaps"


def config_map(name: str, **data: str) -> str:
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {json.dumps(data)}\n"


def write(path: Path, text: str) -> None:
    """Replace a file in one step, as editors do."""
    beside = path.with_suffix(".new")
    beside.write_text(text)
    beside.replace(path)


async def get(server: Server, path: str) -> dict[str, Any] | None:
    """Return an object; None if there is none."""
    async with aiohttp.ClientSession(server.url) as api, api.get(path) as answer:
        found: dict[str, Any] = await answer.json(content_type=None) if answer.status == 200 else {}
        return found or None


async def until(server: Server, path: str, *, there: bool = True, data: dict[str, str] | None = None) -> None:
    """Wait for an object, or for its end."""
    async with asyncio.timeout(20):
        while True:
            found = await get(server, path)
            if (found is not None) == there and (data is None or (found or {}).get("data") == data):
                return
            await asyncio.sleep(0.02)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A definition, an object of it that comes before it by name, and a pod in a new namespace."""
    objects = tmp_path / "objects"
    (objects / "below").mkdir(parents=True)
    write(objects / "a.yaml", "apiVersion: e.com/v1\nkind: Thing\nmetadata: {name: t}\n")
    write(objects / "b.json", json.dumps(definition(version("v1", storage=True))))
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: team}\nspec: {containers: [{name: c, image: i}]}\n"
    write(objects / "below" / "c.yml", f"{pod}---\napiVersion: v1\nkind: Namespace\nmetadata: {{name: team}}\n")
    return objects


@pytest.mark.parametrize("secured", [False, True])
async def test_files_and_folders_are_there_when_the_server_is(folder: Path, tmp_path: Path, secured: bool) -> None:
    other = tmp_path / "more.yaml"
    tokens = other.with_name("tokens.csv")
    await asyncio.to_thread(write, other, config_map("more"))
    await asyncio.to_thread(write, tokens, 't,admin,1,"system:masters"\n')
    more: dict[str, Any] = {"token_auth_file": str(tokens)} if secured else {}
    server = Server(Config(port=0, manifests=Texts((str(folder), str(other))), **more))
    await server.start()
    try:
        async with aiohttp.ClientSession(server.url, headers={"Authorization": "Bearer t"}) as api:
            for path in (
                "/apis/e.com/v1/namespaces/default/things/t",
                "/api/v1/namespaces/team/pods/p",
                f"{MAPS}/more",
            ):
                async with api.get(path) as answer:
                    assert answer.status == 200, await answer.text()
            async with api.get("/readyz?verbose") as answer:
                assert "[+]manifests ok" in await answer.text()
        assert (await get(server, f"{MAPS}/more") is None) == secured, "nobody else has its rights"
    finally:
        await server.stop()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "cannot read the manifests {}: No such file or directory (--manifests takes a path)"),
        ("kind: ConfigMap\n", "cannot apply the manifests: {}, document 1: an object needs apiVersion and kind"),
        (config_map("A_B"), 'cannot apply the manifests: {}, document 1: ConfigMap "A_B" is invalid: '),
        ("apiVersion: v1\nkind: Nope\nmetadata: {name: a}\n", "{}, document 1: no matches for kind"),
    ],
)
async def test_a_start_with_a_faulty_file_is_one_line(tmp_path: Path, text: str | None, words: str) -> None:
    path = tmp_path / "it.yaml"
    if text is not None:
        await asyncio.to_thread(write, path, text)
    with pytest.raises(StartError) as e:
        await Server(Config(port=0, manifests=Texts((str(path),)))).start()
    assert words.format(path) in str(e.value) and "\n" not in str(e.value)


async def test_what_changes_is_applied_and_what_goes_is_pruned(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    one, two = tmp_path / "one.yaml", tmp_path / "two.yaml"
    await asyncio.to_thread(write, one, f"{config_map('a', x='1')}---\n{config_map('b')}")
    server = Server(Config(port=0, manifests=Texts((str(tmp_path),)), watch_manifests=True))
    await server.start()
    try:
        async with aiohttp.ClientSession(server.url) as api:
            await (await api.post(MAPS, json={"metadata": {"name": "own"}})).read()
        await asyncio.to_thread(write, one, config_map("a", x="2"))
        await until(server, f"{MAPS}/b", there=False)
        await until(server, f"{MAPS}/a", data={"x": "2"})
        # What is refused leaves the rest, and what it was before.
        await asyncio.to_thread(write, two, f"{config_map('c')}---\n{config_map('A_B')}")
        await until(server, f"{MAPS}/c")
        await asyncio.to_thread(write, one, "kind: [\n")
        await asyncio.to_thread(write, two, config_map("d"))
        await until(server, f"{MAPS}/c", there=False)
        assert await get(server, f"{MAPS}/a") and await get(server, f"{MAPS}/d")
        lines = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
        assert any(f"{two}, document 2: " in line for line in lines), lines
        assert any(f"{one}, document 1: " in line for line in lines), lines
        await asyncio.to_thread(one.unlink)
        await until(server, f"{MAPS}/a", there=False)
        assert await get(server, f"{MAPS}/own"), "what others have made stays"
    finally:
        await server.stop()


async def test_an_object_waits_for_a_definition_of_a_later_file(tmp_path: Path) -> None:
    server = Server(Config(port=0, manifests=Texts((str(tmp_path),)), watch_manifests=True))
    await server.start()
    try:
        await asyncio.to_thread(
            write,
            tmp_path / "a.yaml",
            f"apiVersion: e.com/v1\nkind: Thing\nmetadata: {{name: t}}\n---\n{config_map('a')}",
        )
        await until(server, f"{MAPS}/a")
        await asyncio.to_thread(write, tmp_path / "b.json", json.dumps(definition(version("v1", storage=True))))
        await until(server, "/apis/e.com/v1/namespaces/default/things/t")
    finally:
        await server.stop()


def test_the_line_comes_when_the_objects_are_there(folder: Path) -> None:
    with subprocess.Popen(
        command("serve", "--port", "0", "--manifests", str(folder)), stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        url = running.stdout.readline().removeprefix("serving on ").strip()
        assert httpx.get(f"{url}/apis/e.com/v1/namespaces/default/things/t").status_code == 200
        running.terminate()


def test_watching_nothing_is_refused() -> None:
    line = command("serve", "--watch-manifests", "--port", "0")
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("hydrofoil: --watch-manifests is for the files of --manifests (name one")
