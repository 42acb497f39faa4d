"""Objects that each namespace gets, and the accounts of pods (`plugin/pkg/admission/serviceaccount`, controllers)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from hydrofoil.options import Texts
from hydrofoil.server.certificates import Certificates
from hydrofoil.server.config import Config
from hydrofoil.server.run import Server
from tests.api.secure import write

Json = dict[str, Any]
MOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
PROBE = """
import asyncio, sys
from hydrofoil.server.config import Config
from hydrofoil.server.run import Server
from tests.api.secure import write
async def main():
    server = Server(Config(port=0))
    await server.start()
    print(sorted({"cryptography", "joserfc"} & sys.modules.keys()))
    await server.stop()
asyncio.run(main())
"""


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Server]:
    """A server with its controllers, and an authority of its certificate."""

    async def root_ca(_: Certificates, *, secured: bool) -> bytes:
        return b"the authority"

    monkeypatch.setattr(Certificates, "root_ca", root_ca)
    server = Server(Config(port=0, enable_admission_plugins=Texts(("ServiceAccount",))))
    await server.start()
    yield server
    await server.stop()


async def send(api: aiohttp.ClientSession, method: str, path: str, body: Json | None = None) -> Json:
    async with api.request(method, path, json=body) as response:
        return {"code": response.status, **(await response.json())}


async def appears(api: aiohttp.ClientSession, path: str) -> Json:
    """Return an object once it exists."""
    for _ in range(1000):
        found = await send(api, "GET", path)
        if found["code"] == 200:
            return found
    raise AssertionError(path)


def pod(name: str, **spec: Any) -> Json:
    return {"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "i"}], **spec}}


async def test_a_namespace_gets_its_account_and_the_authority(api: aiohttp.ClientSession) -> None:
    assert (await send(api, "POST", "/api/v1/namespaces", {"metadata": {"name": "n"}}))["code"] == 201
    for namespace in ("default", "n"):
        where = f"/api/v1/namespaces/{namespace}"
        account = await appears(api, f"{where}/serviceaccounts/default")
        published = await appears(api, f"{where}/configmaps/kube-root-ca.crt")
        assert published["data"] == {"ca.crt": "the authority"}
        await send(api, "DELETE", f"{where}/serviceaccounts/default")
        assert (await appears(api, f"{where}/serviceaccounts/default"))["metadata"]["uid"] != account["metadata"]["uid"]


async def test_a_pod_right_after_its_namespace_waits_for_the_account(api: aiohttp.ClientSession) -> None:
    assert (await send(api, "POST", "/api/v1/namespaces", {"metadata": {"name": "n"}}))["code"] == 201
    made = await send(api, "POST", "/api/v1/namespaces/n/pods", pod("p"))
    assert made["code"] == 201, made
    assert made["spec"]["serviceAccountName"] == made["spec"]["serviceAccount"] == "default"
    (volume,) = made["spec"]["volumes"]
    assert volume["name"].startswith("kube-api-access-")
    token = {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}}
    assert volume["projected"]["sources"][0] == token
    (mount,) = made["spec"]["containers"][0]["volumeMounts"]
    assert mount == {"name": volume["name"], "readOnly": True, "mountPath": MOUNT}


async def test_a_pod_of_an_absent_account_is_refused(api: aiohttp.ClientSession) -> None:
    await appears(api, "/api/v1/namespaces/default/serviceaccounts/default")
    made = await send(api, "POST", "/api/v1/namespaces/default/pods", pod("p", serviceAccountName="none"))
    assert made["code"] == 403
    why = 'error looking up service account default/none: serviceaccount "none" not found'
    assert made["message"] == f'pods "p" is forbidden: {why}'


@pytest.mark.parametrize(
    ("controllers", "tokens", "given"),
    [("", True, False), ("-serviceaccount,*", True, False), ("*", False, False), ("*", True, True)],
)
async def test_the_plug_in_needs_its_controller_and_a_server_with_credentials(
    controllers: str, tokens: bool, given: bool, tmp_path: Path
) -> None:
    file = tmp_path / "tokens.csv"
    write(file, "admin-token,admin,,system:masters\n")
    server = Server(Config(port=0, controllers=controllers, token_auth_file=str(file) if tokens else ""))
    url = await server.start()
    try:
        headers = {"Content-Type": "application/json", "Authorization": "Bearer admin-token"}
        async with aiohttp.ClientSession(url, headers=headers) as api:
            if given:
                await appears(api, "/api/v1/namespaces/default/serviceaccounts/default")
            made = await send(api, "POST", "/api/v1/namespaces/default/pods", pod("p"))
            assert made["code"] == 201
            assert ("volumes" in made["spec"]) is given
    finally:
        await server.stop()


def test_a_server_without_credentials_loads_no_library_of_keys() -> None:
    """Cold start and memory of the default server."""
    done = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
