"""Addresses that others reach are served over TLS, with certificates of the server's own; Unix sockets."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import ssl
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import aiohttp
import pytest
import yaml

from hydrofoil import engine
from hydrofoil.clock import Clock
from hydrofoil.server.config import Config
from hydrofoil.server.identity import identity, own_names
from hydrofoil.server.run import Server, StartError
from tests.api.secure import mode, names, read, serving, write
from tests.conftest import command

SECRET = ("ca.key", "apiserver.key", "admin.key", "admin.conf", ".lock")


async def kubeconfig(path: Path) -> tuple[str, ssl.SSLContext]:
    """Return the server of a kubeconfig, and a client's settings with its credentials."""
    found = yaml.safe_load(read(path))
    cluster, user = found["clusters"][0]["cluster"], found["users"][0]["user"]
    part = {k: base64.b64decode(v).decode() for k, v in (cluster | user).items() if k.endswith("-data")}
    context = ssl.create_default_context(cadata=part["certificate-authority-data"])
    pair = path.with_suffix(".pair")
    write(pair, part["client-key-data"] + part["client-certificate-data"])
    context.load_cert_chain(pair)
    return cluster["server"], context


async def test_an_address_of_all_serves_tls_and_writes_a_kubeconfig(tmp_path: Path) -> None:
    place, copy = tmp_path / "state" / "certs", tmp_path / "copy.conf"
    old = os.umask(0)
    try:
        async with serving(Config(host="0.0.0.0", port=0, cert_dir=str(place), kubeconfig=str(copy))) as server:
            assert server.url.startswith("https://0.0.0.0:")
            assert mode(place) == 0o700
            assert {name: mode(place / name) for name in SECRET} == dict.fromkeys(SECRET, 0o600)
            assert mode(copy) == 0o600
            assert read(copy) == read(place / "admin.conf")
            url, context = await kubeconfig(copy)
            assert url == server.url.replace("0.0.0.0", "127.0.0.1")
            session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=context))
            async with session as api, api.get(f"{url}/version") as r:
                assert r.status == 200
    finally:
        os.umask(old)


async def test_the_certificate_has_its_authority_behind_it(tmp_path: Path) -> None:
    """`GenerateSelfSignedCertKey` (client-go `util/cert/cert.go`); a file of an earlier version gets it, too."""
    config = Config(port=0, cert_dir=str(tmp_path))
    path, ca = tmp_path / "apiserver.crt", tmp_path / "ca.crt"
    for _ in range(2):
        async with serving(config) as server:
            whole = read(path)
            leaf = whole.removesuffix(read(ca))
            assert whole.endswith(read(ca))
            assert leaf.count("BEGIN CERTIFICATE") == 1
            context = ssl.create_default_context(cafile=path)
            session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=context))
            async with session as api, api.get(f"{server.url}/version") as r:
                assert r.status == 200
        write(path, leaf)
    async with serving(config):
        assert read(path) == whole


async def test_certificates_are_kept_for_the_next_start(tmp_path: Path) -> None:
    async def fingerprints(**more: str) -> dict[str, str]:
        async with serving(Config(port=0, cert_dir=str(tmp_path / "c"), **more)) as server:  # type: ignore[arg-type]
            assert server.url.startswith("https://")
        return {name: read(tmp_path / "c" / name) for name in names(tmp_path / "c", "*.crt")}

    first = await fingerprints()
    assert await fingerprints() == first
    # Other names: the server's certificate alone is new.
    second = await fingerprints(service_cluster_ip_range="10.9.0.0/24")
    assert {name for name in first if first[name] != second[name]} == {"apiserver.crt"}


def test_an_old_certificate_is_made_anew_and_its_authority_stays(tmp_path: Path) -> None:
    now = int(Clock().seconds())
    wanted = own_names("0.0.0.0", "10.0.0.0/24")
    assert {"kubernetes.default.svc", "localhost", "127.0.0.1", "10.0.0.1"} <= set(wanted)
    first = identity(tmp_path / "c", wanted, now, now)
    before = Path(first.cert).read_text()
    later = identity(tmp_path / "c", wanted, now + 340 * 86_400, now + 340 * 86_400)
    assert later.authority == first.authority
    assert Path(later.cert).read_text() != before
    assert later.admin != first.admin


def test_a_key_that_others_could_read_is_closed(tmp_path: Path) -> None:
    now = int(Clock().seconds())
    identity(tmp_path / "c", [], now, now)
    for name in ("ca.key", "apiserver.key", "admin.key"):
        (tmp_path / "c" / name).chmod(0o644)
    identity(tmp_path / "c", [], now, now)
    assert {mode(tmp_path / "c" / name) for name in ("ca.key", "apiserver.key", "admin.key")} == {0o600}


def test_servers_that_start_at_once_share_a_folder(tmp_path: Path) -> None:
    now = int(Clock().seconds())
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: identity(tmp_path / "c", ["localhost"], now, now), range(8)))
    assert len({one.authority for one in found}) == len({one.admin for one in found}) == 1


def test_loopback_stays_plain_and_writes_nothing(tmp_path: Path) -> None:
    env = os.environ | {"XDG_STATE_HOME": str(tmp_path)}
    with subprocess.Popen(command("serve", "--port", "0"), stdout=subprocess.PIPE, text=True, env=env) as running:
        assert running.stdout
        assert running.stdout.readline().startswith("serving on http://127.0.0.1:")
        running.terminate()
    # The file by which commands find a server ends with it.
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_the_default_folder_is_that_of_the_users_state(tmp_path: Path) -> None:
    env = os.environ | {"XDG_STATE_HOME": str(tmp_path)}
    args = command("serve", "--port", "0", "--host", "0.0.0.0")
    with subprocess.Popen(args, stdout=subprocess.PIPE, text=True, env=env) as running:
        assert running.stdout
        assert running.stdout.readline() == f"kubeconfig {tmp_path}/hydrofoil/admin.conf\n"
        assert running.stdout.readline().startswith("serving on https://0.0.0.0:")
        running.terminate()


def test_a_folder_that_cannot_be_used_is_one_line() -> None:
    args = command("serve", "--port", "0", "--host", "0.0.0.0", "--cert-dir", "/proc/nowhere/certs")
    done = subprocess.run(args, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("hydrofoil: cannot keep certificates in /proc/nowhere/certs: ")
    assert done.stderr.count("\n") == 1


async def test_a_unix_socket_is_its_owners(tmp_path: Path) -> None:
    path = tmp_path / "api.sock"
    config = Config(unix_socket=str(path))
    old = os.umask(0)
    try:
        async with serving(config) as server:
            assert server.url == f"unix:{path}"
            assert mode(path) == 0o600
            assert names(tmp_path) == ["api.sock"]
            with pytest.raises(StartError, match=r"Address already in use \(--unix-socket takes another path\)$"):
                await Server(config).start()
            session = aiohttp.ClientSession(connector=aiohttp.UnixConnector(str(path)))
            async with session as api, api.get("http://anything/version") as r:
                assert json.loads(await r.text())["major"] == "1"
            assert names(tmp_path) == ["api.sock"]
        assert names(tmp_path) == []
    finally:
        os.umask(old)


async def test_the_socket_of_a_server_that_was_killed_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "api.sock"
    args = command("serve", "--unix-socket", str(path))
    with await asyncio.to_thread(subprocess.Popen, args, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout
        assert await asyncio.to_thread(running.stdout.readline) == f"serving on unix:{path}\n"
        running.kill()
        await asyncio.to_thread(running.wait)
    assert names(tmp_path) == ["api.sock"]
    async with serving(Config(unix_socket=str(path))):
        session = aiohttp.ClientSession(connector=aiohttp.UnixConnector(str(path)))
        async with session as api, api.get("http://localhost/readyz") as r:
            assert r.status == 200


async def test_a_file_is_no_socket(tmp_path: Path) -> None:
    path = tmp_path / "data"
    write(path, "mine")
    with pytest.raises(StartError, match=r"File exists \(--unix-socket takes another path\)$"):
        await Server(Config(unix_socket=str(path))).start()
    assert read(path) == "mine"


async def test_a_pair_of_others_in_the_folder_is_served_as_it_is(tmp_path: Path) -> None:
    """Upstream's `MaybeDefaultWithSelfSignedCerts`; envtest puts the pair of its own authority there."""
    authority = engine.new_authority(int(Clock().seconds()))
    pair = engine.new_certificate(authority[1].encode(), ["localhost"], None, int(Clock().seconds()))
    for name, text in zip(("apiserver.crt", "apiserver.key"), pair, strict=True):
        write(tmp_path / name, text)
    context = ssl.create_default_context(cadata=authority[0])
    async with serving(Config(port=0, cert_dir=str(tmp_path))) as server:
        session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=context))
        async with session as api, api.get(f"{server.url}/version".replace("127.0.0.1", "localhost")) as r:
            assert r.status == 200
    assert read(tmp_path / "apiserver.crt") == pair[0]
    assert names(tmp_path, "ca.*") == []
